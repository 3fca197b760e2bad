// SPDX-License-Identifier: Apache-2.0
// What each end of a handshake or ratchet keeps, whatever its messages: what comes, how far it is, what it took, and the
// keys once it is done.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "handshake/handshake.hpp"
#include "handshake/handshake_clock.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {

struct HandshakeEnd {
  HandshakeEnd() = default;
  HandshakeEnd(const HandshakeEnd&) = delete;
  HandshakeEnd& operator=(const HandshakeEnd&) = delete;

  HandshakeStep answer(std::size_t message, Bytes frame) {
    times.bytes_sent += frame.size();
    clock.sent(message);
    return {status, std::move(frame), {}};
  }

  SessionKeys take_keys(const char* of) {
    if (status != HandshakeStatus::done || std::exchange(keys_taken, true))
      throw TunnelError(Errc::state, std::string("Keys can be taken once, after the ") + of + " is done.");
    return std::move(keys);
  }

  FrameReader reader;
  HandshakeStatus status = HandshakeStatus::working;
  HandshakeError error = HandshakeError::none;
  std::uint8_t reject_code = 0;
  HandshakeTimes times;
  PhaseClock clock{times};
  SessionKeys keys;
  bool keys_taken = false;
};

/// What an end makes of `received`, unless it is over already. Whatever `work` throws ends it.
template <typename End, typename Work>
HandshakeStep step_of(End& end, ByteView received, std::uint64_t now_ns, const Work& work) {
  if (end.status != HandshakeStatus::working) return {end.status, {}, {}};
  end.clock.enter(now_ns);
  end.times.bytes_received += received.size();
  try {
    return work();
  } catch (const std::exception&) {
    return end.fail(HandshakeError::crypto);
  }
}

}  // namespace pqcmav
