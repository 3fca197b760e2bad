// SPDX-License-Identifier: Apache-2.0
// The drone's half of one handshake as it goes over the air, without sockets, threads and clock: datagrams and times in;
// datagrams, whole messages and the next time out (docs/protocol.md section 5). What the messages say is the affair of
// an initiator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "clock.hpp"
#include "handshake/handshake.hpp"
#include "handshake/ratchet.hpp"
#include "handshake/transport.hpp"
#include "net/counters.hpp"
#include "net/net.hpp"

namespace pqcmav {

/// For so long what still answers an attempt that ended, or shows a token that was taken, is no stranger's.
inline constexpr std::uint64_t kEndedEchoNs = 30'000'000'000;

class ClientAttempt {
 public:
  /// A first handshake with the gcs at one of `targets`, or, without targets, a rekey inside the running session.
  ClientAttempt(const InitiatorParams& params, std::vector<SockAddr> targets, std::uint64_t now);
  /// A ratchet inside the running session.
  ClientAttempt();

  /// `hello`, M1 or R1, is to go out. `known` is what the session knows of the way, `wire_ns` as in TransportOptions.
  /// Before anything else.
  void begin(Bytes hello, std::vector<FrameLimits> answers, const KnownLink& known, std::uint64_t wire_ns,
             std::uint64_t now);
  /// One outside sessions, of types 0x43 and 0x53.
  HandshakeDrop on_datagram(ByteView datagram, const SockAddr& source, std::uint64_t now);
  /// The value of a TLV 32 of the running session. False when it is of another attempt.
  bool on_session_part(ByteView value, std::uint64_t now);
  struct Incoming {
    Bytes message;
    SockAddr from;  // empty inside a session
  };
  /// The message that became complete, once.
  [[nodiscard]] std::optional<Incoming> take_message() noexcept { return std::exchange(incoming_, std::nullopt); }
  /// The initiator's answer to it, and what may come next.
  void reply(Bytes frame, std::vector<FrameLimits> expecting, std::uint64_t now);
  /// The gcs is busy: M1 waits for so long, and the attempt has that much more patience.
  void ask_again(std::uint16_t after_ms, std::uint64_t now);
  /// The data plane makes room for it.
  void widen() noexcept { transport_->widen(); }

  /// The next datagram for target(), or the value of a TLV 32; call until nullopt after everything above, and whenever
  /// deadline() has come.
  [[nodiscard]] std::optional<Bytes> poll(std::uint64_t now);
  /// When poll() or over() is due next.
  [[nodiscard]] std::uint64_t deadline() const noexcept;
  /// Has it taken too long?
  [[nodiscard]] bool over(std::uint64_t now) const noexcept { return now >= std::min(limit_ns_, gives_up_ns()); }
  /// The answer of the one that is over: a busy gcs was the last that it heard, or it was left alone.
  [[nodiscard]] HandshakeError ended_by() const noexcept {
    return busy_ ? HandshakeError::rejected : HandshakeError::timeout;
  }

  [[nodiscard]] bool in_session() const noexcept { return targets_.empty(); }
  [[nodiscard]] const std::vector<SockAddr>& targets() const noexcept { return targets_; }
  /// Of one outside sessions: where its datagrams go.
  [[nodiscard]] const SockAddr& target() const noexcept { return targets_[target_]; }
  /// Has it heard nothing at all?
  [[nodiscard]] bool silent() const noexcept { return silent_; }
  [[nodiscard]] std::uint32_t stalls() const noexcept { return transport_->stalls(); }
  /// See Transport::full_round_trip().
  [[nodiscard]] std::optional<std::uint64_t> full_round_trip() const noexcept { return transport_->full_round_trip(); }
  [[nodiscard]] const AttemptId& name() const noexcept { return options_.attempt; }
  [[nodiscard]] const FragmentKeys& keys() const noexcept { return keys_; }

 private:
  HandshakeDrop take(ByteView datagram, const SockAddr& source, std::uint64_t now);
  /// When there was no progress for too long; what it was asked to wait does not count.
  [[nodiscard]] std::uint64_t gives_up_ns() const noexcept {
    return std::max(transport_->last_progress(), held_until_ns_) + to_ns(kNoProgressLimit);
  }

  FragmentKeys keys_;
  TransportOptions options_;
  std::optional<Transport> transport_;
  std::vector<SockAddr> targets_;  // empty: inside the session
  std::size_t target_ = 0;
  std::uint64_t next_target_ns_ = 0;
  std::size_t need_ = 0;
  bool proven_ = false;
  std::vector<FrameLimits> answers_;            // what may answer M1
  std::uint64_t limit_ns_ = Transport::kNever;  // inside a session nothing is lost by waiting: its keys go on working
  std::uint64_t held_until_ns_ = 0;             // a busy gcs asked for so much patience
  bool busy_ = false;                           // that is the last it said
  bool silent_ = true;
  std::optional<Incoming> incoming_;
};

}  // namespace pqcmav
