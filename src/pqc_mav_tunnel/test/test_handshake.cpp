// SPDX-License-Identifier: Apache-2.0
// Handshakes that succeed: every available suite, both modes, with and without the drone's signature.
#include "handshake/handshake_messages.hpp"
#include "handshake_fixture.hpp"
#include "hex.hpp"

#include <set>
#include <thread>

namespace pqcmav::test {
namespace {

class EveryKem : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryKem, AllItsSuitesAgreeOnKeys) {
  const auto* kem = find_kem(GetParam());
  if (resolve(*kem).empty()) GTEST_SKIP() << find_provider(*kem, provider_choice()).reason;
  int suites = 0;
  for (const auto& suite : all_suites()) {
    if (suite.kem != kem || !availability(suite).available) continue;
    ++suites;
    for (const bool hybrid : {true, false}) {
      // A SPHINCS+ or SLH-DSA signature takes a tenth of a second. The handshake does not use the AEAD, so there one of three does
      // both modes and signs twice.
      const bool slow = suite.sig->family_id >= 3;
      if (slow && hybrid != (suite.aead->id == AeadId::chacha20poly1305) && suite.aead->id != AeadId::aes256gcm)
        continue;
      const bool signs = hybrid && (!slow || suite.aead->id == AeadId::aes256gcm);
      const Scene scene{.suite = &suite, .hybrid = hybrid, .drone_signs = signs};
      expect_agreement(scene, run(scene));
    }
  }
  EXPECT_GE(suites, 9) << "three AEADs with at least three signatures";
}

std::vector<std::string> kem_tokens() {
  std::vector<std::string> out;
  for (const auto& kem : kems()) out.emplace_back(kem.token);
  return out;
}
INSTANTIATE_TEST_SUITE_P(Kem, EveryKem, ::testing::ValuesIn(kem_tokens()), [](const auto& info) { return info.param; });

TEST(Handshake, All72CoreSuitesAreAvailable) {
  if (liboqs_version() != "0.13.0") GTEST_SKIP() << "this is liboqs " << liboqs_version();
  int core = 0;
  for (const auto& suite : all_suites()) core += suite.core && availability(suite).available ? 1 : 0;
  EXPECT_EQ(core, 72);
}

TEST(Handshake, EverySplitOfTheStreamGivesTheSame) {
  for (const std::size_t chunk : {1, 2, 3, 4, 5, 6, 7, 64, 1000}) {
    for (const bool hybrid : {true, false}) {
      const Scene scene{.hybrid = hybrid, .drone_signs = true};
      expect_agreement(scene, run(scene, {}, chunk));
    }
  }
}

TEST(Handshake, EveryHandshakeHasItsOwnSessionAndKeys) {
  std::set<SessionId> sessions;
  std::set<std::string> keys;
  for (int i = 0; i < 50; ++i) {
    const auto out = run(Scene{});
    ASSERT_TRUE(out.done());
    sessions.insert(out.drone_keys->session_id);
    for (const auto& key : {out.drone_keys->k_d2g.view(), out.drone_keys->k_g2d.view()}) keys.insert(hex(key));
  }
  EXPECT_EQ(sessions.size(), 50u);
  EXPECT_EQ(keys.size(), 100u);
}

TEST(Handshake, TheKeysCarryDataBothWays) {
  const auto out = run(Scene{});
  ASSERT_TRUE(out.done());
  const auto& drone = *out.drone_keys;
  const auto& gcs = *out.gcs_keys;
  const auto exchange = [](const SessionKeys& from, const SessionKeys& to, auto key) {
    SendKey send(*from.suite, from.session_id, from.epoch, (from.*key).view());
    ReceiveKey receive(*to.suite, to.session_id, to.epoch, (to.*key).view());
    Bytes packet(kOverhead + 5);
    std::copy_n("hello", 5, packet.begin() + kHeaderSize);
    ASSERT_TRUE(send.seal(FrameType::data, packet));
    const auto opened = receive.open(parse_header(packet).value(), packet);
    ASSERT_FALSE(opened.drop);
    EXPECT_EQ(as_text(opened.payload), "hello");
  };
  exchange(drone, gcs, &SessionKeys::k_d2g);
  exchange(gcs, drone, &SessionKeys::k_g2d);
}

TEST(Handshake, AReturnProofIsMadeOverTheHelloBeforeIt) {
  const Scene scene;
  auto params = drone_params(scene);
  ReturnTicket ticket;
  ticket.prefix = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  ticket.key = Secret<32>(psk_of(9).view());
  params.ticket = ticket.clone();
  const auto out = run(std::move(params), gcs_env(scene));
  expect_agreement(scene, out);
  const ByteView m1 = out.messages[1];
  const auto hello = parse_client_hello(m1.subspan(kFrameHeaderSize)).value();
  ASSERT_EQ(hello.return_proof.size(), kReturnProofSize);
  EXPECT_TRUE(std::equal(ticket.prefix.begin(), ticket.prefix.end(), hello.return_proof.begin()));
  const auto covered = m1.first(m1.size() - kHashSize - 16);
  const auto mac = hmac_sha256(ticket.key.view(), {covered});
  EXPECT_TRUE(std::equal(mac.begin(), mac.begin() + 16, m1.begin() + static_cast<std::ptrdiff_t>(covered.size())));
  EXPECT_TRUE(gate_good(psk_of(1), m1)) << "the gate covers the proof, too";
}

TEST(Handshake, WithoutATicketThereIsNoProof) {
  const auto out = run(Scene{});
  const auto hello = parse_client_hello(ByteView(out.messages[1]).subspan(kFrameHeaderSize)).value();
  EXPECT_TRUE(hello.return_proof.empty());
}

TEST(Handshake, TheHelloNamesTheStationAndTheDatagramLimit) {
  Scene scene{.gcs_id = "north"};
  auto params = drone_params(scene);
  params.max_datagram = 548;
  auto env = gcs_env(scene);
  env->gcs_id = "north";
  const auto out = run(std::move(params), env);
  expect_agreement(scene, out);
  const auto hello = parse_client_hello(ByteView(out.messages[1]).subspan(kFrameHeaderSize)).value();
  EXPECT_EQ(hello.gcs_id, "north");
  EXPECT_EQ(hello.max_datagram, 548);
}

TEST(Handshake, TheChallengeIsAConstantThatNobodySends) {
  const ByteView m0 = challenge();
  Bytes expected{0, 0, 0, 40, 0};
  append(expected, as_bytes(std::string_view("PQMAV/3\0", 8)));
  expected.resize(expected.size() + 32);
  EXPECT_EQ(Bytes(m0.begin(), m0.end()), expected);
  const auto out = run(Scene{});
  EXPECT_EQ(out.messages[1][4], 1) << "M1 is the first message on the wire";
}

TEST(Handshake, TheInitiatorIsStartedOnceAndFirst) {
  HandshakeInitiator drone(drone_params(Scene{}));
  EXPECT_THROW((void)drone.on_data({}, 0), TunnelError);
  EXPECT_FALSE(drone.start(0).empty());
  EXPECT_THROW((void)drone.start(0), TunnelError);
}

TEST(Handshake, APooledKeyPairIsUsedAndReported) {
  const Scene scene;
  auto env = gcs_env(scene);
  env->kem_keypair = [](const KemInfo& kem) { return EphemeralKem{Kem(kem).keypair(), true}; };
  const auto out = run(drone_params(scene), env);
  expect_agreement(scene, out);
  EXPECT_TRUE(out.gcs_times.keygen_pooled);
  EXPECT_EQ(out.gcs_times.kem_keygen, 0u);
}

TEST(Handshake, TimesAndSizesAreThoseOfTheMessages) {
  const Scene scene{.drone_signs = true};
  const auto out = run(scene);
  ASSERT_TRUE(out.done());
  ASSERT_EQ(out.messages.size(), 5u);
  const auto& d = out.drone_times;
  const auto& g = out.gcs_times;
  EXPECT_EQ(d.public_key, scene.suite->kem->public_key);
  EXPECT_EQ(g.public_key, scene.suite->kem->public_key);
  EXPECT_EQ(d.ciphertext, scene.suite->kem->ciphertext);
  EXPECT_EQ(g.ciphertext, scene.suite->kem->ciphertext);
  EXPECT_EQ(d.signature, scene.suite->sig->signature_max);
  EXPECT_EQ(g.drone_signature, scene.suite->sig->signature_max);
  EXPECT_EQ(g.bytes_sent, out.messages[2].size() + out.messages[4].size());
  EXPECT_EQ(g.bytes_received, out.messages[1].size() + out.messages[3].size());
  EXPECT_EQ(d.bytes_sent, g.bytes_received);
  EXPECT_EQ(d.bytes_received, g.bytes_sent);
  for (const auto primitive : {d.kem_encaps, d.sig_verify, d.sig_sign, d.x25519, d.kdf}) EXPECT_GT(primitive, 0u);
  for (const auto primitive : {g.kem_keygen, g.kem_decaps, g.sig_sign, g.sig_verify, g.x25519, g.kdf})
    EXPECT_GT(primitive, 0u);
  EXPECT_EQ(d.kem_keygen + d.kem_decaps, 0u);
  EXPECT_EQ(g.kem_encaps, 0u);
  // run() lets 10 s pass before each message; phases 0 and 2 of the drone and 1 and 3 of the gcs are its own work.
  constexpr std::uint64_t kStep = 10'000'000'000;
  EXPECT_EQ(g.phases[0], 0u) << "the first thing it sees is M1";
  for (const auto phase : {d.phases[1], d.phases[3], g.phases[2]}) {
    EXPECT_GT(phase, kStep);
    EXPECT_LE(phase, 2 * kStep);
  }
  for (const auto phase : {d.phases[0], d.phases[2], g.phases[1], g.phases[3]}) {
    EXPECT_GT(phase, 0u);
    EXPECT_LT(phase, kStep);
  }
  EXPECT_GE(d.phases[2], d.kem_encaps + d.sig_verify + d.sig_sign);
}

TEST(Handshake, PureModeTouchesNoX25519) {
  const auto out = run(Scene{.hybrid = false});
  ASSERT_TRUE(out.done());
  EXPECT_EQ(out.drone_times.x25519 + out.gcs_times.x25519, 0u);
}

TEST(Handshake, KeysAreHandedOutOnce) {
  const Scene scene;
  HandshakeInitiator drone(drone_params(scene));
  HandshakeResponder gcs(gcs_env(scene));
  EXPECT_THROW((void)drone.take_keys(), TunnelError);
  EXPECT_THROW((void)gcs.take_keys(), TunnelError);
  const auto m1 = drone.start(0);
  EXPECT_FALSE(gcs.gated());
  EXPECT_EQ(gcs.on_data(m1, 0).status, HandshakeStatus::working);
  EXPECT_TRUE(gcs.gated());
  EXPECT_EQ(gcs.session_id(), SessionId{});
  const auto m2 = gcs.go_on(0).send;
  EXPECT_FALSE(gcs.gated());
  EXPECT_NE(gcs.session_id(), SessionId{});
  EXPECT_EQ(gcs.suite(), scene.suite);
  const auto m4 = gcs.on_data(drone.on_data(m2, 0).send, 0);
  EXPECT_EQ(m4.status, HandshakeStatus::done);
  EXPECT_EQ(drone.on_data(m4.send, 0).status, HandshakeStatus::done);
  EXPECT_TRUE(same(drone.take_keys(), gcs.take_keys()));
  EXPECT_THROW((void)drone.take_keys(), TunnelError);
  EXPECT_THROW((void)gcs.take_keys(), TunnelError);
}

TEST(Handshake, WithFixedRandomnessItsOwnBytesRepeat) {
  const auto fixed = [](std::uint8_t first) {
    return [next = first](MutableBytes out) mutable {
      for (auto& byte : out) byte = next++;
    };
  };
  const auto once = [&] {
    const Scene scene;
    auto env = gcs_env(scene);
    env->random = fixed(1);
    auto params = drone_params(scene);
    params.random = fixed(100);
    return run(std::move(params), env);
  };
  const auto a = once(), b = once();
  ASSERT_TRUE(a.done() && b.done());
  EXPECT_EQ(a.messages[0], b.messages[0]);
  EXPECT_EQ(a.messages[1], b.messages[1]);
  EXPECT_EQ(a.drone_keys->session_id, b.drone_keys->session_id);
  EXPECT_NE(a.messages[3], b.messages[3]) << "the KEM's randomness is its own";
}

TEST(Handshake, PreparingAheadDrawsTheSameKeyOnceAndNoMore) {
  for (const bool hybrid : {true, false}) {
    std::vector<std::size_t> draws[2];
    Bytes offered[2];
    for (const bool prepared : {false, true}) {
      const Scene scene{.hybrid = hybrid};
      auto params = drone_params(scene);
      params.random = [&, next = std::uint8_t{1}](MutableBytes out) mutable {
        draws[prepared].push_back(out.size());
        for (auto& byte : out) byte = next++;
      };
      HandshakeInitiator drone(std::move(params));
      HandshakeResponder gcs(gcs_env(scene));
      const auto prepare = [&] {
        if (prepared) drone.prepare();
      };
      prepare();  // nothing to do yet
      (void)gcs.on_data(drone.start(0), 0);
      prepare();
      EXPECT_EQ(draws[prepared].size(), hybrid && prepared ? 2u : 1u)
          << "the nonce, and the key where it is made ahead";
      prepare();
      const auto m2 = gcs.go_on(0).send;
      const auto m3 = drone.on_data(m2, 0).send;
      prepare();
      const auto m4 = gcs.on_data(m3, 0);
      ASSERT_EQ(m4.status, HandshakeStatus::done);
      ASSERT_EQ(drone.on_data(m4.send, 0).status, HandshakeStatus::done);
      prepare();
      EXPECT_TRUE(same(drone.take_keys(), gcs.take_keys()));
      EXPECT_EQ(drone.times().x25519 > 0, hybrid);
      // The offered key follows the ciphertext: u32 length, ciphertext, u32 length, key.
      const auto at = 5 + 4 + scene.suite->kem->ciphertext;
      offered[prepared] = Bytes(m3.begin() + static_cast<std::ptrdiff_t>(at),
                                m3.begin() + static_cast<std::ptrdiff_t>(at + 4 + (hybrid ? 32 : 0)));
    }
    EXPECT_EQ(draws[0], draws[1]);
    EXPECT_EQ(offered[0], offered[1]);
  }
}

TEST(Handshake, SeveralRunAtOnce) {
  ASSERT_TRUE(run(Scene{.drone_signs = true}).done());  // makes the fixture's keys before the threads start
  std::array<int, 4> done{}, silent{};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < done.size(); ++i) {
    threads.emplace_back([&done, &silent, i] {
      for (int round = 0; round < 20; ++round) {
        Calls calls;
        const Scene scene{.drone_signs = true, .drone_id = round % 4 == 3 ? "stranger" : "uav1"};
        const auto out = run(drone_params(scene), gcs_env(scene, &calls));
        done[i] += out.done() ? 1 : 0;
        silent[i] += out.gcs_error == HandshakeError::unknown_drone ? 1 : 0;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < done.size(); ++i) {
    EXPECT_EQ(done[i], 15);
    EXPECT_EQ(silent[i], 5);
  }
}

TEST(Handshake, TheExpensiveHalfMayRunOnAnotherThread) {
  const Scene scene;
  HandshakeInitiator drone(drone_params(scene));
  HandshakeResponder gcs(gcs_env(scene));
  (void)gcs.on_data(drone.start(0), 0);
  ASSERT_TRUE(gcs.gated());
  std::thread worker([&] {
    const auto m3 = drone.on_data(gcs.go_on(0).send, 0).send;
    const auto m4 = gcs.on_data(m3, 0);
    EXPECT_EQ(m4.status, HandshakeStatus::done);
    EXPECT_EQ(drone.on_data(m4.send, 0).status, HandshakeStatus::done);
  });
  worker.join();
  EXPECT_TRUE(same(drone.take_keys(), gcs.take_keys()));
}

TEST(Handshake, ASourceOfZerosIsNotASessionId) {
  const Scene scene;
  auto env = gcs_env(scene);
  env->random = [](MutableBytes out) { std::fill(out.begin(), out.end(), std::uint8_t{0}); };
  const auto out = run(drone_params(scene), env);
  EXPECT_EQ(out.gcs_error, HandshakeError::crypto);
}

}  // namespace
}  // namespace pqcmav::test
