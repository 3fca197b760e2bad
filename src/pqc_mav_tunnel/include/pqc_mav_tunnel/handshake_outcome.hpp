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
  bad_gate,       // gcs: silent
  rejected,       // drone: the gcs answered Reject; see reject_code
  wrong_magic,    // drone: not a PQC-MAV gcs, or another version
  wrong_epoch,
  bad_signature,        // drone: the gcs key is not the one on this drone
  bad_drone_signature,  // gcs
  bad_confirm,          // the two ends disagree on the keys: wrong PSK or manipulation
  weak_key,             // X25519 result all zero
  crypto,               // a library call failed
  timeout,
  closed,           // the peer closed in between (a drone with a wrong PSK sees this after M1)
  refused_locally,  // gcs sends Reject; see reject_code
  cancelled,
};
std::string_view to_string(HandshakeError error) noexcept;  // the identifier
/// A sentence for a user of that side: what happened, the likely cause, what to do.
std::string describe(HandshakeError error, std::uint8_t reject_code, bool drone_side);

/// Times of one handshake in nanoseconds, own side only; 0 = did not happen here. Sizes in bytes.
struct HandshakeTimes {
  std::uint64_t kem_keygen = 0, kem_encaps = 0, kem_decaps = 0, sig_sign = 0, sig_verify = 0, x25519 = 0, kdf = 0;
  bool keygen_pooled = false;
  std::size_t public_key = 0, ciphertext = 0, signature = 0, drone_signature = 0;
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  /// From the first byte of one message seen/sent to the next, by on_data's `now`: connect-to-M0, M0-M1, M1-M2, M2-M3,
  /// M3-M4.
  std::array<std::uint64_t, 5> phases{};
};

}  // namespace pqcmav
