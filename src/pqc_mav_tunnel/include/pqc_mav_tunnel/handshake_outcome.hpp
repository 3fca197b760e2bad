// SPDX-License-Identifier: Apache-2.0
// How a handshake ended, and what it took.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pqcmav {

enum class HandshakeError {
  none,
  bad_frame,      // wrong type, length outside the limits, bytes beyond the turn
  malformed,      // a field that does not parse
  unknown_drone,  // gcs: silent
  other_gcs,      // gcs: silent; the drone asked for a ground station of another name
  bad_gate,       // gcs: silent
  rejected,       // drone: the gcs refused, and proved that it was the gcs; see reject_code
  bad_reject,     // drone: a refusal that anybody could have sent
  wrong_epoch,
  bad_signature,        // drone: the gcs key is not the one on this drone
  bad_drone_signature,  // gcs
  bad_confirm,          // the two ends disagree on the keys: wrong PSK or manipulation
  weak_key,             // X25519 result all zero
  crypto,               // a library call failed
  timeout,              // nothing more came (a drone with a wrong PSK hears nothing at all)
  unreachable,          // drone: the peer's name gives no address that can be reached
  refused_locally,      // gcs sends Reject; see reject_code
  cancelled,
};
std::string_view to_string(HandshakeError error) noexcept;  // the identifier
/// A sentence for a user of that side: what happened, the likely cause, what to do.
std::string describe(HandshakeError error, std::uint8_t reject_code, bool drone_side);

/// What changed the keys: a handshake without a session, a full one inside it, or a ratchet: two small messages inside
/// it, with fresh shares or, in an emergency, without.
enum class HandshakeKind : std::uint8_t { first, rekey, ratchet, ratchet_plain };
std::string_view to_string(HandshakeKind kind) noexcept;  // the identifier

/// Times of one handshake in nanoseconds, own side only; 0 = did not happen here. Sizes in bytes.
struct HandshakeTimes {
  std::uint64_t kem_keygen = 0, kem_encaps = 0, kem_decaps = 0, sig_sign = 0, sig_verify = 0, x25519 = 0, kdf = 0;
  bool keygen_pooled = false;
  std::size_t public_key = 0, ciphertext = 0, signature = 0, drone_signature = 0;
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  /// From one message seen or sent to the next, by the caller's `now`: start-M1, M1-M2, M2-M3, M3-M4.
  std::array<std::uint64_t, 4> phases{};
};

}  // namespace pqcmav
