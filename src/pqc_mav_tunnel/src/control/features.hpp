// SPDX-License-Identifier: Apache-2.0
// What an end asks for, or grants, in a handshake by its configuration.
#pragma once

#include "pqc_mav_tunnel/config.hpp"
#include "session/frame.hpp"

namespace pqcmav {

inline std::uint16_t features_of(const EngineConfig& config) noexcept {
  // Bundles are always understood; whether this end sends any is its own affair (bundle_ms).
  // A gcs always knows roles; a drone with one station has none to tell.
  const bool stations = config.role == Role::gcs || config.peers.size() > 1;
  const bool paths = config.role == Role::gcs || config.paths.size() > 1;  // likewise
  return static_cast<std::uint16_t>(features::kBundles | (config.compact ? features::kCompact : 0) |
                                    (config.ratchet ? features::kRatchet : 0) | (stations ? features::kStations : 0) |
                                    (paths ? features::kPaths : 0));
}

}  // namespace pqcmav
