// SPDX-License-Identifier: Apache-2.0
// The ratchet in memory: what both ends agree on, what bars it, and peers that send something else.
#include <set>

#include "hex.hpp"
#include "ratchet_fixture.hpp"

namespace pqcmav::test {
namespace {

TEST(Ratchet, BothEndsGetTheSameKeysThatFollowTheSession) {
  for (const auto* id : {"cs-mlkem512-aesgcm-mldsa44", "cs-mlkem768-chacha20poly1305-mldsa65",
                         "cs-classicmceliece348864-ascon128a-falcon512", "cs-hqc256-aesgcm-mldsa87"})
    for (const bool hybrid : {true, false})
      for (const bool fresh : {true, false}) {
        const RatchetScene scene{
            .suite = find_suite(id), .hybrid = hybrid, .fresh = fresh, .epoch = 255, .ratchets = 6};
        RatchetRun run(scene);
        ASSERT_EQ(run.gcs_status, HandshakeStatus::done) << id;
        ASSERT_EQ(run.finish(), HandshakeStatus::done) << to_string(run.drone.error());
        const auto drone = run.drone.take_keys(), gcs = run.gcs.take_keys();
        EXPECT_TRUE(same(drone, gcs));
        EXPECT_EQ(drone.epoch, 0);
        EXPECT_EQ(drone.suite, scene.suite);
        EXPECT_EQ(drone.hybrid, hybrid);
        EXPECT_TRUE(drone.drone_signed) << "as in the session";
        EXPECT_NE(drone.session_id, session_of(std::uint8_t{7}));
        for (const auto* keys : {&drone, &gcs}) {
          EXPECT_EQ(keys->ratchets, 7);
          EXPECT_EQ(keys->full_boot_ns, 99u);
          EXPECT_EQ(keys->features, scene.features);
        }
        EXPECT_EQ(run.gcs.kind(), fresh ? HandshakeKind::ratchet : HandshakeKind::ratchet_plain);
        const auto hello = parse_ratchet_hello(ByteView(run.r1).subspan(kFrameHeaderSize)).value();
        EXPECT_EQ(hello.flags, !fresh ? 0 : hybrid ? 3 : 2);
      }
}

TEST(Ratchet, WithCompactHeadersEachEndNamesItsNewIndex) {
  RatchetRun run(RatchetScene{.features = features::kRatchet | features::kCompact});
  ASSERT_EQ(run.finish(), HandshakeStatus::done);
  const auto drone = run.drone.take_keys(), gcs = run.gcs.take_keys();
  EXPECT_EQ(drone.own_index.value(), gcs.peer_index);
  EXPECT_EQ(gcs.own_index.value(), drone.peer_index);
}

TEST(Ratchet, MessagesAreShort) {
  const RatchetScene plain{.suite = &suite("cs-mlkem1024-aesgcm-mldsa87"), .fresh = false};
  const RatchetScene fresh{.suite = &suite("cs-mlkem1024-aesgcm-mldsa87")};
  const RatchetRun small(plain), large(fresh);
  EXPECT_EQ(small.r1.size(), 47u);
  EXPECT_EQ(small.r2.size(), 87u);
  EXPECT_EQ(large.r1.size(), 47u + 32 + 1568);
  EXPECT_EQ(large.r2.size(), 87u + 32 + 1568);
  EXPECT_LE(large.r2.size(), kRatchetFrameMost);
}

/// Every key hangs on the chain secret, the PSK, and, with fresh shares, on those.
TEST(Ratchet, WhoLacksASecretOfTheOtherEndGetsNoKeys) {
  for (const bool fresh : {true, false})
    for (const auto& scene :
         {RatchetScene{.fresh = fresh, .gcs_chain = 6}, RatchetScene{.fresh = fresh, .gcs_psk = 2}}) {
      RatchetRun run(scene);
      ASSERT_EQ(run.gcs_status, HandshakeStatus::done);
      EXPECT_EQ(run.finish(), HandshakeStatus::failed);
      EXPECT_EQ(run.drone.error(), HandshakeError::bad_confirm);
      EXPECT_THROW((void)run.drone.take_keys(), TunnelError);
    }
}

TEST(Ratchet, EachOneMakesOtherKeysOfTheSameSession) {
  std::set<std::string> seen;
  for (int i = 0; i < 4; ++i)
    for (const bool fresh : {true, false}) {
      RatchetRun run(RatchetScene{.fresh = fresh});
      ASSERT_EQ(run.finish(), HandshakeStatus::done);
      const auto keys = run.drone.take_keys();
      for (const auto* key : {&keys.k_d2g, &keys.k_g2d, &keys.chain}) seen.insert(hex(key->view()));
    }
  EXPECT_EQ(seen.size(), 24u);
}

/// Any byte of R2 that is changed on its way is noticed: it cannot be under the AEAD of the session, but a thief of its
/// key can.
TEST(Ratchet, AnyChangeOfTheAnswerIsNoticed) {
  for (const bool fresh : {true, false}) {
    const RatchetRun model(RatchetScene{.fresh = fresh});
    for (std::size_t at = 0; at < model.r2.size(); at += fresh ? 7 : 1) {
      RatchetRun run(RatchetScene{.fresh = fresh});
      run.r2[at] ^= 1;
      ASSERT_EQ(run.finish(), HandshakeStatus::failed) << at;
    }
  }
}

TEST(Ratchet, AnyChangeOfTheHelloIsNoticed) {
  for (const bool fresh : {true, false}) {
    const RatchetRun model(RatchetScene{.fresh = fresh});
    for (std::size_t at = 0; at < model.r1.size(); at += fresh ? 11 : 1) {
      RatchetInitiator drone(drone_params(RatchetScene{.fresh = fresh}));
      RatchetResponder gcs(gcs_terms(RatchetScene{.fresh = fresh}));
      auto r1 = drone.start(1);
      r1[at] ^= 1;
      const auto step = gcs.take(r1, 2);
      if (step.status == HandshakeStatus::done) {
        ASSERT_EQ(drone.on_data(step.send, 3).status, HandshakeStatus::failed) << at;
      }
    }
  }
}

struct Barred {
  RatchetScene scene;
  RatchetBar why;
};

TEST(Ratchet, WhatBarsItIsRefusedAtBothEnds) {
  for (const auto& [scene, why] :
       {Barred{{.features = features::kBundles}, RatchetBar::feature}, Barred{{.ratchets = 8}, RatchetBar::in_a_row},
        Barred{{.ratchets = 200}, RatchetBar::in_a_row}, Barred{{.key_old = true}, RatchetBar::key_age}}) {
    EXPECT_EQ(bar_of(scene.features, scene.ratchets, scene.key_old), why);
    auto params = drone_params(scene);
    params.key_old = scene.key_old;
    try {
      RatchetInitiator drone(std::move(params));
      FAIL() << describe(why);
    } catch (const TunnelError& error) {
      EXPECT_EQ(error.code(), Errc::state);
      EXPECT_EQ(std::string(error.what()), describe(why));
    }
    // A drone that asks nevertheless.
    RatchetInitiator drone(drone_params(RatchetScene{}));
    const auto r1 = drone.start(1);
    RatchetResponder gcs(gcs_terms(scene));
    const auto step = gcs.take(r1, 2);
    EXPECT_EQ(step.status, HandshakeStatus::failed);
    EXPECT_EQ(gcs.error(), HandshakeError::refused_locally);
    EXPECT_EQ(gcs.reject_code(), 4);
    EXPECT_EQ(step.send, encode_reject({Reject::epoch, 0, ratchet_reject_mac(psk_of(1), r1, 4, 0)}));
    EXPECT_EQ(drone.on_data(step.send, 3).status, HandshakeStatus::failed);
    EXPECT_EQ(drone.error(), HandshakeError::rejected);
    EXPECT_EQ(drone.reject_code(), 4);
    EXPECT_NE(describe_ratchet(drone.error(), 4, true).find("full rekey"), std::string::npos);
    EXPECT_NE(gcs.reason().find("full rekey"), std::string::npos);
  }
}

Bytes hello_of(std::uint8_t flags, std::size_t x25519, std::size_t kem) {
  RatchetHello hello;
  const Bytes share(x25519, 9), key(kem, 0);
  hello.flags = flags;
  hello.x25519_public = share;
  hello.kem_public = key;
  return encode_ratchet_hello(hello);
}

HandshakeError answer_to(const Bytes& r1, const RatchetScene& scene = {}) {
  RatchetResponder gcs(gcs_terms(scene));
  const auto step = gcs.take(r1, 1);
  EXPECT_EQ(step.send.empty(), gcs.error() != HandshakeError::refused_locally && step.status != HandshakeStatus::done);
  return gcs.error();
}

TEST(Ratchet, OtherFlagsThanTheModesOwnAreRejected) {
  EXPECT_EQ(answer_to(hello_of(1, 32, 0)), HandshakeError::refused_locally);
  EXPECT_EQ(answer_to(hello_of(2, 0, 800)), HandshakeError::refused_locally) << "pure, in a hybrid session";
  EXPECT_EQ(answer_to(hello_of(3, 32, 800), {.hybrid = false}), HandshakeError::refused_locally);
  EXPECT_EQ(answer_to(hello_of(0, 0, 0)), HandshakeError::none);
  for (const std::uint8_t flags : {4, 7, 128, 255})
    EXPECT_EQ(answer_to(hello_of(flags, 0, 0)), HandshakeError::malformed);
}

TEST(Ratchet, FieldsThatDoNotFitTheFlagsAreMalformed) {
  EXPECT_EQ(answer_to(hello_of(0, 32, 0)), HandshakeError::malformed);
  EXPECT_EQ(answer_to(hello_of(0, 0, 800)), HandshakeError::malformed);
  EXPECT_EQ(answer_to(hello_of(3, 0, 800)), HandshakeError::malformed);
  EXPECT_EQ(answer_to(hello_of(3, 31, 800)), HandshakeError::malformed);
  EXPECT_EQ(answer_to(hello_of(3, 32, 0)), HandshakeError::malformed);
  auto longer = hello_of(0, 0, 0);
  longer.push_back(0);
  store_be(longer.data(), static_cast<std::uint32_t>(longer.size() - kFrameHeaderSize));
  EXPECT_EQ(answer_to(longer), HandshakeError::malformed);
  longer.push_back(0);
  EXPECT_EQ(answer_to(longer), HandshakeError::bad_frame) << "more than its header says";
  EXPECT_EQ(answer_to({}), HandshakeError::bad_frame);
}

/// The key of another level belongs to another suite.
TEST(Ratchet, AnotherSuitesKeyIsRejected) {
  for (const std::size_t size : {1, 799, 801, 1184, 1568})
    EXPECT_EQ(answer_to(hello_of(3, 32, size)), HandshakeError::refused_locally) << size;
  EXPECT_EQ(answer_to(hello_of(3, 32, 1569)), HandshakeError::bad_frame) << "longer than any";
}

TEST(Ratchet, AShareThatForcesTheSecretIsRefused) {
  RatchetRun model(RatchetScene{});
  auto r1 = model.r1;
  std::fill_n(r1.begin() + kFrameHeaderSize + 38, 32, 0);
  EXPECT_EQ(answer_to(r1), HandshakeError::weak_key);
  std::fill_n(model.r2.begin() + kFrameHeaderSize + 46, 32, 0);
  EXPECT_EQ(model.finish(), HandshakeStatus::failed);
  EXPECT_EQ(model.drone.error(), HandshakeError::weak_key);
}

TEST(Ratchet, ARefusalThatIsNotTheGcssChangesNothing) {
  const auto forged = [](const Bytes& r1) { return ratchet_reject_mac(psk_of(2), r1, 4, 0); };
  RatchetInitiator drone(drone_params(RatchetScene{}));
  const auto r1 = drone.start(1);
  EXPECT_EQ(drone.on_data(encode_reject({Reject::epoch, 0, forged(r1)}), 2).status, HandshakeStatus::failed);
  EXPECT_EQ(drone.error(), HandshakeError::bad_reject);
  // That of M1 is another one: no refusal serves for both.
  RatchetInitiator second(drone_params(RatchetScene{}));
  const auto again = second.start(1);
  (void)second.on_data(encode_reject({Reject::epoch, 0, reject_mac(psk_of(1), again, 4, 0)}), 2);
  EXPECT_EQ(second.error(), HandshakeError::bad_reject);
}

TEST(Ratchet, ADoubtfulSessionIsNoSession) {
  EXPECT_THROW(RatchetInitiator{RatchetParams{}}, TunnelError);
  EXPECT_THROW(RatchetResponder{RatchetTerms{}}, TunnelError);
  auto params = drone_params(RatchetScene{.features = features::kRatchet | features::kCompact});
  params.own_index.release();
  EXPECT_THROW(RatchetInitiator{std::move(params)}, TunnelError);
}

}  // namespace
}  // namespace pqcmav::test
