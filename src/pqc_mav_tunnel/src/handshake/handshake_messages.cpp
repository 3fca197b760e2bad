// SPDX-License-Identifier: Apache-2.0
#include "handshake/handshake_messages.hpp"

#include <algorithm>

#include "pqc_mav_tunnel/keystore.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kLp = 4;
constexpr std::uint8_t kFlagHybrid = 1, kFlagDroneSigns = 2, kFlagStandby = 4;
constexpr std::size_t kHelloFixed =
    2 * kLp + kNonceSize + 3 * kLp + 1 + kSessionIdSize + 1 + 2 + 1 + 2 + 4 + kLp + kHashSize;
constexpr std::size_t kSignedFixed = kSessionIdSize + kNonceSize + 1 + 2 + 2 + 2 * kLp;
constexpr std::size_t kRejectSize = 1 + 2 + kHashSize;

std::size_t x25519_size(bool hybrid) noexcept { return hybrid ? kX25519Size : 0; }

/// One lp field of exactly `size` bytes.
bool lp_exact(ByteReader& reader, std::size_t size, ByteView& out) noexcept {
  const auto field = reader.lp(size);
  if (!field || field->size() != size) return false;
  out = *field;
  return true;
}

bool lp_text(ByteReader& reader, std::size_t limit, std::string_view& out) noexcept {
  const auto field = reader.lp(limit);
  if (field) out = as_text(*field);
  return field.has_value();
}

}  // namespace

Bytes encode_client_hello(const ClientHello& hello) {
  const auto size = kHelloFixed + hello.drone_id.size() + hello.gcs_id.size() + hello.suite.size() +
                    hello.kem_name.size() + hello.sig_name.size() + (hello.return_proof.empty() ? 0 : kReturnProofSize);
  auto frame = start_frame(MessageType::client_hello, size);
  append_lp(frame, as_bytes(hello.drone_id));
  append_lp(frame, as_bytes(hello.gcs_id));
  append(frame, hello.nonce);
  append_lp(frame, as_bytes(hello.suite));
  append_lp(frame, as_bytes(hello.kem_name));
  append_lp(frame, as_bytes(hello.sig_name));
  append_be(frame,
            static_cast<std::uint8_t>((hello.hybrid ? kFlagHybrid : 0) | (hello.drone_signs ? kFlagDroneSigns : 0) |
                                      (hello.standby ? kFlagStandby : 0)));
  append(frame, hello.prev_session);
  append_be(frame, hello.epoch);
  append_be(frame, hello.features);
  append_be(frame, hello.index);
  append_be(frame, hello.max_datagram);
  append_be(frame, hello.term);
  append_be(frame, static_cast<std::uint32_t>(hello.return_proof.empty() ? 0 : kReturnProofSize));
  append(frame, hello.return_proof.first(std::min(hello.return_proof.size(), kReturnProofPrefix)));
  return frame;
}

std::vector<FrameLimits> client_hello_limits() {
  return {
      {MessageType::client_hello, kHelloFixed + 2, kHelloFixed + 2 * kDroneIdMax + 3 * kNameMax + kReturnProofSize}};
}

std::optional<ClientHello> parse_client_hello(ByteView body) noexcept {
  ByteReader reader(body);
  ClientHello hello;
  if (!lp_text(reader, kDroneIdMax, hello.drone_id) || !valid_drone_id(hello.drone_id)) return std::nullopt;
  if (!lp_text(reader, kDroneIdMax, hello.gcs_id) || !valid_drone_id(hello.gcs_id)) return std::nullopt;
  if (!reader.into(hello.nonce)) return std::nullopt;
  if (!lp_text(reader, kNameMax, hello.suite) || !lp_text(reader, kNameMax, hello.kem_name)) return std::nullopt;
  if (!lp_text(reader, kNameMax, hello.sig_name)) return std::nullopt;
  const auto flags = reader.be<std::uint8_t>();
  if (!flags || (*flags & ~(kFlagHybrid | kFlagDroneSigns | kFlagStandby)) != 0) return std::nullopt;
  hello.hybrid = (*flags & kFlagHybrid) != 0;
  hello.drone_signs = (*flags & kFlagDroneSigns) != 0;
  hello.standby = (*flags & kFlagStandby) != 0;
  if (!reader.into(hello.prev_session)) return std::nullopt;
  const auto epoch = reader.be<std::uint8_t>();
  const auto features = reader.be<std::uint16_t>();
  const auto index = reader.be<std::uint8_t>();
  const auto max_datagram = reader.be<std::uint16_t>();
  const auto term = reader.be<std::uint32_t>();
  const auto proof = reader.lp(kReturnProofSize);
  if (!proof || (!proof->empty() && proof->size() != kReturnProofSize)) return std::nullopt;
  if (!reader.into(hello.gate) || !reader.empty()) return std::nullopt;
  if (*max_datagram < kDatagramSmall) return std::nullopt;
  if (hello.standby && (*features & features::kStations) == 0) return std::nullopt;
  hello.epoch = *epoch;
  hello.features = *features;
  hello.index = *index;
  hello.max_datagram = *max_datagram;
  hello.term = *term;
  hello.return_proof = *proof;
  return hello;
}

