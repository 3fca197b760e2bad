// SPDX-License-Identifier: Apache-2.0
// What a gcs hands a drone in a session for the time after it: the token that it shows when it was restarted
// (docs/protocol.md section 9), and what the drone is known by when it comes back (section 6).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bytes.hpp"
#include "handshake/handshake.hpp"
#include "net/counters.hpp"
#include "session/control_frame.hpp"

namespace pqcmav {

/// The hashes of the tokens of a drone's newest sessions.
class RestartTokens {
 public:
  /// The token of that session; another one replaces it.
  void know(const SessionId& session, const RestartToken& token);
  struct Judged {
    HandshakeDrop outcome = HandshakeDrop::unknown;
    std::optional<SessionId> restarted;  // the gcs of this session was; told once
  };
  /// A datagram whose first byte is kRestartType.
  [[nodiscard]] Judged judge(ByteView datagram, std::uint64_t now);

 private:
  struct Token {
    SessionId session{};
    Hash hash{};
    std::uint64_t taken_ns = 0;  // 0: not yet
  };
  std::vector<Token> tokens_;  // two for each of two sessions
};

[[nodiscard]] ReturnTicket ticket_of(const ReturnGrant& grant);

}  // namespace pqcmav
