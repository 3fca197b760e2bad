// SPDX-License-Identifier: Apache-2.0
#include "handshake/key_schedule.hpp"

namespace pqcmav {
namespace {

constexpr std::string_view kGate = "PQMAV/2 gate";
constexpr std::string_view kServerHello = "PQMAV/2 server hello";
constexpr std::string_view kClientFinish = "PQMAV/2 client finish";
constexpr std::string_view kDroneToGcs = "PQMAV/2 d2g";
constexpr std::string_view kGcsToDrone = "PQMAV/2 g2d";
constexpr std::string_view kConfirmClient = "PQMAV/2 confirm c";
constexpr std::string_view kConfirmServer = "PQMAV/2 confirm s";

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

/// lp(ss_kem) || lp(ss_x25519) || h3, in memory that is wiped.
SecretBytes key_material(ByteView ss_kem, ByteView ss_x25519, const Hash& h3) {
  SecretBytes out(4 + ss_kem.size() + 4 + ss_x25519.size() + h3.size());
  auto rest = out.mut();
  const auto put = [&rest](ByteView part) {
    if (!part.empty()) std::memcpy(rest.data(), part.data(), part.size());
    rest = rest.subspan(part.size());
  };
  put(length_of(ss_kem));
  put(ss_kem);
  put(length_of(ss_x25519));
  put(ss_x25519);
  put(h3);
  return out;
}

}  // namespace

Hash gate_mac(const Psk& psk, ByteView m0, ByteView m1_without_gate) {
  Secret<32> key;
  hkdf_expand(psk.view(), as_bytes(kGate), key.mut());
  return hmac_sha256(key.view(), {m0, m1_without_gate});
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

HandshakeSecrets derive_secrets(const Psk& psk, ByteView ss_kem, ByteView ss_x25519, const Hash& h3,
                                std::string_view suite_id, const SessionId& session_id, std::uint8_t epoch) {
  const auto prk = hkdf_extract(psk.view(), key_material(ss_kem, ss_x25519, h3).view());
  const auto expand = [&](std::string_view label, Secret<32>& out) {
    Bytes info;
    append(info, as_bytes(label));
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
  return secrets;
}

Hash confirm_client(const Secret<32>& k_cc, const Hash& t3) { return hmac_sha256(k_cc.view(), {t3}); }

Hash confirm_server(const Secret<32>& k_cs, const Hash& t3, const Hash& confirm_c) {
  return hmac_sha256(k_cs.view(), {sha256({t3, confirm_c})});
}

}  // namespace pqcmav