Bytes encode_server_hello(const ServerHello& hello, std::size_t signature_max) {
  const auto size = kSignedFixed + hello.kem_public.size() + hello.x25519_public.size() + kLp + signature_max;
  auto frame = start_frame(MessageType::server_hello, size);
  append(frame, hello.session_id);
  append(frame, hello.nonce);
  append_be(frame, hello.epoch);
  append_be(frame, hello.features);
  append_be(frame, hello.index);
  append_lp(frame, hello.kem_public);
  append_lp(frame, hello.x25519_public);
  return frame;
}

std::size_t signed_end_of_m2(const Suite& suite, bool hybrid) noexcept {
  return kFrameHeaderSize + kSignedFixed + suite.kem->public_key + x25519_size(hybrid);
}

void finish_server_hello(Bytes& unfinished, ByteView signature) {
  append_lp(unfinished, signature);
  store_be(unfinished.data(), static_cast<std::uint32_t>(unfinished.size() - kFrameHeaderSize));
}

std::vector<FrameLimits> server_hello_limits(const Suite& suite, bool hybrid) {
  const auto fixed = kSignedFixed + suite.kem->public_key + x25519_size(hybrid) + kLp;
  return {{MessageType::server_hello, fixed + 1, fixed + suite.sig->signature_max},
          {MessageType::reject, kRejectSize, kRejectSize}};
}

std::optional<ServerHello> parse_server_hello(ByteView body, const Suite& suite, bool hybrid) noexcept {
  ByteReader reader(body);
  ServerHello hello;
  if (!reader.into(hello.session_id) || hello.session_id == SessionId{} || !reader.into(hello.nonce))
    return std::nullopt;
  const auto epoch = reader.be<std::uint8_t>();
  const auto features = reader.be<std::uint16_t>();
  const auto index = reader.be<std::uint16_t>();
  if (!index || !lp_exact(reader, suite.kem->public_key, hello.kem_public)) return std::nullopt;
  hello.features = *features;
  hello.index = *index;
  if (!lp_exact(reader, x25519_size(hybrid), hello.x25519_public)) return std::nullopt;
  hello.epoch = *epoch;
  const auto signature = reader.lp(suite.sig->signature_max);
  if (!signature || signature->empty() || !reader.empty()) return std::nullopt;
  hello.signature = *signature;
  return hello;
}

Bytes encode_client_finish(const ClientFinish& finish) {
  const auto size =
      3 * kLp + finish.ciphertext.size() + finish.x25519_public.size() + finish.signature.size() + kHashSize;
  auto frame = start_frame(MessageType::client_finish, size);
  append_lp(frame, finish.ciphertext);
  append_lp(frame, finish.x25519_public);
  append_lp(frame, finish.signature);
  append(frame, finish.confirm);
  return frame;
}

std::vector<FrameLimits> client_finish_limits(const Suite& suite, bool hybrid, bool drone_signs) {
  const auto fixed = 3 * kLp + suite.kem->ciphertext + x25519_size(hybrid) + kHashSize;
  if (!drone_signs) return {{MessageType::client_finish, fixed, fixed}};
  return {{MessageType::client_finish, fixed + 1, fixed + suite.sig->signature_max}};
}

std::optional<ClientFinish> parse_client_finish(ByteView body, const Suite& suite, bool hybrid,
                                                bool drone_signs) noexcept {
  ByteReader reader(body);
  ClientFinish finish;
  if (!lp_exact(reader, suite.kem->ciphertext, finish.ciphertext)) return std::nullopt;
  if (!lp_exact(reader, x25519_size(hybrid), finish.x25519_public)) return std::nullopt;
  const auto signature = reader.lp(drone_signs ? suite.sig->signature_max : 0);
  if (!signature || signature->empty() == drone_signs) return std::nullopt;
  finish.signature = *signature;
  if (!reader.into(finish.confirm) || !reader.empty()) return std::nullopt;
  return finish;
}

Bytes encode_server_finish(const Hash& confirm) {
  auto frame = start_frame(MessageType::server_finish, confirm.size());
  append(frame, confirm);
  return frame;
}

std::vector<FrameLimits> server_finish_limits() { return {{MessageType::server_finish, kHashSize, kHashSize}}; }

std::optional<Hash> parse_server_finish(ByteView body) noexcept {
  ByteReader reader(body);
  Hash confirm;
  if (!reader.into(confirm) || !reader.empty()) return std::nullopt;
  return confirm;
}

Bytes encode_reject(const Refusal& refusal) {
  auto frame = start_frame(MessageType::reject, kRejectSize);
  append_be(frame, static_cast<std::uint8_t>(refusal.code));
  append_be(frame, refusal.retry_ms);
  append(frame, refusal.mac);
  return frame;
}

std::optional<Refusal> parse_reject(ByteView body) noexcept {
  ByteReader reader(body);
  Refusal out{};
  const auto code = reader.be<std::uint8_t>();
  const auto retry_ms = reader.be<std::uint16_t>();
  if (!retry_ms || !reader.into(out.mac) || !reader.empty()) return std::nullopt;
  if (*code < static_cast<std::uint8_t>(Reject::suite_unknown) || *code > static_cast<std::uint8_t>(Reject::busy))
    return std::nullopt;
  out.code = static_cast<Reject>(*code);
  out.retry_ms = *retry_ms;
  return out;
}

}  // namespace pqcmav
