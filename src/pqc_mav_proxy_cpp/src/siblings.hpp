// SPDX-License-Identifier: Apache-2.0
// The processes that were started together as one system, found by a mark in their environment, which `pqcmav up` and
// the launch files set.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace pqc_mav_proxy_cpp {

inline constexpr const char* kMark = "PQCMAV_SYSTEM";
inline constexpr const char* kAllowed = "PQCMAV_ALLOWED_ADDRESSES";  // that mavros may bind

struct Sibling {
  pid_t pid;
  std::string name;
  bool ours;  // started with this one, not merely a mavros that runs here too
  [[nodiscard]] std::string text() const { return name + " (process " + std::to_string(pid) + ")"; }
};

/// This process, those with the same mark, and every mavros of this machine. Throws std::system_error without /proc.
std::vector<Sibling> siblings(const std::string& mark);

}  // namespace pqc_mav_proxy_cpp
