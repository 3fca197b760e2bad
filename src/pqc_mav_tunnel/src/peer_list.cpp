// SPDX-License-Identifier: Apache-2.0
#include "peer_list.hpp"

#include <algorithm>

#include "constants.hpp"
#include "net/net.hpp"
#include "net/plain_endpoint.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/keystore.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

[[noreturn]] void refuse_peer(const std::string& text, const std::string& problem, const std::string& key = "peer") {
  throw TunnelError(Errc::config_invalid, "'" + key + "' is '" + text + "': " + problem +
                                              ". Give a host name or an address, for example gcs.example.org.");
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Takes a port off the host, and checks what is left.
void take_host(PeerEntry& out, const std::string& text, const std::string& key) {
  // An IPv6 address has colons of its own: with a port it stands in brackets.
  if (!is_ipv6(out.host) && out.host.find(':') != std::string::npos) {
    const auto endpoint = parse_endpoint(out.host);
    if (!endpoint || endpoint->port == 0) refuse_peer(text, "after the last ':' stands a port, 1 to 65535", key);
    out.host = endpoint->host;
    out.port = endpoint->port;
  }
  if (const auto problem = problem_of_host(out.host); !problem.empty()) refuse_peer(text, problem, key);
}

PeerEntry station_of(const std::string& text, const std::string& gcs_id, std::uint16_t data_port) {
  const auto at = text.find('@');
  PeerEntry out{at == std::string::npos ? gcs_id : text.substr(0, at),
                at == std::string::npos ? text : text.substr(at + 1), data_port};
  if (!valid_drone_id(out.gcs_id)) refuse_peer(text, "the id before '@' has 1-32 characters out of a-z 0-9 _ -");
  take_host(out, text, "peer");
  return out;
}

}  // namespace

PeerEntry host_of_path(const std::string& text, std::uint16_t data_port, const std::string& key) {
  PeerEntry out{"", text, data_port};
  take_host(out, text, key);
  return out;
}

std::vector<PeerEntry> peer_list(const std::string& text, const std::string& gcs_id, std::uint16_t data_port) {
  if (text.starts_with("serial:")) return {{gcs_id, "", 0, parse_radio(text, "peer")}};
  if (text.find_first_of(",@") == std::string::npos) {
    if (const auto problem = problem_of_host(text); !problem.empty()) refuse_peer(text, problem);
    return {{gcs_id, text, data_port}};
  }
  std::vector<PeerEntry> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    out.push_back(station_of(trimmed(text.substr(begin, end - begin)), gcs_id, data_port));
    begin = end + 1;
    const auto same = [&](const PeerEntry& each) { return each.gcs_id == out.back().gcs_id; };
    if (std::count_if(out.begin(), out.end(), same) > 1)
      throw TunnelError(Errc::config_invalid, "'peer' names the ground station '" + out.back().gcs_id +
                                                  "' twice; each has a gcs_id of its own: gcs_id@host:port.");
  }
  if (out.size() > kPeersMax)
    throw TunnelError(Errc::config_invalid, "'peer' names " + std::to_string(out.size()) +
                                                " ground stations; there may be " + std::to_string(kPeersMax) + ".");
  return out;
}

std::string problem_of_station(const EngineConfig& config, const std::string& gcs_id) {
  const auto& all = config.peers;
  if (gcs_id.empty() || std::ranges::find(all, gcs_id, &PeerEntry::gcs_id) != all.end()) return {};
  return "'station' is '" + gcs_id + "', but 'peer' has " + listed(all, &PeerEntry::gcs_id) + ".";
}

}  // namespace pqcmav
