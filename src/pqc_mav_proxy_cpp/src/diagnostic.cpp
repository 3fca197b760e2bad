// SPDX-License-Identifier: Apache-2.0
#include "diagnostic.hpp"

namespace pqc_mav_proxy_cpp {

diagnostic_msgs::msg::DiagnosticStatus to_message(const Diagnostic& diagnostic, const std::string& node,
                                                  const std::string& hardware_id) {
  diagnostic_msgs::msg::DiagnosticStatus out;
  out.level = static_cast<std::uint8_t>(diagnostic.level);
  out.name = node + ": " + diagnostic.subcomponent;
  out.message = diagnostic.message;
  out.hardware_id = hardware_id;
  for (const auto& [key, value] : diagnostic.values) {
    out.values.emplace_back();
    out.values.back().key = key;
    out.values.back().value = value;
  }
  return out;
}

}  // namespace pqc_mav_proxy_cpp
