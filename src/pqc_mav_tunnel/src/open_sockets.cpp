// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/open_sockets.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "text.hpp"

namespace pqcmav {
namespace {

int option(int fd, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

/// A UDP socket that is connected hears its peer alone, one of TCP that does not listen hears nobody new.
bool hears_anybody(int fd, bool udp) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  return udp ? ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 : option(fd, SO_ACCEPTCONN) == 1;
}

std::optional<OpenSocket> open_socket(int fd) {
  sockaddr_storage place{};
  socklen_t size = sizeof place;
  struct stat file{};
  if (::fstat(fd, &file) != 0 || !S_ISSOCK(file.st_mode)) return {};
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&place), &size) != 0) return {};
  const int protocol = option(fd, SO_PROTOCOL);
  OpenSocket out;
  out.udp = protocol == IPPROTO_UDP;
  out.inode = file.st_ino;
  if (!out.udp && protocol != IPPROTO_TCP) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (place.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(place);
    out.port = ntohs(in.sin_port);
    out.host = ::inet_ntop(AF_INET, &in.sin_addr, text.data(), text.size());
    out.loopback = ntohl(in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  } else if (place.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(place);
    out.port = ntohs(in.sin6_port);
    out.host = ::inet_ntop(AF_INET6, &in.sin6_addr, text.data(), text.size());
    out.loopback = IN6_IS_ADDR_LOOPBACK(&in.sin6_addr) ||
                   (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr) && in.sin6_addr.s6_addr[12] == IN_LOOPBACKNET);
  }
  if (out.port == 0 || !hears_anybody(fd, out.udp)) return {};
  return out;
}

/// Whether UDP, and the port, of each of `plain_endpoints` to which applications come ("tcp-listen:0.0.0.0:5760").
/// Beyond loopback they are only where the configuration says so in so many words (`plain_allow_remote`).
std::set<std::pair<bool, int>> listeners(const std::vector<LinkStats>& stats) {
  std::set<std::pair<bool, int>> out;
  for (const auto& tunnel : stats)
    for (const auto& each : tunnel.endpoints) {
      const bool udp = each.name.starts_with("udp-listen:");
      if (!udp && !each.name.starts_with("tcp-listen:")) continue;
      const auto digits = std::string_view(each.name).substr(each.name.rfind(':') + 1);
      if (const auto port = number_of<int>(digits)) out.emplace(udp, *port);
    }
  return out;
}

}  // namespace

std::string_view to_string(SocketUse use) {
  return use == SocketUse::tunnel ? "tunnel" : use == SocketUse::plain ? "plain" : "other";
}

std::vector<OpenSocket> open_sockets() {
  std::map<std::uint64_t, OpenSocket> found;  // one socket may have several descriptors
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    const auto fd = number_of<int>(entry.path().filename().string());
    if (const auto socket = open_socket(fd.value_or(-1))) found.emplace(socket->inode, *socket);
  }
  std::vector<OpenSocket> out;
  for (auto& [inode, socket] : found) out.push_back(std::move(socket));
  return out;
}

std::vector<OpenSocket> open_sockets(const EnginePorts& ports, const std::vector<LinkStats>& stats) {
  auto let_in = listeners(stats);
  for (const auto& [drone, port] : ports.plain) let_in.emplace(true, port);
  auto sealed = ports.more;
  sealed.push_back(ports.data);
  auto out = open_sockets();
  for (auto& each : out)
    each.use = let_in.contains({each.udp, each.port})                  ? SocketUse::plain
               : each.udp && std::ranges::count(sealed, each.port) > 0 ? SocketUse::tunnel
                                                                       : SocketUse::other;
  return out;
}

}  // namespace pqcmav
