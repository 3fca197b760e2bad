// SPDX-License-Identifier: Apache-2.0
// Where processes listen, as the kernel tells: /proc/PID/net and the sockets among /proc/PID/fd.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pqc_mav_proxy_cpp {

/// A socket that takes packets or connections from anybody who reaches its address.
struct BoundSocket {
  bool udp = true, v6 = false;
  in6_addr host{};  // an IPv4 address is in the last four bytes
  std::uint16_t port = 0;
  std::uint64_t inode = 0;

  [[nodiscard]] std::string host_text() const;
  [[nodiscard]] std::string text() const;  // "UDP 0.0.0.0:14555"
  [[nodiscard]] bool local() const;        // whether only this machine reaches it
};

/// All such sockets of the network namespace of a process (its folder in /proc). Throws std::system_error.
std::vector<BoundSocket> bound_sockets(const std::string& process);
/// The inodes of a process's sockets. Throws std::system_error where it may not be looked at.
std::set<std::uint64_t> own_sockets(const std::string& process);
/// First and last of the ports that the kernel gives to sockets which did not ask for one.
std::pair<int, int> ephemeral_ports();
/// What a link points to. Throws std::system_error.
std::string link_target(const std::string& path);
/// A whole file of /proc. Throws std::system_error.
std::string file_text(const std::string& path);

}  // namespace pqc_mav_proxy_cpp
