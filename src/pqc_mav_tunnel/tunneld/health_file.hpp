// SPDX-License-Identifier: Apache-2.0
// A file that a working daemon renews every second, for health checks in containers, where no service manager listens:
// the time of writing, then a line per link.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

/// Names the file, for the daemon and for 'pqcmav-tunneld --healthy'.
inline constexpr const char* kHealthFileVariable = "PQCMAV_HEALTH_FILE";
/// A file older than this says that the daemon hangs or is gone.
inline constexpr std::chrono::seconds kHealthLimit{5};

/// Replaces the file whole. Returns a sentence where it cannot, "" otherwise.
std::string write_health(const std::filesystem::path& file, const std::vector<LinkStatus>& links);

struct Health {
  bool good = false;
  std::string text;  // the links, one a line, or a sentence that says what is wrong
};
Health read_health(const std::filesystem::path& file);

}  // namespace pqcmav
