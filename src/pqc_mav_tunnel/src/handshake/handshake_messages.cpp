// SPDX-License-Identifier: Apache-2.0
#include "handshake/handshake_messages.hpp"

#include <algorithm>

#include "pqc_mav_tunnel/keystore.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kLp = 4;
constexpr std::uint8_t kFlagHybrid = 1, kFlagDroneSigns = 2;
constexpr std::size_t kHelloFixed = kLp + kNonceSize + 3 * kLp + 1 + kSessionIdSize + 1 + kHashSize;
constexpr std::size_t kSignedFixed = kSessionIdSize + kNonceSize + 1 + 2 * kLp;

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

Bytes encode_challenge(const Cookie& cookie) {
  auto frame = start_frame(MessageType::challenge, kMagic.size() + cookie.size());
  append(frame, as_bytes(kMagic));
  append(frame, cookie);
  return frame;
}

std::vector<FrameLimits> challenge_limits() {
  return {{MessageType::challenge, kMagic.size() + kCookieSize, kMagic.size() + kCookieSize}};
}

bool is_challenge(ByteView body) noexcept {
  return body.size() >= kMagic.size() && as_text(body.first(kMagic.size())) == kMagic;
}

Bytes encode_client_hello(const ClientHello& hello) {
  const auto size =
      kHelloFixed + hello.drone_id.size() + hello.suite.size() + hello.kem_name.size() + hello.sig_name.size();
  auto frame = start_frame(MessageType::client_hello, size);
  append_lp(frame, as_bytes(hello.drone_id));
  append(frame, hello.nonce);
  append_lp(frame, as_bytes(hello.suite));
  append_lp(frame, as_bytes(hello.kem_name));
  append_lp(frame, as_bytes(hello.sig_name));
  append_be(frame,
            static_cast<std::uint8_t>((hello.hybrid ? kFlagHybrid : 0) | (hello.drone_signs ? kFlagDroneSigns : 0)));
  append(frame, hello.prev_session);
  append_be(frame, hello.epoch);
  return frame;
}

std::vector<FrameLimits> client_hello_limits() {
  return {{MessageType::client_hello, kHelloFixed + 1, kHelloFixed + kDroneIdMax + 3 * kNameMax}};
}

std::optional<ClientHello> parse_client_hello(ByteView body) noexcept {
  ByteReader reader(body);
  ClientHello hello;
  if (!lp_text(reader, kDroneIdMax, hello.drone_id) || !valid_drone_id(hello.drone_id)) return std::nullopt;
  if (!reader.into(hello.nonce)) return std::nullopt;
  if (!lp_text(reader, kNameMax, hello.suite) || !lp_text(reader, kNameMax, hello.kem_name)) return std::nullopt;
  if (!lp_text(reader, kNameMax, hello.sig_name)) return std::nullopt;
  const auto flags = reader.be<std::uint8_t>();
  if (!flags || (*flags & ~(kFlagHybrid | kFlagDroneSigns)) != 0) return std::nullopt;
  hello.hybrid = (*flags & kFlagHybrid) != 0;
  hello.drone_signs = (*flags & kFlagDroneSigns) != 0;
  if (!reader.into(hello.prev_session)) return std::nullopt;
  const auto epoch = reader.be<std::uint8_t>();
  if (!epoch || !reader.into(hello.gate) || !reader.empty()) return std::nullopt;
  hello.epoch = *epoch;
  return hello;
}

Bytes encode_server_hello(const ServerHello& hello, std::size_t signature_max) {
  const auto size = kSignedFixed + hello.kem_public.size() + hello.x25519_public.size() + kLp + signature_max;
  auto frame = start_frame(MessageType::server_hello, size);
  append(frame, hello.session_id);
  append(frame, hello.nonce);
  append_be(frame, hello.epoch);
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
  return {{MessageType::server_hello, fixed + 1, fixed + suite.sig->signature_max}, {MessageType::reject, 1, 1}};
}

std::optional<ServerHello> parse_server_hello(ByteView body, const Suite& suite, bool hybrid) noexcept {
  ByteReader reader(body);
  ServerHello hello;
  if (!reader.into(hello.session_id) || hello.session_id == SessionId{} || !reader.into(hello.nonce))
    return std::nullopt;
  const auto epoch = reader.be<std::uint8_t>();
  if (!epoch || !lp_exact(reader, suite.kem->public_key, hello.kem_public)) return std::nullopt;
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

Bytes encode_reject(Reject code) {
  auto frame = start_frame(MessageType::reject, 1);
  append_be(frame, static_cast<std::uint8_t>(code));
  return frame;
}

std::optional<Reject> parse_reject(ByteView body) noexcept {
  if (body.size() != 1 || body[0] < static_cast<std::uint8_t>(Reject::suite_unknown) ||
      body[0] > static_cast<std::uint8_t>(Reject::session_unknown)) {
    return std::nullopt;
  }
  return static_cast<Reject>(body[0]);
}

}  // namespace pqcmav
