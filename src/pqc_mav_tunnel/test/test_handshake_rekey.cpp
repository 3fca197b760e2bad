// SPDX-License-Identifier: Apache-2.0
// Handshakes inside a session: which session and epoch they follow, and that their keys are bound to its chain secret.
#include <set>

#include "handshake_fixture.hpp"
#include "hex.hpp"

namespace pqcmav::test {
namespace {

TEST(Rekey, ARekeyNamesItsSessionAndEpoch) {
  for (const int running : {0, 199, 254, 255}) {
    const auto next = static_cast<std::uint8_t>(running + 1);
    const Scene scene{.epoch = next, .session = 7, .running_epoch = static_cast<std::uint8_t>(running)};
    const auto out = run(scene);
    expect_agreement(scene, out);
    EXPECT_EQ(out.drone_keys->epoch, next);
    EXPECT_NE(out.drone_keys->session_id, session_of(7));
    const auto hello = parse_client_hello(ByteView(out.messages[1]).subspan(kFrameHeaderSize)).value();
    EXPECT_EQ(hello.prev_session, session_of(7));
    EXPECT_EQ(hello.epoch, next);
  }
}

TEST(Rekey, ARekeyOverTheWholeRingOfEpochsNeedsNoNewSession) {
  std::uint8_t chain = 1;
  for (int i = 0; i < 260; ++i) {
    const Scene scene{.epoch = static_cast<std::uint8_t>(i + 1),
                      .session = 7,
                      .running_epoch = static_cast<std::uint8_t>(i),
                      .drone_chain = chain,
                      .gcs_chain = chain};
    ASSERT_TRUE(run(scene).done()) << i;
    ++chain;
  }
}

/// With everything else equal the keys of a rekey are others when the chain secret before it is.
TEST(Rekey, TheChainSecretOfTheSessionBeforeGoesIntoTheKeys) {
  const Psk psk = psk_of(1);
  const Bytes shared(32, 2);
  const Hash h3 = sha256({as_bytes("transcript")});
  const auto of = [&](ByteView ck_prev) {
    return derive_secrets(psk, shared, shared, ck_prev, h3, light().id, session_of(9), 1);
  };
  const Bytes one(32, 1), two(32, 2);
  const auto first = of({}), a = of(one), b = of(two), again = of(one);
  const auto all = [](const HandshakeSecrets& s) {
    std::vector<std::string> out;
    for (const auto* key : {&s.k_d2g, &s.k_g2d, &s.k_cc, &s.k_cs, &s.chain}) out.push_back(hex(key->view()));
    return out;
  };
  EXPECT_EQ(all(a), all(again));
  std::set<std::string> distinct;
  for (const auto* each : {&first, &a, &b})
    for (const auto& key : all(*each)) distinct.insert(key);
  EXPECT_EQ(distinct.size(), 15u) << "no key of one is a key of another, nor serves two purposes";
}

TEST(Rekey, EachHandshakeLeavesAChainSecretForTheNext) {
  std::set<std::string> chains;
  auto before = run(Scene{});
  ASSERT_TRUE(before.done());
  for (int i = 1; i <= 5; ++i) {
    const Scene scene{.epoch = static_cast<std::uint8_t>(i)};
    auto params = drone_params(Scene{});
    params.epoch = scene.epoch;
    params.prev_session = before.drone_keys->session_id;
    params.chain_prev = SecretBytes(before.drone_keys->chain.view());
    RunningSession session{before.gcs_keys->session_id, before.gcs_keys->epoch,
                           SecretBytes(before.gcs_keys->chain.view())};
    auto out = run(std::move(params), gcs_env(scene), {}, 0, std::move(session));
    expect_agreement(scene, out);
    EXPECT_TRUE(chains.insert(hex(out.drone_keys->chain.view())).second);
    before = std::move(out);
  }
}

TEST(Rekey, OnlyTheEpochAfterTheRunningOneFollows) {
  for (const int running : {0, 7, 255}) {
    for (int asked = 0; asked < 256; ++asked) {
      const Scene scene{
          .epoch = static_cast<std::uint8_t>(asked), .session = 3, .running_epoch = static_cast<std::uint8_t>(running)};
      HandshakeInitiator drone(drone_params(scene));
      HandshakeResponder gcs(gcs_env(scene), gcs_session(scene));
      const auto m1 = drone.start(0);
      (void)gcs.on_data(m1, 0);
      ASSERT_TRUE(gcs.gated());
      if (asked == (running + 1) % 256) continue;
      ASSERT_EQ(gcs.go_on(0).send, refusal_of(m1, Reject::epoch)) << asked;
    }
  }
}

TEST(Rekey, AHelloBelongsToTheSessionThatCarriesIt) {
  const Scene rekey{.epoch = 1, .session = 3};
  // Outside a session, in another one, and a first handshake inside one: none of them is answered.
  expect_silence(run(drone_params(rekey), gcs_env(rekey)), HandshakeError::malformed);
  Scene other = rekey;
  other.session = 4;
  expect_silence(run(drone_params(rekey), gcs_env(rekey), {}, 0, gcs_session(other)), HandshakeError::malformed);
  expect_silence(run(drone_params(Scene{}), gcs_env(rekey), {}, 0, gcs_session(rekey)), HandshakeError::malformed);
  EXPECT_TRUE(run(rekey).done());
}

/// A peer without the chain secret of the session gets no session of it, whatever else it has.
TEST(Rekey, ARekeyWithAnotherChainSecretFailsAtTheConfirmation) {
  for (const bool signs : {false, true}) {
    const Scene scene{.drone_signs = signs, .epoch = 1, .session = 3, .drone_chain = 5, .gcs_chain = 6};
    const auto out = run(scene);
    EXPECT_EQ(out.gcs_error, HandshakeError::bad_confirm);
    EXPECT_FALSE(out.gcs_keys);
    EXPECT_EQ(out.drone, HandshakeStatus::working);
  }
}

}  // namespace
}  // namespace pqcmav::test
