// SPDX-License-Identifier: Apache-2.0
#include "handshake/ratchet.hpp"

namespace pqcmav {

std::string_view describe(RatchetBar bar) noexcept {
  switch (bar) {
    case RatchetBar::none: return "Nothing bars a ratchet.";
    case RatchetBar::feature:
      return "The two ends did not agree on ratchets: 'ratchet' is off at one of them; ask for a full rekey.";
    case RatchetBar::in_a_row:
      return "Eight ratchets followed each other, and a full handshake must come first; ask for a full rekey.";
    case RatchetBar::key_age:
      return "The last full handshake is longer ago than key_limit_s, and a ratchet does not renew what is that old; "
             "ask for a full rekey.";
  }
  return "A ratchet is not allowed.";
}

RatchetBar bar_of(std::uint16_t features, std::uint8_t ratchets, bool key_old) noexcept {
  if ((features & features::kRatchet) == 0) return RatchetBar::feature;
  if (key_old) return RatchetBar::key_age;
  return ratchets >= kRatchetsInARow ? RatchetBar::in_a_row : RatchetBar::none;
}

std::uint8_t ratchet_flags(bool hybrid, bool fresh) noexcept {
  if (!fresh) return 0;
  return hybrid ? kRatchetX25519 | kRatchetKem : kRatchetKem;
}

const KemInfo& ratchet_kem(const Suite& suite) noexcept {
  return *find_kem(suite.level <= 1 ? "mlkem512" : suite.level <= 3 ? "mlkem768" : "mlkem1024");
}

std::string describe_ratchet(HandshakeError error, std::uint8_t reject_code, bool drone_side) {
  const bool not_now = reject_code == static_cast<std::uint8_t>(Reject::epoch);
  if (error == HandshakeError::rejected && drone_side && not_now)
    return "The ground station does not ratchet this session: eight followed each other, the last full handshake is "
           "longer ago than its key_limit_s, or its 'ratchet' is off; ask for a full rekey.";
  if (error == HandshakeError::refused_locally && !drone_side && not_now)
    return "Refused: this session may not be ratcheted now, or not with these flags and keys; the drone will do a full "
           "rekey.";
  return describe(error, reject_code, drone_side);
}

}  // namespace pqcmav
