// SPDX-License-Identifier: Apache-2.0
#include "handshake/ratchet_messages.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kField = 4;  // the length before a field
constexpr std::size_t kHelloAround = 1 + 1 + kNonceSize + 2 * kField;
constexpr std::size_t kAnswerAround = kSessionIdSize + 2 + kNonceSize + 2 * kField + kHashSize;
constexpr std::size_t kKemPublicMost = 1568;  // ML-KEM-1024's
constexpr std::size_t kRefusalSize = 1 + 2 + kHashSize;

static_assert(kFrameHeaderSize + kHelloAround + kX25519Size + kKemPublicMost <= kRatchetFrameMost);

constexpr std::size_t x25519_part(std::uint8_t flags) noexcept {
  return (flags & kRatchetX25519) != 0 ? kX25519Size : 0;
}

bool field_of(ByteReader& reader, std::size_t least, std::size_t most, ByteView& out) noexcept {
  const auto field = reader.lp(most);
  if (!field || field->size() < least) return false;
  out = *field;
  return true;
}

}  // namespace

Bytes encode_ratchet_hello(const RatchetHello& hello) {
  auto frame =
      start_frame(MessageType::ratchet_hello, kHelloAround + hello.x25519_public.size() + hello.kem_public.size());
  append_be(frame, hello.flags);
  append_be(frame, hello.index);
  append(frame, hello.nonce);
  append_lp(frame, hello.x25519_public);
  append_lp(frame, hello.kem_public);
  return frame;
}

std::vector<FrameLimits> ratchet_hello_limits() {
  return {{MessageType::ratchet_hello, kHelloAround, kHelloAround + kX25519Size + kKemPublicMost}};
}

std::optional<RatchetHello> parse_ratchet_hello(ByteView body) noexcept {
  ByteReader reader(body);
  RatchetHello hello;
  const auto flags = reader.be<std::uint8_t>();
  const auto index = reader.be<std::uint8_t>();
  if (!flags || (*flags & ~(kRatchetX25519 | kRatchetKem)) != 0 || !index) return std::nullopt;
  hello.flags = *flags;
  hello.index = *index;
  const bool fresh_kem = (*flags & kRatchetKem) != 0;
  if (!reader.into(hello.nonce)) return std::nullopt;
  if (!field_of(reader, x25519_part(*flags), x25519_part(*flags), hello.x25519_public)) return std::nullopt;
  if (!field_of(reader, fresh_kem ? 1 : 0, fresh_kem ? kKemPublicMost : 0, hello.kem_public)) return std::nullopt;
  if (!reader.empty()) return std::nullopt;
  return hello;
}

Bytes encode_ratchet_answer(const RatchetAnswer& answer) {
  auto frame =
      start_frame(MessageType::ratchet_answer, kAnswerAround + answer.x25519_public.size() + answer.ciphertext.size());
  append(frame, answer.session_id);
  append_be(frame, answer.index);
  append(frame, answer.nonce);
  append_lp(frame, answer.x25519_public);
  append_lp(frame, answer.ciphertext);
  return frame;
}

std::vector<FrameLimits> ratchet_answer_limits(std::uint8_t flags, const KemInfo& kem) {
  const auto size = kAnswerAround + x25519_part(flags) + ((flags & kRatchetKem) != 0 ? kem.ciphertext : 0);
  return {{MessageType::ratchet_answer, size, size}, {MessageType::reject, kRefusalSize, kRefusalSize}};
}

std::optional<RatchetAnswer> parse_ratchet_answer(ByteView body, std::uint8_t flags, const KemInfo& kem) noexcept {
  ByteReader reader(body);
  RatchetAnswer answer;
  if (!reader.into(answer.session_id) || answer.session_id == SessionId{}) return std::nullopt;
  const auto index = reader.be<std::uint16_t>();
  if (!index || !reader.into(answer.nonce)) return std::nullopt;
  answer.index = *index;
  const auto ciphertext = (flags & kRatchetKem) != 0 ? kem.ciphertext : 0;
  if (!field_of(reader, x25519_part(flags), x25519_part(flags), answer.x25519_public)) return std::nullopt;
  if (!field_of(reader, ciphertext, ciphertext, answer.ciphertext)) return std::nullopt;
  if (!reader.into(answer.confirm) || !reader.empty()) return std::nullopt;
  return answer;
}

}  // namespace pqcmav
