// SPDX-License-Identifier: Apache-2.0
// What both ends agree on besides keys: the features that one asks for and the other grants, and their indices.
#include "handshake_fixture.hpp"

namespace pqcmav {
namespace {

using namespace test;

struct Ask {
  std::uint16_t asked, granted;
  std::size_t indices = 4;  // that the gcs has
};

Outcome run_with(const Ask& ask, const Tamper& tamper = {}) {
  const Scene scene;
  auto params = drone_params(scene);
  params.features = ask.asked;
  const auto drone = IndexPool::make(kDroneIndices, 0);
  const auto taken = drone->take();  // so that the drone's index is 1, the gcs' 0
  params.own_index = drone->take();
  auto env = gcs_env(scene);
  env->features = ask.granted;
  env->receive_index = [pool = IndexPool::make(ask.indices, 0)] { return pool->take(); };
  return run(std::move(params), std::move(env), tamper);
}

TEST(HandshakeFeatures, WhatBothWantIsInForce) {
  for (std::uint16_t asked = 0; asked < 4; ++asked)
    for (std::uint16_t granted = 0; granted < 4; ++granted) {
      const auto out = run_with({asked, granted});
      ASSERT_TRUE(out.done());
      const auto agreed = static_cast<std::uint16_t>(asked & granted);
      const bool compact = (agreed & features::kCompact) != 0;
      for (const auto* keys : {&*out.drone_keys, &*out.gcs_keys}) EXPECT_EQ(keys->features, agreed);
      EXPECT_EQ(out.drone_keys->own_index.value().has_value(), compact);
      EXPECT_EQ(out.gcs_keys->own_index.value().has_value(), compact);
      if (!compact) continue;
      EXPECT_EQ(out.drone_keys->own_index.value(), 1);
      EXPECT_EQ(out.gcs_keys->own_index.value(), 0);
      EXPECT_EQ(out.drone_keys->peer_index, 0);
      EXPECT_EQ(out.gcs_keys->peer_index, 1);
    }
}

TEST(HandshakeFeatures, BitsThatTheGcsDoesNotKnowAreIgnored) {
  const auto out = run_with({0xffff, features::kCompact});
  ASSERT_TRUE(out.done());
  EXPECT_EQ(out.drone_keys->features, features::kCompact);
}

TEST(HandshakeFeatures, AGcsWithoutAFreeIndexTakesTheLongForm) {
  const auto out = run_with({features::kCompact | features::kBundles, 3, 0});
  ASSERT_TRUE(out.done());
  EXPECT_EQ(out.drone_keys->features, features::kBundles);
  EXPECT_FALSE(out.drone_keys->own_index.value());
}

TEST(HandshakeFeatures, MoreThanWasAskedForIsMalformedAndLessIsAForgery) {
  const auto change = [](std::uint16_t to) {
    return [to](std::size_t index, Bytes& frame) {
      if (index == 2) store_be(frame.data() + kFrameHeaderSize + kSessionIdSize + kNonceSize + 1, to);
    };
  };
  for (int bit = 1; bit < 16; ++bit)
    EXPECT_EQ(run_with({1, 1}, change(static_cast<std::uint16_t>(1 | 1 << bit))).drone_error, HandshakeError::malformed)
        << bit;
  EXPECT_EQ(run_with({3, 3}, change(1)).drone_error, HandshakeError::bad_signature);
  const Tamper index = [](std::size_t number, Bytes& frame) {
    if (number == 2) frame[kFrameHeaderSize + kSessionIdSize + kNonceSize + 4] ^= 1;
  };
  EXPECT_EQ(run_with({3, 3}, index).drone_error, HandshakeError::bad_signature);
}

TEST(HandshakeFeatures, AnAttemptThatFailsGivesItsIndexBack) {
  const auto pool = IndexPool::make(1, 60'000'000'000);
  for (int i = 0; i < 3; ++i) {
    const Scene scene;
    auto params = drone_params(scene);
    params.features = features::kCompact;
    params.own_index = IndexPool::make(1, 0)->take();
    auto env = gcs_env(scene);
    env->features = features::kCompact;
    env->receive_index = [&] { return pool->take(); };
    const auto out = run(std::move(params), env, [](std::size_t index, Bytes& frame) {
      if (index == 3) frame.back() ^= 1;
    });
    EXPECT_EQ(out.gcs_error, HandshakeError::bad_confirm);
  }
  EXPECT_TRUE(pool->take().value());
}

}  // namespace
}  // namespace pqcmav
