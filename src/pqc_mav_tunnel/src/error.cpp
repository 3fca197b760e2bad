// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/error.hpp"

#include "text.hpp"

namespace pqcmav {

std::string_view to_string(Errc code) noexcept {
  return name_in<Errc::state>(
      {"config_syntax", "config_unknown_key", "config_invalid", "key_missing", "key_permissions", "key_format",
       "suite_unknown", "suite_unavailable", "address", "port_in_use", "permission", "crypto", "io", "state"},
      code, "unknown");
}

TunnelError::TunnelError(Errc code, const std::string& sentence)
    : std::runtime_error(one_line(sentence)), code_(code) {}

bool is_configuration(Errc code) noexcept { return code <= Errc::suite_unavailable; }

}  // namespace pqcmav
