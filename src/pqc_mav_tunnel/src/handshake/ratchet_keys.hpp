// SPDX-License-Identifier: Apache-2.0
// What both ends of a ratchet make of its secrets.
#pragma once

#include <utility>

#include "handshake/handshake.hpp"
#include "handshake/key_schedule.hpp"

namespace pqcmav {

inline std::uint8_t next_epoch(const RunningSession& session) noexcept {
  return static_cast<std::uint8_t>(session.epoch + 1);
}

/// The keys that follow those of `session`, which lends them what only a full handshake settles. Takes what it needs
/// out of `secrets`.
inline SessionKeys ratcheted(const RunningSession& session, const SessionId& id, HandshakeSecrets& secrets) {
  SessionKeys keys;
  keys.suite = session.suite;
  keys.hybrid = session.hybrid;
  keys.drone_signed = session.drone_signed;
  keys.session_id = id;
  keys.epoch = next_epoch(session);
  keys.k_d2g = std::move(secrets.k_d2g);
  keys.k_g2d = std::move(secrets.k_g2d);
  keys.chain = std::move(secrets.chain);
  keys.features = session.features;
  keys.ratchets = static_cast<std::uint8_t>(session.ratchets + 1);
  keys.full_boot_ns = session.full_boot_ns;
  return keys;
}

}  // namespace pqcmav
