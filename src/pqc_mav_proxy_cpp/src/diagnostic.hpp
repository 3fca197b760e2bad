// SPDX-License-Identifier: Apache-2.0
// What goes to /diagnostics: level, sentence and figures of one subcomponent.
#pragma once

#include <cstdint>
#include <diagnostic_msgs/msg/diagnostic_status.hpp>
#include <string>
#include <utility>
#include <vector>

namespace pqc_mav_proxy_cpp {

enum class Level : std::uint8_t { ok = 0, warn = 1, error = 2 };

struct Diagnostic {
  std::string subcomponent;
  Level level = Level::ok;
  std::string message;
  std::vector<std::pair<std::string, std::string>> values;
};

/// Named "node: subcomponent".
diagnostic_msgs::msg::DiagnosticStatus to_message(const Diagnostic& diagnostic, const std::string& node,
                                                  const std::string& hardware_id);

}  // namespace pqc_mav_proxy_cpp
