// SPDX-License-Identifier: Apache-2.0
// The handshake messages and Reject: their fields, sizes and bytes (docs/protocol.md section 4). No cryptography
// here. Parsed fields are views into the frame they came from.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "constants.hpp"
#include "crypto/kdf.hpp"
#include "handshake/handshake.hpp"
#include "handshake/handshake_frames.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

using Nonce = ByteArray<kNonceSize>;
struct ClientHello {
  std::string_view drone_id, gcs_id;
  Nonce nonce{};
  std::string_view suite, kem_name, sig_name;
  bool hybrid = false, drone_signs = false;
  bool standby = false;  // the session begins as standby; only with the feature
  SessionId prev_session{};
  std::uint8_t epoch = 0;
  std::uint16_t features = 0;  // bits that the gcs does not know are ignored
  std::uint8_t index = 0;
  std::uint16_t max_datagram = kDatagramLimit;
  std::uint32_t term = 0;
  ByteView return_proof;  // empty, or kReturnProofSize bytes
  Hash gate{};
};
/// M1 up to where the MAC of the return proof is due, or the gate where there is none. Its header counts everything;
/// `return_proof` gives the first 12 bytes of the proof (serial, address_tag). Append the 16 bytes of MAC, then the
/// gate.
Bytes encode_client_hello(const ClientHello& hello);
std::vector<FrameLimits> client_hello_limits();
std::optional<ClientHello> parse_client_hello(ByteView body) noexcept;

struct ServerHello {
  SessionId session_id{};
  Nonce nonce{};
  std::uint8_t epoch = 0;
  std::uint16_t features = 0, index = 0;
  ByteView kem_public, x25519_public;  // the latter empty in pure mode
  ByteView signature;
};
/// M2 without its signature; the header gets its length with it. `signature_max` is the room to reserve.
Bytes encode_server_hello(const ServerHello& hello, std::size_t signature_max);
/// M2-, the part that is signed, is the frame from its header on up to here: the same in every M2 of a suite.
std::size_t signed_end_of_m2(const Suite& suite, bool hybrid) noexcept;
/// M2- of a frame that holds at least that much.
inline ByteView signed_part(ByteView frame, const Suite& suite, bool hybrid) noexcept {
  return frame.first(signed_end_of_m2(suite, hybrid)).subspan(kFrameHeaderSize);
}
/// Adds the signature and sets the length.
void finish_server_hello(Bytes& unfinished, ByteView signature);
/// M2 of this suite, or Reject in its place.
std::vector<FrameLimits> server_hello_limits(const Suite& suite, bool hybrid);
std::optional<ServerHello> parse_server_hello(ByteView body, const Suite& suite, bool hybrid) noexcept;

struct ClientFinish {
  ByteView ciphertext, x25519_public, signature;  // the latter two empty when not in use
  Hash confirm{};
};
Bytes encode_client_finish(const ClientFinish& finish);
std::vector<FrameLimits> client_finish_limits(const Suite& suite, bool hybrid, bool drone_signs);
std::optional<ClientFinish> parse_client_finish(ByteView body, const Suite& suite, bool hybrid,
                                                bool drone_signs) noexcept;

Bytes encode_server_finish(const Hash& confirm);
std::vector<FrameLimits> server_finish_limits();
std::optional<Hash> parse_server_finish(ByteView body) noexcept;

struct Refusal {
  Reject code;
  std::uint16_t retry_ms = 0;
  Hash mac{};
};
Bytes encode_reject(const Refusal& refusal);
/// nullopt for a code that the protocol does not have. The MAC is the caller's to verify.
std::optional<Refusal> parse_reject(ByteView body) noexcept;

}  // namespace pqcmav
