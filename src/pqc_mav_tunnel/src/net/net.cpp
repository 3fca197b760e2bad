// SPDX-License-Identifier: Apache-2.0
#include "net/net.hpp"

#include <arpa/inet.h>
#include <linux/sock_diag.h>
#include <netdb.h>
#include <netinet/udp.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <sstream>
#include <utility>

#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

[[noreturn]] void throw_bind_error(int error, const SockAddr& local, const std::string& purpose) {
  const auto where = purpose + " at " + local.text();
  if (error == EADDRINUSE)
    throw TunnelError(Errc::port_in_use,
                      "The port for " + where + " is in use by another program; stop it or configure another port.");
  if (error == EACCES)
    throw TunnelError(Errc::permission, "Not allowed to open the port for " + where + "; use a port of 1024 or above.");
  if (error == EADDRNOTAVAIL)
    throw TunnelError(Errc::address, "This machine does not have the address for " + where + "; check 'bind'.");
  throw TunnelError(Errc::io, "Cannot open the port for " + where + ": " + system_reason(error) + ".");
}

void set_buffers(int fd, std::size_t kib) noexcept {
  const auto bytes = static_cast<int>(kib * 1024);
  for (const auto& [force, plain] : {std::pair{SO_RCVBUFFORCE, SO_RCVBUF}, std::pair{SO_SNDBUFFORCE, SO_SNDBUF}})
    if (::setsockopt(fd, SOL_SOCKET, force, &bytes, sizeof bytes) != 0)
      ::setsockopt(fd, SOL_SOCKET, plain, &bytes, sizeof bytes);
}

/// Without a name there is nothing to do.
bool bind_to(int fd, const std::string& device) noexcept {
  return device.empty() ||
         ::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device.c_str(), static_cast<socklen_t>(device.size() + 1)) == 0;
}

}  // namespace

Fd made_fd(int fd, const char* what) {
  if (fd < 0) throw TunnelError(Errc::io, std::string("Cannot create ") + what + ": " + system_reason(errno) + ".");
  return Fd(fd);
}

Fd event_descriptor() { return made_fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "an event descriptor"); }

void set_int(int fd, int level, int name, int value) noexcept { ::setsockopt(fd, level, name, &value, sizeof value); }

std::uint16_t SockAddr::port() const noexcept {
  if (family() == AF_INET) return ntohs(storage.four.sin_port);
  if (family() == AF_INET6) return ntohs(storage.six.sin6_port);
  return 0;
}

void SockAddr::set_port(std::uint16_t port) noexcept {
  if (family() == AF_INET) storage.four.sin_port = htons(port);
  if (family() == AF_INET6) storage.six.sin6_port = htons(port);
}

bool SockAddr::any() const noexcept {
  if (family() == AF_INET) return storage.four.sin_addr.s_addr == INADDR_ANY;
  return family() == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&storage.six.sin6_addr);
}

bool SockAddr::loopback() const noexcept {
  if (family() == AF_INET) return ntohl(storage.four.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  if (family() != AF_INET6) return false;
  const auto& address = storage.six.sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&address) || (IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == IN_LOOPBACKNET);
}

ByteArray<16> SockAddr::ip16() const noexcept {
  ByteArray<16> out{};
  if (family() == AF_INET) {
    out[10] = out[11] = 0xff;
    std::memcpy(out.data() + 12, &storage.four.sin_addr, 4);
  } else if (family() == AF_INET6) {
    std::memcpy(out.data(), &storage.six.sin6_addr, 16);
  }
  return out;
}

std::string SockAddr::host_text() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET) ::inet_ntop(AF_INET, &storage.four.sin_addr, text, sizeof text);
  if (family() == AF_INET6) {
    const auto& address = storage.six.sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&address))
      ::inet_ntop(AF_INET, address.s6_addr + 12, text, sizeof text);
    else
      ::inet_ntop(AF_INET6, &address, text, sizeof text);
  }
  return text;
}

