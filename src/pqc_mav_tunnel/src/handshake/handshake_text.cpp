// SPDX-License-Identifier: Apache-2.0
// What handshake results are called, and what is said of them to a person.
#include "handshake/handshake.hpp"
#include "text.hpp"

namespace pqcmav {

std::string_view to_string(HandshakeError error) noexcept {
  return name_in<HandshakeError::cancelled>(
      {"none", "bad_frame", "malformed", "unknown_drone", "other_gcs", "bad_gate", "rejected", "bad_reject",
       "wrong_epoch", "bad_signature", "bad_drone_signature", "bad_confirm", "weak_key", "crypto", "timeout",
       "unreachable", "refused_locally", "cancelled"},
      error, "invalid");
}

std::string_view to_string(HandshakeKind kind) noexcept {
  return name_in<HandshakeKind::ratchet_plain>({"first", "rekey", "ratchet", "ratchet_plain"}, kind, "invalid");
}

std::string_view to_string(Reject code) noexcept {
  return name_in<Reject::busy>(
      {"invalid", "suite_unknown", "suite_not_allowed", "algorithm_unavailable", "epoch", "busy"}, code, "invalid");
}

namespace {

/// The drone's sentence about the answer of its ground station.
std::string_view rejected(Reject code) noexcept {
  switch (code) {
    case Reject::suite_unknown:
      return "The ground station does not know the suite: its software is probably older than the drone's; update it, "
             "or choose one of the 72 core suites.";
    case Reject::suite_not_allowed:
      return "The ground station does not allow this suite for this drone, or wants hybrid mode, or wants a drone "
             "signature it can verify: choose an allowed suite, leave hybrid on, or give the drone a signing key whose "
             "public half the ground station has.";
    case Reject::algorithm_unavailable:
      return "The ground station lacks an algorithm of this suite, or has no signing key for it: its log says which. "
             "Choose another suite, or give it the algorithm and the key.";
    case Reject::epoch:
      return "The ground station and the drone are at different epochs of this session: a fresh handshake starts over "
             "at epoch 0.";
    case Reject::busy: return "The ground station is busy with as many handshakes as it allows: try again in a moment.";
  }
  return "The ground station refused with a code this version does not know: update the drone's software.";
}

/// What the ground station says about its own refusal.
std::string_view refused(Reject code) noexcept {
  switch (code) {
    case Reject::suite_unknown:
      return "Refused: the drone asked for a suite that is not in this version's table; update this ground station, or "
             "choose another suite on the drone.";
    case Reject::suite_not_allowed:
      return "Refused: this drone may not use that suite, or asked for pure mode where hybrid is required, or brought "
             "no signature that can be verified with the keys here; change the allowed suites, or add the drone's "
             "public signing key.";
    case Reject::algorithm_unavailable:
      return "Refused: an algorithm of the suite cannot be computed here, the drone calls one otherwise, or there is "
             "no "
             "signing key for it here; compare the preflight of both ends and make the missing key.";
    case Reject::epoch:
      return "Refused: the drone's rekey carried an epoch that does not follow the running one; it will start over "
             "with a fresh handshake.";
    case Reject::busy:
      return "Refused: as many handshakes are running as the configuration allows; raise max_handshakes if this is "
             "normal load.";
  }
  return "Refused, with a code this version does not know.";
}

std::string_view drone_sentence(HandshakeError error) noexcept {
  switch (error) {
    case HandshakeError::none: return "No error.";
    case HandshakeError::bad_frame:
      return "The other end does not speak this protocol (a message of the wrong type or length, or bytes out of "
             "turn): check the ground station's address and port, and that both ends have the same version.";
    case HandshakeError::malformed:
      return "The ground station's message has a field that does not parse for this suite: both ends must have the "
             "same version; if they do, someone is altering the traffic.";
    case HandshakeError::bad_reject:
      return "A refusal arrived that the ground station did not authenticate: the key files of the two ends differ, or "
             "someone interferes. It changed nothing; the next attempt follows.";
    case HandshakeError::wrong_epoch:
      return "The ground station answered for a different epoch than was asked for: a delayed or altered message; the "
             "next attempt starts afresh.";
    case HandshakeError::bad_signature:
      return "The ground station's signature does not verify with the public key on this drone: the ground station has "
             "new keys (export the drone's keys again), or this is not your ground station.";
    case HandshakeError::bad_confirm:
      return "The ground station did not prove that it has the same keys: its last message was altered on the way; try "
             "again, and suspect interference if it persists.";
    case HandshakeError::weak_key:
      return "The ground station sent an X25519 key that forces a known secret; it was refused. Its software is broken "
             "or hostile.";
    case HandshakeError::crypto:
      return "A cryptographic library call failed on the drone: check free memory and that liboqs and OpenSSL are the "
             "ones this was built with (see the preflight).";
    case HandshakeError::timeout:
      return "The ground station did not answer, or fell silent. In order of likelihood: it does not run, or its UDP "
             "port is not reachable; the PSK on the drone and the ground station differ, or it does not know this "
             "drone id (it never answers then, its own log says which); the link is too slow for this suite.";
    case HandshakeError::unreachable:
      return "The ground station's name has no address that can be reached: check 'peer', 'bind' and the network.";
    case HandshakeError::cancelled: return "The handshake was cancelled on the drone, by a newer one or by shutdown.";
    case HandshakeError::unknown_drone:
    case HandshakeError::other_gcs:
    case HandshakeError::bad_gate:
    case HandshakeError::bad_drone_signature:
    case HandshakeError::rejected:
    case HandshakeError::refused_locally: break;
  }
  return "This error belongs to the ground station; the drone should not see it. Please report it.";
}

std::string_view gcs_sentence(HandshakeError error) noexcept {
  switch (error) {
    case HandshakeError::none: return "No error.";
    case HandshakeError::bad_frame:
      return "The client sent a message of the wrong type or length, or bytes out of turn: not a drone of this "
             "protocol version, or a port scan.";
    case HandshakeError::malformed:
      return "The client's message has a field that does not parse: not a drone of this protocol version, or altered "
             "traffic.";
    case HandshakeError::unknown_drone:
      return "A client named a drone id that is not provisioned here: make its PSK and add it to this ground station's "
             "keys, or ignore it if the drone is not yours.";
    case HandshakeError::bad_gate:
      return "A client that names this drone does not know its PSK: the key files of the two ends differ (export the "
             "drone's keys again), or someone is guessing.";
    case HandshakeError::bad_drone_signature:
      return "The drone's signature does not verify with its public key here: the drone has a new signing key (copy "
             "its public half here), or its PSK is in the wrong hands.";
    case HandshakeError::bad_confirm:
      return "The drone did not prove that it has the same keys: its last message was altered on the way, or its "
             "encapsulation failed; nothing was installed.";
    case HandshakeError::weak_key:
      return "The drone sent an X25519 key that forces a known secret; it was refused. Its software is broken or "
             "hostile.";
    case HandshakeError::crypto:
      return "A cryptographic library call or a key file failed here: check free memory, the key files of this suite, "
             "and that liboqs and OpenSSL are the ones this was built with.";
    case HandshakeError::timeout:
      return "The drone fell silent in the middle of the handshake: a bad link, it was stopped, or it did not accept "
             "this ground station's signature (its own log says which).";
    case HandshakeError::other_gcs:
      return "A drone asked for a ground station of another name: give both ends the same 'gcs_id', or ignore it if "
             "the drone is another station's.";
    case HandshakeError::cancelled:
      return "The handshake was cancelled here, by a newer one from the same drone or by shutdown.";
    case HandshakeError::bad_reject:
    case HandshakeError::unreachable:
    case HandshakeError::wrong_epoch:
    case HandshakeError::bad_signature:
    case HandshakeError::rejected:
    case HandshakeError::refused_locally: break;
  }
  return "This error belongs to the drone; the ground station should not see it. Please report it.";
}

}  // namespace

std::string describe(HandshakeError error, std::uint8_t reject_code, bool drone_side) {
  if (error == HandshakeError::rejected && drone_side) return std::string(rejected(static_cast<Reject>(reject_code)));
  if (error == HandshakeError::refused_locally && !drone_side)
    return std::string(refused(static_cast<Reject>(reject_code)));
  return std::string(drone_side ? drone_sentence(error) : gcs_sentence(error));
}

}  // namespace pqcmav
