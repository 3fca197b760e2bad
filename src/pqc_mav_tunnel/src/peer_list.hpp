// SPDX-License-Identifier: Apache-2.0
// A drone's ground stations as text: "gcs.example.org", or several "gcs_id@host:port" with commas between.
#pragma once

#include <string>
#include <vector>

#include "pqc_mav_tunnel/config.hpp"

namespace pqcmav {

/// In order of preference. Throws TunnelError(config_invalid). A single host without '@' is as it always was: it has no
/// port of its own.
std::vector<PeerEntry> peer_list(const std::string& text, const std::string& gcs_id, std::uint16_t data_port);
/// One host, perhaps with a port; `key` names the setting in the error.
PeerEntry host_of_path(const std::string& text, std::uint16_t data_port, const std::string& key);
/// "" when `gcs_id` is empty or one of the drone's stations, else a sentence.
std::string problem_of_station(const EngineConfig& config, const std::string& gcs_id);

}  // namespace pqcmav