std::string SockAddr::network_text() const {
  if (family() != AF_INET6) return host_text();
  auto network = *this;
  auto& address = network.storage.six.sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&address)) return host_text();
  std::fill(address.s6_addr + 8, address.s6_addr + 16, std::uint8_t{0});
  return network.host_text() + "/64";
}

std::string SockAddr::text() const {
  if (empty()) return "";
  const auto host = host_text();
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + std::to_string(port());
}

bool operator==(const SockAddr& a, const SockAddr& b) noexcept {
  if (a.local != b.local || a.path != b.path) return false;
  // A socket for IPv4 and IPv6 gives the same IPv4 address in another form.
  if (a.family() != b.family()) return !a.empty() && !b.empty() && a.port() == b.port() && a.ip16() == b.ip16();
  if (a.family() == AF_INET) {
    const auto& x = a.storage.four;
    const auto& y = b.storage.four;
    return x.sin_port == y.sin_port && x.sin_addr.s_addr == y.sin_addr.s_addr;
  }
  if (a.family() == AF_INET6) {
    const auto& x = a.storage.six;
    const auto& y = b.storage.six;
    return x.sin6_port == y.sin6_port && x.sin6_scope_id == y.sin6_scope_id &&
           std::memcmp(&x.sin6_addr, &y.sin6_addr, 16) == 0;
  }
  return a.size == b.size;
}

bool is_ipv4(const std::string& host) noexcept {
  in_addr address{};
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool is_ipv6(const std::string& host) noexcept {
  in6_addr address{};
  return ::inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &address) == 1;
}

