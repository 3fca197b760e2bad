// SPDX-License-Identifier: Apache-2.0
// Socket addresses, and the UDP sockets the engine opens.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "clock.hpp"
#include "fd.hpp"

namespace pqcmav {

/// An IPv4 or IPv6 socket address, and by which of this machine's own addresses it is reached: the two ends of a path.
struct SockAddr {
  /// No larger than it has to be: a drone's link holds a score of them, and sockaddr_storage is four times as long.
  union Storage {
    sockaddr_in6 six;
    sockaddr_in four;
    sockaddr any;
  };
  Storage storage{};
  socklen_t size = 0;
  /// Where its datagrams arrived, as in ip16(), and from where answers leave. All zero: the system chooses.
  ByteArray<16> local{};
  /// At a drone with several paths: by which of them it is reached.
  std::uint8_t path = 0;

  [[nodiscard]] const sockaddr* get() const noexcept { return &storage.any; }
  [[nodiscard]] sockaddr* get() noexcept { return &storage.any; }
  [[nodiscard]] bool empty() const noexcept { return size == 0; }
  [[nodiscard]] bool has_local() const noexcept { return local != ByteArray<16>{}; }
  [[nodiscard]] int family() const noexcept { return storage.any.sa_family; }
  [[nodiscard]] std::uint16_t port() const noexcept;
  void set_port(std::uint16_t port) noexcept;
  [[nodiscard]] bool any() const noexcept;            // 0.0.0.0 or ::, every address
  [[nodiscard]] bool loopback() const noexcept;       // 127.0.0.0/8, ::1, or the first as IPv4-mapped
  [[nodiscard]] std::string text() const;             // 127.0.0.1:14550, [::1]:14550, "" when empty
  [[nodiscard]] std::string network_text() const;     // what one owner has: an IPv4 address, or the /64 of an IPv6 one
  [[nodiscard]] ByteArray<16> ip16() const noexcept;  // the IP address, IPv4 as IPv4-mapped
  [[nodiscard]] std::string host_text() const;        // without the port; IPv4-mapped as IPv4
  friend bool operator==(const SockAddr& a, const SockAddr& b) noexcept;
};

/// Is it an IPv4 address in four parts; an IPv6 address, perhaps with a scope (fe80::1%eth0)?
bool is_ipv4(const std::string& host) noexcept;
bool is_ipv6(const std::string& host) noexcept;
/// "" when this may be a host name or an address, else what is wrong with it. Asks nobody.
std::string problem_of_host(const std::string& host);

/// Every address of a host name, in the system's order; throws TunnelError(address). An empty host with `passive` is
/// every local address.
std::vector<SockAddr> resolve_all(const std::string& host, std::uint16_t port, bool passive, int socket_type);
/// The first of them.
SockAddr resolve(const std::string& host, std::uint16_t port, bool passive, int socket_type);
/// "host:port" or "[v6]:port" taken apart; nullopt when it is written in another way. Asks nobody.
struct Endpoint {
  std::string host;
  std::uint16_t port;
};
std::optional<Endpoint> parse_endpoint(const std::string& text);
inline constexpr const char* kWriteHostPort = "; write it as host:port, for example 127.0.0.1:14550.";
/// The address of an endpoint; `key` names the setting in the error.
SockAddr resolve_endpoint(const std::string& text, const std::string& key);

/// A descriptor that was to be made; throws TunnelError(io) naming `what` where it was not.
Fd made_fd(int fd, const char* what);
/// An event descriptor. Throws TunnelError(io).
Fd event_descriptor();

/// An option of a socket that a kernel may lack: then it stays as it is.
void set_int(int fd, int level, int name, int value) noexcept;

struct UdpOptions {
  std::size_t buffer_kib = 4096;
  int dscp = -1;  // -1 leaves the default
  bool gro = false;
  bool locals = false;      // bound to every address: say at which of them each datagram arrived
  bool shared = false;      // several sockets of this process have this address (SO_REUSEPORT)
  std::string device = {};  // of this network interface alone (SO_BINDTODEVICE); empty: of all
};
/// Bound and non-blocking; throws TunnelError(port_in_use, address, permission) naming `purpose`. `gro_on` says whether
/// UDP_GRO was granted.
Fd open_udp(const SockAddr& local, const UdpOptions& options, const std::string& purpose, bool* gro_on = nullptr);
/// The same on every local address, IPv4 and IPv6; where this machine has no IPv6, IPv4 alone.
Fd open_udp_both(std::uint16_t port, const UdpOptions& options, const std::string& purpose, bool* gro_on = nullptr);
/// The address of ours, as in ip16(), from which a datagram to `to` would leave now, by this interface if one is named;
/// nothing where no route leads.
std::optional<ByteArray<16>> address_towards(const SockAddr& to, const std::string& device = {}) noexcept;
SockAddr local_address(const Fd& socket);
/// Does this kernel know UDP_SEGMENT?
bool supports_gso() noexcept;

/// What the kernel threw away because a socket's receive buffer was full. Nobody else can say so: the sender heard that
/// its datagram was taken, and the reader never saw it.
class KernelDrops {
 public:
  /// How many more than at the last call. It is the figure of SO_RXQ_OVFL and of the last column of /proc/net/udp, asked
  /// for (SO_MEMINFO) instead of delivered with each datagram: it costs nothing on the packet path, and is there when no
  /// datagram follows. Of a run that arrived as one (UDP GRO) the kernel counts one, however many datagrams it held.
  std::uint32_t more(int fd) noexcept;

 private:
  std::uint32_t seen_ = 0;
};

}  // namespace pqcmav
