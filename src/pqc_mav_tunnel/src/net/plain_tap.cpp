#include "net/plain_tap.hpp"

#include <algorithm>
#include <cstring>

#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

SockAddr checked_target(const std::string& endpoint) {
  auto address = resolve_endpoint(endpoint, "plain_tap");
  if (!address.loopback() || address.port() == 0) {
    throw TunnelError(Errc::address, "'plain_tap' is '" + endpoint +
                                         "'; the copies are plaintext, so it must be a loopback address with a port, for example 127.0.0.1:14591.");
  }
  return address;
}

SockAddr any_port(const SockAddr& address) {
  auto local = address;
  local.set_port(0);
  return local;
}

constexpr std::size_t kBufferKib = 64;  // nothing is received here, and on loopback nothing waits to be sent

}  // namespace

PlainTap::PlainTap(const std::string& endpoint, std::size_t slots, std::size_t capacity)
    : to_(checked_target(endpoint)),
      socket_(open_udp(any_port(to_), {kBufferKib, -1, false}, "copies of the plaintext (UDP)")),
      slots_(std::min(slots, UdpSender::kCapacity)),
      capacity_(capacity),
      memory_(new std::uint8_t[slots_ * capacity]),
      out_(supports_gso(socket_)) {}

bool PlainTap::reaches(const SockAddr& local) const {
  const auto host = local.host_text();
  return local.port() == to_.port() && (host == to_.host_text() || host == "0.0.0.0" || host == "::");
}

void PlainTap::take(ByteView datagram, const SockAddr& source, LinkCounters& counters) noexcept {
  if (source == to_) return;
  if (used_ == slots_ || datagram.size() > capacity_) return counters.plain_tap_dropped.add();
  const MutableBytes copy(memory_.get() + used_++ * capacity_, datagram.size());
  if (!datagram.empty()) std::memcpy(copy.data(), datagram.data(), datagram.size());
  out_.add(copy);
}

void PlainTap::flush(LinkCounters& counters) noexcept {
  if (used_ == 0) return;
  const auto sent = out_.flush(socket_.get(), to_);
  counters.plain_tap_packets.add(sent.packets);
  counters.plain_tap_dropped.add(sent.dropped);
  used_ = 0;
}

}  // namespace pqcmav