std::string problem_of_host(const std::string& host) {
  constexpr std::size_t kNameMost = 253, kLabelMost = 63;  // RFC 1035
  if (is_ipv4(host) || is_ipv6(host)) return "";
  if (host.find(':') != std::string::npos) return "it is not an IPv6 address, and ports have their own keys";
  if (host.size() > kNameMost) return "a host name has at most 253 characters";
  std::string label, last;
  std::istringstream labels(host);
  while (std::getline(labels, label, '.')) {
    last = label;
    if (label.empty() || label.size() > kLabelMost) return "each part of a host name has 1-63 characters";
    const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
    if (!std::all_of(label.begin(), label.end(), allowed) || label.front() == '-' || label.back() == '-')
      return "a host name consists of letters, digits and '-'";
  }
  if (std::all_of(last.begin(), last.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
    return "it is not an IPv4 address";
  return "";
}

std::vector<SockAddr> resolve_all(const std::string& host, std::uint16_t port, bool passive, int socket_type) {
  addrinfo hints{};
  hints.ai_family = host.empty() ? AF_INET : AF_UNSPEC;
  hints.ai_socktype = socket_type;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const auto service = std::to_string(port);
  const int code = ::getaddrinfo(host.empty() ? nullptr : host.c_str(), service.c_str(), &hints, &found);
  if (code != 0)
    throw TunnelError(Errc::address, "Cannot resolve '" + host + "': " + ::gai_strerror(code) +
                                         "; check the name or give an address.");
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard(found, &::freeaddrinfo);
  std::vector<SockAddr> out;
  for (const auto* each = found; each != nullptr; each = each->ai_next) {
    if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
    auto& address = out.emplace_back();
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
  }
  if (out.empty()) throw TunnelError(Errc::address, "'" + host + "' has neither an IPv4 nor an IPv6 address.");
  return out;
}

SockAddr resolve(const std::string& host, std::uint16_t port, bool passive, int socket_type) {
  return resolve_all(host, port, passive, socket_type).front();
}

std::optional<Endpoint> parse_endpoint(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return std::nullopt;
  Endpoint out{text.substr(0, colon), 0};
  const auto port = number_of<std::uint16_t>(std::string_view(text).substr(colon + 1));
  if (!port) return std::nullopt;
  out.port = *port;
  if (out.host.front() == '[') {
    if (out.host.size() < 3 || out.host.back() != ']') return std::nullopt;
    out.host = out.host.substr(1, out.host.size() - 2);
  }
  return out;
}

SockAddr resolve_endpoint(const std::string& text, const std::string& key) {
  const auto endpoint = parse_endpoint(text);
  if (!endpoint) throw TunnelError(Errc::address, "'" + key + "' is '" + text + "'" + kWriteHostPort);
  return resolve(endpoint->host, endpoint->port, false, SOCK_DGRAM);
}

Fd open_udp(const SockAddr& local, const UdpOptions& options, const std::string& purpose, bool* gro_on) {
  Fd fd(::socket(local.family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) throw_bind_error(errno, local, purpose);
  if (local.family() == AF_INET6) set_int(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  set_buffers(fd.get(), options.buffer_kib);
  // Let IP fragment on narrow paths: a lost telemetry packet is worse than a fragmented one.
  // And believe no ICMP about it: a forged one would shrink what we send.
  set_int(fd.get(), IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_OMIT);
  if (local.family() == AF_INET6) set_int(fd.get(), IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_OMIT);
  if (options.dscp >= 0) {
    set_int(fd.get(), IPPROTO_IP, IP_TOS, options.dscp << 2);
    if (local.family() == AF_INET6) set_int(fd.get(), IPPROTO_IPV6, IPV6_TCLASS, options.dscp << 2);
  }
  // Bound to one address there is nothing to ask.
  if (options.locals && local.any()) {
    const bool six = local.family() == AF_INET6;  // which tells of IPv4 datagrams, too
    set_int(fd.get(), six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_RECVPKTINFO : IP_PKTINFO, 1);
  }
  if (options.shared) set_int(fd.get(), SOL_SOCKET, SO_REUSEPORT, 1);
  if (const auto& device = options.device; !bind_to(fd.get(), device))
    throw TunnelError(errno == EPERM ? Errc::permission : Errc::address,
                      errno == ENODEV
                          ? "There is no network interface '" + device + "' now."
                          : "Cannot use the network interface '" + device + "': " + system_reason(errno) + ".");
  if (::bind(fd.get(), local.get(), local.size) != 0) throw_bind_error(errno, local, purpose);
  if (gro_on != nullptr) {
    const int on = 1;
    *gro_on = options.gro && ::setsockopt(fd.get(), SOL_UDP, UDP_GRO, &on, sizeof on) == 0;
  }
  return fd;
}

Fd open_udp_both(std::uint16_t port, const UdpOptions& options, const std::string& purpose, bool* gro_on) {
  try {
    return open_udp(resolve("::", port, true, SOCK_DGRAM), options, purpose, gro_on);
  } catch (const TunnelError& error) {
    if (error.code() == Errc::port_in_use || error.code() == Errc::permission) throw;
  }
  return open_udp(resolve("", port, true, SOCK_DGRAM), options, purpose, gro_on);
}

SockAddr local_address(const Fd& socket) {
  SockAddr out;
  out.size = sizeof out.storage;
  if (::getsockname(socket.get(), out.get(), &out.size) != 0)
    throw TunnelError(Errc::io, "Cannot read a socket's address: " + system_reason(errno) + ".");
  return out;
}

std::optional<ByteArray<16>> address_towards(const SockAddr& to, const std::string& device) noexcept {
  // Nothing is sent: to connect a datagram socket is to look the route up.
  const Fd probe(::socket(to.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  SockAddr out;
  out.size = sizeof out.storage;
  if (!probe || !bind_to(probe.get(), device) || ::connect(probe.get(), to.get(), to.size) != 0 ||
      ::getsockname(probe.get(), out.get(), &out.size) != 0)
    return std::nullopt;
  return out.ip16();
}

std::uint32_t KernelDrops::more(int fd) noexcept {
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  socklen_t size = sizeof memory;
  if (::getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory.data(), &size) != 0 || size < sizeof memory) return 0;
  return memory[SK_MEMINFO_DROPS] - std::exchange(seen_, memory[SK_MEMINFO_DROPS]);  // it may wrap around
}

bool supports_gso() noexcept {
  const Fd udp_socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(udp_socket.get(), SOL_UDP, UDP_SEGMENT, &value, &size) == 0;
}

}  // namespace pqcmav
