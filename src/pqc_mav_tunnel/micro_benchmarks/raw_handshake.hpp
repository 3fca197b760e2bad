// SPDX-License-Identifier: Apache-2.0
// One first handshake with a running gcs from a blocking socket, and the bare exchange of datagrams of the same sizes:
// what the handshake's time is compared with.
#pragma once

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "handshake/handshake.hpp"
#include "handshake/handshake_messages.hpp"
#include "handshake/hello_schedule.hpp"
#include "handshake/retry_cookie.hpp"
#include "handshake/transport.hpp"
#include "net/net.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav::bench {

inline void send_to(const Fd& fd, ByteView datagram, const SockAddr& to) {
  if (::sendto(fd.get(), datagram.data(), datagram.size(), 0, to.get(), to.size) < 0) std::abort();
}

/// The next datagram, or nothing until `deadline_ns`.
inline std::optional<Bytes> receive_until(const Fd& fd, std::uint64_t deadline_ns) {
  const auto now = now_ns();
  const auto wait_ns = deadline_ns > now ? std::min<std::uint64_t>(deadline_ns - now, 1'000'000'000) : 0;
  const timespec wait{0, static_cast<long>(std::min<std::uint64_t>(wait_ns, 999'999'999))};
  pollfd ready{fd.get(), POLLIN, 0};
  if (::ppoll(&ready, 1, &wait, nullptr) <= 0) return std::nullopt;
  std::array<std::uint8_t, 2048> buffer;
  const auto got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
  if (got < 0) return std::nullopt;
  return Bytes(buffer.begin(), buffer.begin() + got);
}

/// What M2 takes on the wire at most, as the drone pads M1 for it.
inline std::size_t need_of(std::size_t m2) { return m2 + 30 * (m2 / (kDatagramLimit - 50) + 1); }

/// How long it took in nanoseconds, from before M1 until M4 has verified. Throws TunnelError when it fails.
inline std::uint64_t shake_hands(InitiatorParams params, const SockAddr& gcs) {
  const Fd fd = open_udp(resolve("127.0.0.1", 0, true, SOCK_DGRAM), {}, "a benchmark");
  const auto began = now_ns();
  TransportOptions options;
  random_bytes(options.attempt);
  const auto keys = derive_fragment_keys(params.psk, options.attempt);
  Transport transport(options, keys.clone());
  const auto need = need_of(kFrameHeaderSize + server_hello_limits(*params.suite, params.hybrid).front().greatest);
  HandshakeInitiator initiator(std::move(params));
  const auto flush = [&] {
    while (auto datagram = transport.poll(now_ns())) send_to(fd, datagram->datagram, gcs);
  };
  auto m1 = initiator.start(now_ns());
  transport.expect(initiator.expecting());
  transport.start_hello(std::move(m1), need, false, now_ns());
  flush();
  initiator.prepare();
  for (const auto limit = began + 60'000'000'000; now_ns() < limit;) {
    const auto datagram = receive_until(fd, transport.deadline());
    if (datagram) {
      if (datagram->at(0) == kRetryType) {
        if (const auto cookie = open_retry(*datagram, options.attempt, keys.from_gcs))
          transport.set_cookie(*cookie, now_ns());
      } else if (tag_good(keys.from_gcs, *datagram)) {
        (void)transport.on_datagram(*datagram, 0, now_ns());
      }
    }
    if (auto message = transport.take_message()) {
      auto step = initiator.on_data(*message, now_ns());
      if (step.status == HandshakeStatus::done) return now_ns() - began;
      if (step.status == HandshakeStatus::failed)
        throw TunnelError(Errc::state, describe(initiator.error(), initiator.reject_code(), true));
      if (step.busy_ms) continue;
      transport.expect(initiator.expecting());
      transport.start(std::move(step.send), now_ns());
    }
    flush();
  }
  throw TunnelError(Errc::state, "The handshake did not end.");
}

/// Exchanges the four messages' datagrams between two threads that compute nothing, as a first handshake without loss
/// does: M1 padded to pay for M2, of M2 first what rule 3 allows to an address that has not answered (three times M1),
/// the rest when the drone's ACK came; M3; M4.
class BareExchange {
 public:
  BareExchange(std::size_t m1, std::size_t m2, std::size_t m3, std::size_t m4)
      : m1_{HelloSchedule::padded_sizes(m1 + 30, need_of(m2), kDatagramLimit).first},
        m2_(datagrams(m2)),
        m3_(datagrams(m3)),
        m4_(datagrams(m4)),
        server_(open_udp(resolve("127.0.0.1", 0, true, SOCK_DGRAM), {}, "the bare exchange")),
        address_(local_address(server_)) {
    auto allowed = 3 * m1_.front();
    while (!m2_.empty() && m2_.front() <= allowed) {
      allowed -= m2_.front();
      m2_first_.push_back(m2_.front());
      m2_.erase(m2_.begin());
    }
  }

  double once_us() {
    const Fd client = open_udp(resolve("127.0.0.1", 0, true, SOCK_DGRAM), {}, "the bare exchange");
    const auto home = local_address(client);
    std::thread gcs([&] {
      take(server_, 1);
      give(server_, m2_first_, home);
      if (!m2_.empty()) {
        take(server_, 1);
        give(server_, m2_, home);
      }
      take(server_, m3_.size());
      give(server_, m4_, home);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the other end waits in poll, as ours does
    const auto began = now_ns();
    give(client, m1_, address_);
    take(client, 1);
    if (!m2_.empty()) give(client, {kAckSize}, address_);
    take(client, m2_first_.size() - 1 + m2_.size());
    give(client, m3_, address_);
    take(client, m4_.size());
    const auto took = now_ns() - began;
    gcs.join();
    return static_cast<double>(took) / 1e3;
  }

 private:
  static constexpr std::size_t kAckSize = 32;
  static std::vector<std::size_t> datagrams(std::size_t message) {
    std::vector<std::size_t> out;
    if (message <= kDatagramLimit - 30u) return {message + 30};
    for (std::size_t done = 0; done < message; done += kDatagramLimit - 50u)
      out.push_back(std::min<std::size_t>(message - done, kDatagramLimit - 50u) + 41);
    return out;
  }
  /// Not more at once than a socket's buffer holds: the receiver is asked in between.
  static void give(const Fd& fd, const std::vector<std::size_t>& sizes, const SockAddr& to) {
    const Bytes zeros(2048);
    std::size_t n = 0;
    for (const auto size : sizes) {
      send_to(fd, ByteView(zeros).first(size), to);
      if (++n % 64 == 0) std::this_thread::yield();
    }
  }
  static void take(const Fd& fd, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      if (!receive_until(fd, now_ns() + 500'000'000)) return;  // lost to a full buffer: as good as come
  }
  std::vector<std::size_t> m1_, m2_first_, m2_, m3_, m4_;
  Fd server_;
  SockAddr address_;
};

}  // namespace pqcmav::bench
