// SPDX-License-Identifier: Apache-2.0
// What both handshake fuzzers need: a drone and a gcs with fixed keys, cheap algorithms and repeatable randomness of
// their own.
#pragma once

#include <memory>

#include "fuzz_support.hpp"
#include "handshake/handshake.hpp"
#include "handshake/handshake_messages.hpp"
#include "handshake/key_schedule.hpp"

namespace pqcmav::fuzz {

inline const Suite& suite() { return require_suite("cs-mlkem512-aesgcm-mldsa44"); }

inline const KemKeyPair& signing_pair() {
  static const auto pair = Sig(*suite().sig).keypair();
  return pair;
}
inline const KemKeyPair& kem_pair() {
  static const auto pair = Kem(*suite().kem).keypair();
  return pair;
}

inline RandomSource counter() {
  return [next = std::uint8_t{0}](MutableBytes out) mutable {
    for (auto& byte : out) byte = ++next;
  };
}

inline Psk psk() {
  Psk out;
  out.mut()[0] = 1;
  return out;
}

/// The session of a rekey, at its last epoch but one.
inline RunningSession session() {
  SessionId id;
  id.fill(7);
  return {id, 254, SecretBytes(32)};
}

inline InitiatorParams drone(bool hybrid, bool signs, bool rekey) {
  InitiatorParams params;
  params.suite = &suite();
  params.drone_id = "uav1";
  params.hybrid = hybrid;
  params.psk = psk();
  params.gcs_public_key = signing_pair().public_key;
  if (signs) params.own_secret = signing_pair().secret_key.clone();
  if (rekey) {
    auto running = session();
    params.prev_session = running.id;
    params.epoch = 255;
    params.chain_prev = std::move(running.chain);
  } else {
    params.ticket.emplace();
  }
  params.random = counter();
  return params;
}

inline std::shared_ptr<const ResponderEnv> gcs() {
  auto env = std::make_shared<ResponderEnv>();
  env->find_drone = [](std::string_view id) {
    return id == "uav1" ? std::optional(DroneRecord{psk(), false, false, true}) : std::nullopt;
  };
  env->check_suite = [](std::string_view, const Suite&, bool) { return std::optional<Reject>(); };
  // One key pair for all: a fuzzer does not need to wait for McEliece. Another suite than ours fails on its size, past
  // every parser.
  env->gcs_secret = [](const SigInfo&) { return signing_pair().secret_key.clone(); };
  env->drone_public = [](std::string_view, const SigInfo&) { return std::optional(signing_pair().public_key); };
  env->kem_keypair = [](const KemInfo&) {
    return EphemeralKem{{kem_pair().public_key, kem_pair().secret_key.clone()}, true};
  };
  env->random = counter();
  return env;
}

/// Each three bytes of the input change one byte of the frame.
inline bool changed(Bytes& frame, ByteView input) {
  const auto original = frame;
  for (; input.size() >= 3; input = input.subspan(3))
    frame[load_be<std::uint16_t>(input.data()) % frame.size()] ^= input[2];
  return frame != original;
}

/// Feeds `bytes` in pieces of `chunk` bytes (0 = at once) for as long as the end takes them.
template <typename End>
HandshakeStep feed(End& end, ByteView bytes, std::size_t chunk) {
  HandshakeStep step = end.on_data({}, 0);
  while (!bytes.empty() && step.status == HandshakeStatus::working) {
    const auto size = chunk == 0 ? bytes.size() : std::min(chunk, bytes.size());
    step = end.on_data(bytes.first(size), 0);
    bytes = bytes.subspan(size);
  }
  return step;
}

}  // namespace pqcmav::fuzz
