// SPDX-License-Identifier: Apache-2.0
// What the handshake hashes, authenticates and derives (docs/protocol.md section 4), with every label in one place.
#pragma once

#include <string_view>

#include "bytes.hpp"
#include "crypto/kdf.hpp"
#include "crypto/secret.hpp"

namespace pqcmav {

/// The key of drones that do not exist: their ClientHello costs what a real one costs, and silence takes as long.
const Psk& decoy_psk();

/// M0, the first part of every transcript: a constant that both ends make, and nobody sends.
ByteView challenge() noexcept;
/// HMAC over M0 || M1-, under a key made from the PSK.
Hash gate_mac(const Psk& psk, ByteView m1_without_gate);
/// Does the gate at the end of this whole M1 verify? Takes as long whatever the answer.
bool gate_good(const Psk& psk, ByteView m1);
/// What makes a refusal believable: an HMAC over M0 || M1, the code and the time to wait.
Hash reject_mac(const Psk& psk, ByteView m1, std::uint8_t code, std::uint16_t retry_ms);
/// The same of a ratchet, whose R1 stands for itself.
Hash ratchet_reject_mac(const Psk& psk, ByteView r1, std::uint8_t code, std::uint16_t retry_ms);
/// The byte strings that are signed: a label, so that no signature serves in the other's place, and a hash. The gcs
/// signs SHA-256(M0 || M1 || M2-).
Bytes server_hello_to_sign(const Hash& hello_hash);
Bytes client_finish_to_sign(const Hash& h3);

/// h3 from h2 = SHA-256(M0 || M1 || M2) and the drone's two public contributions.
Hash transcript_h3(const Hash& h2, ByteView ciphertext, ByteView x25519_public);
/// t3: h3 with the drone's signature when there is one (an empty view: none).
Hash transcript_t3(const Hash& h3, ByteView drone_signature);
/// th of a ratchet; `r2_unconfirmed` is R2 without its last field.
Hash transcript_ratchet(ByteView r1, ByteView r2_unconfirmed);

struct HandshakeSecrets {
  Secret<32> k_d2g, k_g2d, k_cc, k_cs;
  Secret<32> chain;  // ck: goes into the keys of the session that replaces this one
};
/// HKDF-SHA256 (RFC 5869) with the PSK as salt over both shared secrets, the chain secret of the session that is
/// replaced, and the transcript: h3, or th of a ratchet. `ss_x25519` is empty in pure mode, `ck_prev` in a first
/// handshake, both shared secrets in a ratchet without fresh ones.
HandshakeSecrets derive_secrets(const Psk& psk, ByteView ss_kem, ByteView ss_x25519, ByteView ck_prev,
                                const Hash& transcript, std::string_view suite_id, const SessionId& session_id,
                                std::uint8_t epoch);

Hash confirm_client(const Secret<32>& k_cc, const Hash& t3);
Hash confirm_server(const Secret<32>& k_cs, const Hash& t3, const Hash& confirm_c);
Hash confirm_ratchet(const Secret<32>& k_cs, const Hash& th);

}  // namespace pqcmav
