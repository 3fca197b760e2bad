// SPDX-License-Identifier: Apache-2.0
// Two ends of one session that ratchet in memory.
#pragma once

#include "handshake/ratchet.hpp"
#include "handshake/ratchet_messages.hpp"
#include "handshake_fixture.hpp"

namespace pqcmav::test {

struct RatchetScene {
  const Suite* suite = &light();
  bool hybrid = true, fresh = true, key_old = false;
  std::uint16_t features = features::kRatchet;
  std::uint8_t epoch = 0, ratchets = 0, drone_chain = 5, gcs_chain = 5, drone_psk = 1, gcs_psk = 1;
};

inline RunningSession session_of(const RatchetScene& scene, std::uint8_t chain) {
  return {session_of(std::uint8_t{7}),
          scene.epoch,
          SecretBytes(psk_of(chain).view()),
          scene.suite,
          scene.hybrid,
          true,
          scene.features,
          scene.ratchets,
          99};
}

inline RatchetParams drone_params(const RatchetScene& scene) {
  RatchetParams out;
  out.session = session_of(scene, scene.drone_chain);
  out.psk = psk_of(scene.drone_psk);
  out.fresh = scene.fresh;
  if ((scene.features & features::kCompact) != 0) out.own_index = IndexPool::make(kDroneIndices, 0)->take();
  return out;
}

inline RatchetTerms gcs_terms(const RatchetScene& scene) {
  RatchetTerms out;
  out.session = session_of(scene, scene.gcs_chain);
  out.psk = psk_of(scene.gcs_psk);
  out.key_old = scene.key_old;
  out.receive_index = [] { return IndexPool::make(kGcsIndices, 0)->take(); };
  return out;
}

struct RatchetRun {
  explicit RatchetRun(const RatchetScene& scene) : drone(drone_params(scene)), gcs(gcs_terms(scene)) {
    r1 = drone.start(1'000);
    auto step = gcs.take(r1, 2'000);
    gcs_status = step.status;
    r2 = std::move(step.send);
  }
  HandshakeStatus finish() { return drone.on_data(r2, 3'000).status; }

  RatchetInitiator drone;
  RatchetResponder gcs;
  Bytes r1, r2;
  HandshakeStatus gcs_status = HandshakeStatus::working;
};

}  // namespace pqcmav::test
