// SPDX-License-Identifier: Apache-2.0
#include "control/rekey_plan.hpp"

#include "constants.hpp"
#include "control/admission.hpp"
#include "handshake/ratchet.hpp"

namespace pqcmav {

RekeyFacts facts_of(const Session::Info& key, bool key_old, std::uint64_t now, std::uint64_t boot) {
  RekeyFacts out;
  out.large = longest_server_hello(*key.suite, key.hybrid) > kLargeServerHello;
  out.ratchets = bar_of(key.features, key.ratchets, key_old) == RatchetBar::none;
  out.in_a_row = key.ratchets;
  out.since_change = now - key.installed_ns;
  out.since_full = boot - key.full_boot_ns;
  return out;
}

bool rekey_is_late(const RekeyFacts& facts) noexcept {
  return facts.interval > 0 && facts.since_change >= 2 * facts.interval;
}

HandshakeKind next_rekey(const RekeyFacts& facts) noexcept {
  if (!facts.ratchets) return HandshakeKind::rekey;
  if (rekey_is_late(facts)) {
    // What does not get through may be too long for the link: ever shorter, and then all over again, for only a full
    // handshake heals everything.
    constexpr HandshakeKind kInTurn[] = {HandshakeKind::ratchet, HandshakeKind::ratchet_plain, HandshakeKind::rekey};
    return kInTurn[facts.late_failures % 3];
  }
  if (!facts.large || facts.in_a_row + 1 >= kRatchetsInARow) return HandshakeKind::rekey;
  // The next one would come too late for the limit: no link should see KEY_OLD because all went well.
  const auto next = facts.since_full + facts.interval + facts.interval / 10;
  return next < facts.key_limit ? HandshakeKind::ratchet : HandshakeKind::rekey;
}

std::uint64_t ratchets_for(std::uint16_t features, std::uint8_t in_a_row, std::uint64_t since_full,
                           std::uint64_t key_limit) noexcept {
  const bool old = since_full >= key_limit;
  return bar_of(features, in_a_row, old) == RatchetBar::none ? key_limit - since_full : 0;
}

}  // namespace pqcmav
