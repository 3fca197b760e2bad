// SPDX-License-Identifier: Apache-2.0
// What an end asks for, or grants, in a handshake by its configuration.
#pragma once

#include "pqc_mav_tunnel/config.hpp"
#include "session/frame.hpp"

namespace pqcmav {

inline std::uint16_t features_of(const EngineConfig& config) noexcept {
  return config.compact ? features::kCompact : std::uint16_t{0};
}

}  // namespace pqcmav
