// SPDX-License-Identifier: Apache-2.0
// The two messages of a ratchet: their fields, sizes and bytes (docs/protocol.md section 7). No cryptography here.
// Parsed fields are views into the frame they came from.
#pragma once

#include <optional>
#include <vector>

#include "constants.hpp"
#include "handshake/handshake_messages.hpp"

namespace pqcmav {

struct RatchetHello {
  std::uint8_t flags = 0;  // which fresh shares it has: kRatchetX25519, kRatchetKem
  std::uint8_t index = 0;
  Nonce nonce{};
  ByteView x25519_public, kem_public;  // each empty without its flag
};
Bytes encode_ratchet_hello(const RatchetHello& hello);
std::vector<FrameLimits> ratchet_hello_limits();
/// nullopt where flags and fields disagree. Whether this session allows these flags, and a KEM key of this length, is
/// the caller's to judge.
std::optional<RatchetHello> parse_ratchet_hello(ByteView body) noexcept;

struct RatchetAnswer {
  SessionId session_id{};
  std::uint16_t index = 0;
  Nonce nonce{};
  ByteView x25519_public, ciphertext;
  Hash confirm{};
};
/// R2-: all but its last field, which the header counts. Append the 32 bytes of `confirm`.
Bytes encode_ratchet_answer(const RatchetAnswer& answer);
/// The answer to these flags in a session with this KEM, or Reject in its place.
std::vector<FrameLimits> ratchet_answer_limits(std::uint8_t flags, const KemInfo& kem);
std::optional<RatchetAnswer> parse_ratchet_answer(ByteView body, std::uint8_t flags, const KemInfo& kem) noexcept;

}  // namespace pqcmav
