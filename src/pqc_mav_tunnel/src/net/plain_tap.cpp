// SPDX-License-Identifier: Apache-2.0
#include "net/plain_tap.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>

#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

bool reaches(const SockAddr& tap, const SockAddr& local) {
  const auto host = local.host_text();
  return local.port() == tap.port() && (host == tap.host_text() || host == "0.0.0.0" || host == "::");
}

SockAddr any_port(const SockAddr& address) {
  auto local = address;
  local.set_port(0);
  return local;
}

constexpr std::size_t kBufferKib = 64;  // little is received here, and on loopback nothing waits to be sent
constexpr int kMostAtOnce = 16;

}  // namespace

void check_plain_bind(const std::string& prefix, const SockAddr& bind, bool allow_remote) {
  if (allow_remote || bind.loopback()) return;
  throw TunnelError(Errc::config_invalid,
                    "'" + prefix + "plain_bind' is '" + bind.text() +
                        "', which is not a loopback address: whoever reaches it could command the vehicle in "
                        "plaintext; give 127.0.0.1, or set 'plain_allow_remote' to true on a network you trust.");
}

void check_plain_addresses(const std::string& prefix, const SockAddr& bind, const SockAddr& peer, const SockAddr& tap) {
  if (!bind.empty() && !peer.empty() && bind.family() != peer.family())
    throw TunnelError(Errc::config_invalid,
                      "'" + prefix + "plain_bind' and '" + prefix + "plain_peer' must both be IPv4 or both IPv6.");
  if (!bind.empty() && !peer.empty() && bind.port() != 0 && reaches(peer, bind))
    throw TunnelError(Errc::config_invalid, "'" + prefix + "plain_peer' is the same address as '" + prefix +
                                                "plain_bind': each message would come back.");
  if (tap.empty()) return;
  if (!tap.loopback() || tap.port() == 0)
    throw TunnelError(
        Errc::config_invalid,
        "'plain_tap' is '" + tap.text() +
            "'; the copies are plaintext, so it must be a loopback address with a port, for example 127.0.0.1:14591.");
  for (const auto* own : {&bind, &peer})
    if (!own->empty() && reaches(tap, *own))
      throw TunnelError(Errc::config_invalid,
                        "'plain_tap' is the same address as 'plain_bind' or 'plain_peer': the vehicle's packets would "
                        "come back to it.");
}

PlainTap::PlainTap(const SockAddr& to, std::size_t slots, std::size_t capacity)
    : to_(to),
      socket_(open_udp(any_port(to_), {kBufferKib, -1, false}, "copies of the plaintext (UDP)")),
      slots_(std::min(slots, UdpSender::kCapacity)),
      capacity_(capacity),
      memory_(new std::uint8_t[slots_ * capacity]),
      out_(supports_gso()) {}

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

std::optional<MutableBytes> PlainTap::request(std::uint64_t now, LinkCounters& counters) noexcept {
  for (int taken = 0; taken < kMostAtOnce; ++taken) {
    SockAddr source;
    source.size = sizeof source.storage;
    // MSG_TRUNC: the datagram's own length, however long it is.
    const auto size =
        ::recvfrom(socket_.get(), asked_.data(), asked_.size(), MSG_DONTWAIT | MSG_TRUNC, source.get(), &source.size);
    if (size < 0) return std::nullopt;
    const auto length = static_cast<std::size_t>(size);
    if (source == to_ && length <= asked_.size() && is_interval_request(ByteView(asked_).first(length)) &&
        rate_.admits(now)) {
      counters.plain_tap_requests.add();
      return MutableBytes(asked_).first(length);
    }
    counters.plain_tap_refused.add();
  }
  return std::nullopt;
}

}  // namespace pqcmav
