// SPDX-License-Identifier: Apache-2.0
// The engine's own handshake over the transport and a simulated link: both ends come to the same keys, whatever is lost.
#include <gtest/gtest.h>

#include "handshake_fixture.hpp"
#include "transport_world.hpp"

namespace pqcmav::test {
namespace {

/// Hands the messages of one handshake to the engine's two ends.
struct RealEnds {
  explicit RealEnds(const Scene& scene)
      : drone(drone_params(scene)), gcs(gcs_env(scene), gcs_session(scene)), first(drone.start(0)) {}
  std::optional<Bytes> answer(bool at_drone, const Bytes& message) {
    if (at_drone) {
      auto step = drone.on_data(message, 0);
      drone_done = step.status == HandshakeStatus::done;
      if (drone_done) return Bytes{};  // nothing is left to say, but it went well
      return step.send.empty() ? std::nullopt : std::optional(std::move(step.send));
    }
    auto step = gcs.on_data(message, 0);
    if (gcs.gated()) step = gcs.go_on(0);
    gcs_done = step.status == HandshakeStatus::done;
    return step.send.empty() ? std::nullopt : std::optional(std::move(step.send));
  }
  HandshakeInitiator drone;
  HandshakeResponder gcs;
  Bytes first;
  bool drone_done = false, gcs_done = false;
};

void shake(const Scene& scene, const LinkTerms& link, std::uint64_t seed, bool in_session = false,
           std::uint16_t limit = 1200) {
  RealEnds ends(scene);
  WorldTerms terms;
  terms.sizes = {"real", 500, 400'000, 40'000, 37, 2 * kMs, 2 * kMs};
  terms.loose = true;
  terms.up = terms.down = link;
  terms.seed = seed;
  terms.in_session = in_session;
  terms.datagram_limit = limit;
  terms.first_message = ends.first;
  terms.answer = [&](bool at_drone, const Bytes& message) { return ends.answer(at_drone, message); };
  TransportWorld world(terms);
  ASSERT_TRUE(world.run()) << seed;
  EXPECT_EQ(world.complaint(), "") << seed;
  ASSERT_TRUE(ends.drone_done && ends.gcs_done) << seed;
  EXPECT_TRUE(same(ends.drone.take_keys(), ends.gcs.take_keys())) << seed;
}

LinkTerms rough(double loss, bool bursts) {
  LinkTerms link;
  link.loss = loss;
  link.bursts = bursts;
  link.reordered = 0.1;
  link.doubled = 0.1;
  link.bent = 0.02;
  return link;
}

TEST(TransportHandshake, KeysAgreeOverRoughLinks) {
  for (std::uint64_t seed = 0; seed < 48; ++seed) {
    Scene scene;
    scene.hybrid = seed % 2 == 0;
    scene.drone_signs = seed % 3 == 0;
    shake(scene, rough(0.1 * static_cast<double>(seed % 4), seed % 8 >= 4), seed);
  }
}

TEST(TransportHandshake, DefaultSuiteAndSmallDatagrams) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Scene scene;
    scene.suite = &suite("cs-mlkem768-aesgcm-mldsa65");
    shake(scene, rough(0.3, false), seed, false, seed % 2 == 0 ? 548 : 1200);
  }
}

TEST(TransportHandshake, InsideASession) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Scene scene;
    scene.session = 1;
    scene.epoch = 1;
    auto link = rough(0.2, seed % 2 == 0);
    link.bent = 0;  // the session's own packets see to that
    shake(scene, link, seed, true);
  }
}

}  // namespace
}  // namespace pqcmav::test
