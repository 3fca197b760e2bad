// SPDX-License-Identifier: Apache-2.0
#include "exposure.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "dds_sockets.hpp"
#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

constexpr const char* kCure = "bind it to 127.0.0.1";
using Strings = std::vector<std::string>;

/// Sockets beyond loopback, each as a text that names process and address.
struct Found {
  int processes = 0, dds_senders = 0;  // from the latter DDS only sends
  Strings open, foreign;               // foreign: of a mavros that was not started with us
  Strings allowed, dds, unseen;        // unseen: processes that may not be looked at
};

Diagnostic said_of(Found found) {
  for (auto* texts : {&found.open, &found.foreign, &found.allowed, &found.dds, &found.unseen})
    std::ranges::sort(*texts);
  Diagnostic out{"sockets", Level::ok, "", {}};
  Strings said;
  const auto add = [&](const Strings& texts, const std::string& what) {
    if (!texts.empty()) said.push_back(join(texts, ", ") + ": " + what);
  };
  if (!found.open.empty())
    said.push_back("DEGRADED: " + join(found.open, ", ") + " is open to the network, past the tunnel: " + kCure);
  add(found.foreign, std::string("a mavros that this system did not start is open to the network: ") + kCure);
  add(found.allowed, "open to the network, as allowed");
  add(found.dds, "ROS is open to the network");
  add(found.unseen, "may not be looked at");
  if (!said.empty()) out.level = found.open.empty() ? Level::warn : Level::error;
  out.message = said.empty()
                    ? std::to_string(found.processes) + " processes listen on this machine only, but for the tunnel"
                    : join(said, "; ");
  out.values = {{"processes", std::to_string(found.processes)},
                {"open", join(found.open, "; ")},
                {"open_of_others", join(found.foreign, "; ")},
                {"allowed", join(found.allowed, "; ")},
                {"dds", join(found.dds, "; ")},
                {"dds_senders", std::to_string(found.dds_senders)},
                {"unseen", join(found.unseen, "; ")}};
  return out;
}

void add_sockets(Found& found, const Sibling& process, const std::vector<BoundSocket>& held, std::size_t domain,
                 const Meant& meant) {
  // What is on loopback is looked at too: participants of DDS are counted by it.
  const auto parts = split(held, domain);
  for (const auto& each : parts.listening)
    if (!each.local()) found.dds.push_back(process.text() + ": " + each.text());
  found.dds_senders +=
      static_cast<int>(std::ranges::count_if(parts.sending, [](const auto& it) { return !it.local(); }));
  for (const auto& each : parts.others) {
    if (each.local()) continue;
    auto& place = meant.addresses.contains(each.host_text()) ? found.allowed
                  : process.ours                             ? found.open
                                                             : found.foreign;
    place.push_back(process.text() + ": " + each.text());
  }
}

}  // namespace

Diagnostic exposure(const std::vector<Sibling>& processes, std::size_t domain, const Meant& meant) {
  Found found;
  std::map<std::string, std::vector<BoundSocket>> tables;  // by network namespace
  for (const auto& process : processes) {
    const auto folder = "/proc/" + std::to_string(process.pid);
    const Meant here = process.pid == ::getpid() ? meant : Meant{{}, {}, meant.addresses};
    try {
      const auto space = link_target(folder + "/ns/net");
      if (!tables.contains(space)) tables[space] = bound_sockets(folder);
      const auto inodes = own_sockets(folder);
      auto held = tables[space];
      // Ours first, or one of them would count as a socket from which DDS sends.
      std::erase_if(held, [&](const auto& each) {
        if (!inodes.contains(each.inode)) return true;
        const bool asked_for =
            (each.udp && here.plain.contains(each.port)) || here.listeners.contains({each.udp, each.port});
        if (asked_for && !each.local()) found.allowed.push_back(process.text() + ": " + each.text());
        return asked_for || (each.udp && here.tunnel.contains(each.port));
      });
      ++found.processes;
      add_sockets(found, process, held, domain, here);
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::no_such_file_or_directory) continue;  // ended meanwhile
      found.unseen.push_back(process.text());
    }
  }
  return said_of(std::move(found));
}

}  // namespace pqc_mav_proxy_cpp
