// SPDX-License-Identifier: Apache-2.0
// What a configuration says of serial radios. Every refusal throws TunnelError(config_invalid) and names its key.
#pragma once

#include <string>
#include <vector>

#include "pqc_mav_tunnel/config.hpp"

namespace pqcmav {

/// The number of a radio's drone and its bundles: what goes over it is bundled, one packet of the air each, unless the
/// owner chose other `bundle_ms` or `bundle_bytes`.
void complete_radio(const EngineConfig& config, std::int64_t radio_id, bool chose_ms, bool chose_bytes,
                    RadioSettings& radio);
/// Its port is not that of an endpoint of plaintext, too.
void check_radio_apart(const std::string& key, const RadioSettings& radio, const std::vector<std::string>& plain);
/// The same port with the same settings for all drones on it, and a number of its own for each.
void check_radio(const std::string& key, const RadioSettings& radio, const std::vector<DroneEntry>& others);

}  // namespace pqcmav
