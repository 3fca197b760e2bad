// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/error.hpp"

#include "text.hpp"

namespace pqcmav {

std::string_view to_string(Errc code) noexcept {
  switch (code) {
    case Errc::config_syntax: return "config_syntax";
    case Errc::config_unknown_key: return "config_unknown_key";
    case Errc::config_invalid: return "config_invalid";
    case Errc::key_missing: return "key_missing";
    case Errc::key_permissions: return "key_permissions";
    case Errc::key_format: return "key_format";
    case Errc::suite_unknown: return "suite_unknown";
    case Errc::suite_unavailable: return "suite_unavailable";
    case Errc::address: return "address";
    case Errc::port_in_use: return "port_in_use";
    case Errc::permission: return "permission";
    case Errc::crypto: return "crypto";
    case Errc::io: return "io";
    case Errc::state: return "state";
  }
  return "unknown";
}

TunnelError::TunnelError(Errc code, const std::string& sentence)
    : std::runtime_error(one_line(sentence)), code_(code) {}

bool is_configuration(Errc code) noexcept { return code <= Errc::suite_unavailable; }

}  // namespace pqcmav
