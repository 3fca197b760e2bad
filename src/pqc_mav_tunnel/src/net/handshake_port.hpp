// SPDX-License-Identifier: Apache-2.0
// The border between the data thread, which owns the sockets and the sessions, and the handshakes that run over both
// (docs/protocol.md sections 5 and 7).
#pragma once

#include <cstddef>
#include <cstdint>

#include "bytes.hpp"
#include "net/counters.hpp"
#include "net/net.hpp"
#include "session/control_frame.hpp"

namespace pqcmav {

// The first byte of what is no packet of a session.
inline constexpr std::uint8_t kFromDroneType = 0x33, kFromGcsType = 0x43, kRestartType = 0x63;  // and kRetryType

/// The handshakes of this process as the data thread drives them. Every call comes from the data thread, must be quick
/// and must not block.
class HandshakePort {
 public:
  virtual ~HandshakePort() = default;
  /// A datagram whose first byte is one of the four above, and which may come from that end.
  virtual HandshakeDrop on_datagram(ByteView datagram, const SockAddr& source, std::uint64_t now) = 0;
  /// What an authentic control frame of the running session carried in TLV 32.
  virtual void on_session_frame(std::size_t link, ByteView value, std::uint64_t now) = 0;
  /// A packet with a long header for a session that nobody here holds.
  virtual void on_unknown_session(const SessionId& session, const SockAddr& source, std::uint64_t now) = 0;
  /// The running session of a link was wiped or closed.
  virtual void on_session_ended(std::size_t link, std::uint64_t now) = 0;
  /// gcs: a drone is removed. Whatever runs with it ends, and nothing of it is kept.
  virtual void on_removed(std::size_t link, std::uint64_t now) = 0;
  /// gcs: the first packet under new keys came; the handshake that made them is over for both ends.
  virtual void on_switched(std::size_t link, std::uint64_t now) = 0;
  /// gcs: the drone's return grant is an hour old, or names an address where the drone no longer is.
  virtual void on_grant_due(std::size_t link, std::uint64_t now) = 0;
  /// drone: what the gcs handed out, to be known by when it comes back (TLV 33), and the token that a restarted gcs
  /// would show (TLV 34).
  virtual void on_return(const ReturnGrant& grant, std::size_t link) = 0;
  virtual void on_restart_token(const RestartToken& token, std::size_t link) = 0;
  /// Does what is due.
  virtual void run(std::uint64_t now) = 0;
  /// When run() is due next (monotonic ns), ~0 when nothing is.
  [[nodiscard]] virtual std::uint64_t deadline() const noexcept = 0;
};

}  // namespace pqcmav
