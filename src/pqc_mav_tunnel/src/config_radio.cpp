// SPDX-License-Identifier: Apache-2.0
#include "config_radio.hpp"

#include "constants.hpp"
#include "net/plain_endpoint.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {

void complete_radio(const EngineConfig& config, std::int64_t radio_id, bool chose_ms, bool chose_bytes,
                    RadioSettings& radio) {
  radio.radio_id = static_cast<std::uint8_t>(radio_id);
  radio.bundle_ms = chose_ms ? config.bundle_ms : kRadioBundleMs;
  radio.bundle_bytes = chose_bytes ? config.bundle_bytes : kRadioBundleBytes;
  if (config.max_payload + kOverhead > kLineDatagramMost)
    throw TunnelError(Errc::config_invalid, "'max_payload' is " + std::to_string(config.max_payload) +
                                                "; over a serial radio it may be " +
                                                std::to_string(kLineDatagramMost - kOverhead) + " at most.");
}

void check_radio_apart(const std::string& key, const RadioSettings& radio, const std::vector<std::string>& plain) {
  for (const auto& endpoint : parse_plain_endpoints(plain, key + "plain_endpoints"))
    if (endpoint.kind == PlainEndpoint::Kind::serial && endpoint.path == radio.path)
      throw TunnelError(Errc::config_invalid, "'" + radio.text + "' is the radio, and '" + endpoint.text + "' of '" +
                                                  key + "plain' is the same port: give the autopilot another one.");
}

void check_radio(const std::string& key, const RadioSettings& radio, const std::vector<DroneEntry>& others) {
  for (const auto& other : others) {
    if (!other.radio || other.radio->path != radio.path) continue;
    if (other.radio->text != radio.text)
      throw TunnelError(Errc::config_invalid, "'" + key + "radio' is '" + radio.text + "', but '" + other.id +
                                                  "' has the same port as '" + other.radio->text +
                                                  "': write both in the same way.");
    if (other.radio->radio_id == radio.radio_id)
      throw TunnelError(Errc::config_invalid, "'" + key + "radio_id' is " + std::to_string(radio.radio_id) +
                                                  ", and so is that of '" + other.id +
                                                  "': give each drone on a radio its own, here and at the drone.");
  }
}

}  // namespace pqcmav
