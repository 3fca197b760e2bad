// SPDX-License-Identifier: Apache-2.0
#include "handshake/key_schedule.hpp"

#include "constants.hpp"
#include "handshake/handshake_frames.hpp"

namespace pqcmav {
namespace {

constexpr std::string_view kGate = "PQMAV/3 gate";
constexpr std::string_view kServerHello = "PQMAV/3 server hello";
constexpr std::string_view kClientFinish = "PQMAV/3 client finish";
constexpr std::string_view kDroneToGcs = "PQMAV/3 d2g";
constexpr std::string_view kGcsToDrone = "PQMAV/3 g2d";
constexpr std::string_view kConfirmClient = "PQMAV/3 confirm c";
constexpr std::string_view kConfirmServer = "PQMAV/3 confirm s";
constexpr std::string_view kChain = "PQMAV/3 chain";
constexpr std::string_view kReject = "PQMAV/3 reject";
constexpr std::string_view kRatchet = "PQMAV/3 ratchet";

ByteArray<4> length_of(ByteView field) noexcept {
  ByteArray<4> out;
  store_be(out.data(), static_cast<std::uint32_t>(field.size()));
  return out;
}

Bytes labelled(std::string_view label, const Hash& hash) {
  Bytes out;
  out.reserve(label.size() + hash.size());
  append(out, as_bytes(label));
  append(out, hash);
  return out;
}

/// lp(ss_kem) || lp(ss_x25519) || lp(ck_prev) || transcript, in memory that is wiped.
SecretBytes key_material(ByteView ss_kem, ByteView ss_x25519, ByteView ck_prev, const Hash& transcript) {
  SecretBytes out(4 + ss_kem.size() + 4 + ss_x25519.size() + 4 + ck_prev.size() + transcript.size());
  auto rest = out.mut();
  const auto put = [&rest](ByteView part) {
    if (!part.empty()) std::memcpy(rest.data(), part.data(), part.size());
    rest = rest.subspan(part.size());
  };
  put(length_of(ss_kem));
  put(ss_kem);
  put(length_of(ss_x25519));
  put(ss_x25519);
  put(length_of(ck_prev));
  put(ck_prev);
  put(transcript);
  return out;
}

/// `said_to`: the hash over what is refused.
Hash refusal_mac(const Psk& psk, const Hash& said_to, std::uint8_t code, std::uint16_t retry_ms) {
  Secret<32> key;
  hkdf_expand(psk.view(), as_bytes(kReject), key.mut());
  ByteArray<3> said;
  said[0] = code;
  store_be(said.data() + 1, retry_ms);
  return hmac_sha256(key.view(), {said_to, said});
}

}  // namespace

const Psk& decoy_psk() {
  static const Psk key = [] {
    Psk out;
    random_bytes(out.mut());
    return out;
  }();
  return key;
}

ByteView challenge() noexcept {
  static const Bytes frame = [] {
    auto out = start_frame(MessageType::challenge, kMagic.size() + 32);
    append(out, as_bytes(kMagic));
    out.resize(out.size() + 32);
    return out;
  }();
  return frame;
}

Hash gate_mac(const Psk& psk, ByteView m1_without_gate) {
  Secret<32> key;
  hkdf_expand(psk.view(), as_bytes(kGate), key.mut());
  return hmac_sha256(key.view(), {challenge(), m1_without_gate});
}

bool gate_good(const Psk& psk, ByteView m1) {
  if (m1.size() < kHashSize) return false;
  const auto split = m1.size() - kHashSize;
  return constant_time_equal(gate_mac(psk, m1.first(split)), m1.subspan(split));
}

Hash reject_mac(const Psk& psk, ByteView m1, std::uint8_t code, std::uint16_t retry_ms) {
  return refusal_mac(psk, sha256({challenge(), m1}), code, retry_ms);
}

Hash ratchet_reject_mac(const Psk& psk, ByteView r1, std::uint8_t code, std::uint16_t retry_ms) {
  return refusal_mac(psk, sha256({r1}), code, retry_ms);
}

Bytes server_hello_to_sign(const Hash& hello_hash) { return labelled(kServerHello, hello_hash); }

Bytes client_finish_to_sign(const Hash& h3) { return labelled(kClientFinish, h3); }

Hash transcript_h3(const Hash& h2, ByteView ciphertext, ByteView x25519_public) {
  return sha256({h2, length_of(ciphertext), ciphertext, length_of(x25519_public), x25519_public});
}

Hash transcript_t3(const Hash& h3, ByteView drone_signature) {
  if (drone_signature.empty()) return h3;
  return sha256({h3, length_of(drone_signature), drone_signature});
}

Hash transcript_ratchet(ByteView r1, ByteView r2_unconfirmed) {
  return sha256({as_bytes(kRatchet), r1, r2_unconfirmed});
}

HandshakeSecrets derive_secrets(const Psk& psk, ByteView ss_kem, ByteView ss_x25519, ByteView ck_prev,
                                const Hash& transcript, std::string_view suite_id, const SessionId& session_id,
                                std::uint8_t epoch) {
  const auto prk = hkdf_extract(psk.view(), key_material(ss_kem, ss_x25519, ck_prev, transcript).view());
  const auto expand = [&](std::string_view label, Secret<32>& out) {
    Bytes info;
    append(info, as_bytes(label));
    append(info, length_of(as_bytes(suite_id)));
    append(info, as_bytes(suite_id));
    append(info, session_id);
    append_be(info, epoch);
    hkdf_expand(prk.view(), info, out.mut());
  };
  HandshakeSecrets secrets;
  expand(kDroneToGcs, secrets.k_d2g);
  expand(kGcsToDrone, secrets.k_g2d);
  expand(kConfirmClient, secrets.k_cc);
  expand(kConfirmServer, secrets.k_cs);
  expand(kChain, secrets.chain);
  return secrets;
}

Hash confirm_client(const Secret<32>& k_cc, const Hash& t3) { return hmac_sha256(k_cc.view(), {t3}); }

Hash confirm_server(const Secret<32>& k_cs, const Hash& t3, const Hash& confirm_c) {
  return hmac_sha256(k_cs.view(), {sha256({t3, confirm_c})});
}

Hash confirm_ratchet(const Secret<32>& k_cs, const Hash& th) { return hmac_sha256(k_cs.view(), {th}); }

}  // namespace pqcmav
