// SPDX-License-Identifier: Apache-2.0
// Which kind of rekey a drone begins by itself, and when (docs/protocol.md section 12). No clock: ages are arguments, in
// ns.
#pragma once

#include <cstdint>

#include "pqc_mav_tunnel/handshake_outcome.hpp"
#include "session/session.hpp"

namespace pqcmav {

struct RekeyFacts {
  bool large = false;     // a full handshake of this suite has a long M2
  bool ratchets = false;  // both ends allow them, and one may follow now
  std::uint8_t in_a_row = 0;
  std::uint64_t interval = 0;      // 0 = no periodic rekeys
  std::uint64_t since_change = 0;  // of keys
  std::uint64_t since_full = 0, key_limit = 0;
  unsigned late_failures = 0;  // since twice the interval has passed
};

/// Of a session with these keys, `now` and at `boot` by the clock that counts while the machine sleeps. The rest of the
/// facts is the caller's.
[[nodiscard]] RekeyFacts facts_of(const Session::Info& key, bool key_old, std::uint64_t now, std::uint64_t boot);

/// Have two intervals passed without new keys?
[[nodiscard]] bool rekey_is_late(const RekeyFacts& facts) noexcept;
[[nodiscard]] HandshakeKind next_rekey(const RekeyFacts& facts) noexcept;

/// For how long a session with these features may still be ratcheted; 0 = not now. For who plans renewals elsewhere.
[[nodiscard]] std::uint64_t ratchets_for(std::uint16_t features, std::uint8_t in_a_row, std::uint64_t since_full,
                                         std::uint64_t key_limit) noexcept;

}  // namespace pqcmav
