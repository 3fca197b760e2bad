// SPDX-License-Identifier: Apache-2.0
#include "dds_sockets.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>

#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

// Ports of a domain, by the RTPS specification (section 9.6.2.3, default values).
constexpr int kBase = 7400, kPerDomain = 250, kUnicast = 10;
constexpr std::pair kFastDds{7000, kBase - 1};  // Fast DDS 2.14 also listens on the first free port of these

int first_port(std::size_t domain) { return kBase + kPerDomain * static_cast<int>(domain); }

/// Those with these ports, at most one per participant on each address.
std::vector<BoundSocket> few(const std::vector<BoundSocket>& sockets, std::pair<int, int> ports,
                             const std::set<int>& known, std::size_t participants) {
  std::vector<BoundSocket> found;
  std::map<std::string, std::size_t> per_address;
  for (const auto& each : sockets) {
    if (!each.udp || each.port < ports.first || each.port > ports.second || known.contains(each.port)) continue;
    found.push_back(each);
    ++per_address[each.host_text()];
  }
  std::erase_if(found, [&](const auto& each) { return per_address[each.host_text()] > participants; });
  return found;
}

}  // namespace

Split split(const std::vector<BoundSocket>& sockets, std::size_t domain) {
  const auto first = first_port(domain);
  std::set<int> udp, unicast;
  for (const auto& each : sockets)
    if (each.udp) udp.insert(each.port);
  for (const int port : udp)
    if (first + kUnicast <= port && port < first + kPerDomain && (port - first) % 2 == 0 && udp.contains(port + 1))
      unicast.insert(port);
  if (unicast.empty()) return {{}, {}, sockets};
  std::set<int> known{first, first + 1};
  for (const int port : unicast) known.insert({port, port + 1});

  Split out;
  for (const auto& each : sockets)
    if (each.udp && known.contains(each.port)) out.listening.push_back(each);
  const auto further = few(sockets, kFastDds, known, unicast.size());
  out.listening.insert(out.listening.end(), further.begin(), further.end());
  out.sending = few(sockets, ephemeral_ports(), known, unicast.size());
  std::set<std::uint64_t> theirs;
  for (const auto* some : {&out.listening, &out.sending})
    for (const auto& each : *some) theirs.insert(each.inode);
  std::ranges::copy_if(sockets, std::back_inserter(out.others),
                       [&](const auto& each) { return !theirs.contains(each.inode); });
  return out;
}

std::string exposed_middleware(std::size_t domain) {
  std::vector<std::string> addresses;
  try {
    const auto first = first_port(domain);
    const auto mine = own_sockets("/proc/self");
    for (const auto& each : bound_sockets("/proc/self"))
      if (each.udp && mine.contains(each.inode) && first <= each.port && each.port < first + kPerDomain &&
          !each.local())
        addresses.push_back(each.text().substr(4));
  } catch (const std::system_error&) {
    return "";  // no such files here: nothing can be said
  }
  if (addresses.empty()) return "";
  std::ranges::sort(addresses);
  return "ROS listens beyond this machine, at " + join(addresses, ", ") +
         ": whoever reaches that can call this node's services. See FASTRTPS_DEFAULT_PROFILES_FILE in SECURITY.md.";
}

}  // namespace pqc_mav_proxy_cpp
