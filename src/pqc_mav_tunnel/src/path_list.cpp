// SPDX-License-Identifier: Apache-2.0
#include "path_list.hpp"

#include <net/if.h>

#include <algorithm>

#include "constants.hpp"
#include "net/net.hpp"
#include "net/plain_endpoint.hpp"
#include "peer_list.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw TunnelError(Errc::config_invalid, sentence); }

}  // namespace

PathEntry path_entry(const std::string& name, const std::string& via, const std::string& peer,
                     std::uint16_t data_port) {
  const auto prefix = "path." + name + ".";
  PathEntry out{name, via};
  if (via.starts_with("serial:")) {
    if (!peer.empty())
      refuse("'" + prefix + "peer' has no meaning for a radio, which leads to the gcs at its other end; leave it out.");
    out.radio = parse_radio(via, prefix + "via");
    return out;
  }
  const bool printable = std::ranges::all_of(via, [](char c) { return c > ' ' && c < 0x7f && c != '/'; });
  if (!is_ipv4(via) && !is_ipv6(via) && (via.size() >= IF_NAMESIZE || !printable || via.find(':') != std::string::npos))
    refuse("'" + prefix + "via' is '" + via.substr(0, 40) +
           "'; it must be a network interface such as wwan0, an address of this machine, or serial:DEVICE:BAUD.");
  if (peer.empty()) return out;
  const auto host = host_of_path(peer, data_port, prefix + "peer");
  out.host = host.host;
  out.port = host.port;
  return out;
}

PathUse path_use_of(std::string_view word) {
  return word == "metered"    ? PathUse::metered
         : word == "backup"   ? PathUse::backup
         : word == "commands" ? PathUse::commands
                              : PathUse::always;
}

void check_paths(const EngineConfig& config) {
  const auto& paths = config.paths;
  if (paths.empty()) return;
  if (paths.size() > kPathsMost)
    refuse("'paths' names " + std::to_string(paths.size()) + " paths; there may be " + std::to_string(kPathsMost) +
           ".");
  if (config.peers.front().radio)
    refuse(
        "'peer' is a radio, which is the only way then; write it as 'path.<name>.via', and into 'peer' the gcs' host "
        "name or address.");
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto& one = paths[i];
    if (i > 0 && paths[i - 1].use >= PathUse::backup && one.use < paths[i - 1].use)
      refuse("'paths' names '" + paths[i - 1].name + "' before '" + one.name + "', but 'path." + paths[i - 1].name +
             ".use' says that it is for when that one is dead; name it last.");
    for (std::size_t j = 0; j < i; ++j) {
      const auto& other = paths[j];
      if (one.name == other.name) refuse("'paths' names '" + one.name + "' twice.");
      const bool same = one.radio && other.radio ? one.radio->path == other.radio->path
                                                 : !one.radio && !other.radio && one.via == other.via &&
                                                       one.host == other.host && one.port == other.port;
      if (same)
        refuse("The paths '" + other.name + "' and '" + one.name +
               "' are the same way; give them different interfaces or addresses in 'path.<name>.via'.");
    }
    if (config.peers.size() > 1 && (one.radio || !one.host.empty()))
      refuse("'peer' has several ground stations, and the path '" + one.name +
             "' leads to one alone; with several, no path has a radio or a 'peer' of its own.");
  }
  if (paths.front().use == PathUse::commands)
    refuse("'paths' has no path for telemetry: '" + paths.front().name + "' is for commands alone ('path." +
           paths.front().name + ".use').");
}

std::string problem_of_path(const EngineConfig& config, const std::string& name) {
  if (config.paths.empty())
    return "This end has one way to the other alone; name several in the drone's 'paths' (docs/paths.md).";
  if (std::ranges::find(config.paths, name, &PathEntry::name) != config.paths.end()) return {};
  return "There is no path '" + name + "'; there are " + listed(config.paths, &PathEntry::name) + ".";
}

}  // namespace pqcmav
