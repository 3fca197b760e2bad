// SPDX-License-Identifier: Apache-2.0
// Where this process can be reached. Others cannot see it: a process that holds session keys lets nobody look into it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

/// Set to the same value, processes belong to one system, such as what `pqcmav up` starts.
inline constexpr const char* kSystemVariable = "PQCMAV_SYSTEM";

/// For handshakes and packets of the tunnel; for applications that the configuration lets in; for anything else.
enum class SocketUse : std::uint8_t { tunnel, plain, other };
std::string_view to_string(SocketUse use);

/// A socket that takes packets or connections from anybody who reaches its address.
struct OpenSocket {
  bool udp = true;  // else TCP
  std::string host;
  std::uint16_t port = 0;
  std::uint64_t inode = 0;
  bool loopback = false;
  SocketUse use = SocketUse::other;
};

/// All of this process, by inode.
std::vector<OpenSocket> open_sockets();
/// The same, with what an engine uses them for.
std::vector<OpenSocket> open_sockets(const EnginePorts& ports, const std::vector<LinkStats>& stats);

}  // namespace pqcmav
