// SPDX-License-Identifier: Apache-2.0
// The drone's handshake over TCP: one connection per attempt, driven by the socket-free initiator.
#pragma once

#include <functional>
#include <string>

#include "handshake/handshake.hpp"
#include "net/net.hpp"

namespace pqcmav {

struct ClientOutcome {
  HandshakeError error = HandshakeError::none;
  std::uint8_t reject_code = 0;
  std::string reason;     // sentence, "" when ok
  bool answered = false;  // a gcs said something; otherwise nothing is known but that it could not be reached
  SessionKeys keys;       // when ok
  SockAddr gcs;           // the address that answered, with the handshake port
  std::uint64_t connect_ns = 0, duration_ns = 0;
  HandshakeTimes times;
};

/// Connects to host:port, to the first of its addresses that is `usable` and answers, and runs one handshake; ends
/// early with `cancelled` when `cancel_fd` (an eventfd) becomes readable. Blocks for up to the handshake limit. Errors
/// come in the outcome, nothing is thrown.
ClientOutcome run_client_handshake(
    const std::string& host, std::uint16_t port, InitiatorParams params, int cancel_fd,
    const std::function<bool(const SockAddr&)>& usable = [](const SockAddr&) { return true; });

}  // namespace pqcmav
