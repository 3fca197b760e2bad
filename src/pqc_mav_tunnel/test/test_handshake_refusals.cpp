// SPDX-License-Identifier: Apache-2.0
// Handshakes that must not succeed, and what each end reports: wrong keys, forbidden suites, sessions and epochs,
// missing signatures, and what a stranger costs.
#include <malloc.h>

#include "handshake/handshake_messages.hpp"
#include "handshake_fixture.hpp"

namespace pqcmav::test {
namespace {

/// Runs, and expects the gcs to answer `code` and both ends to know it.
void expect_reject(InitiatorParams params, std::shared_ptr<const ResponderEnv> env, Reject code) {
  const auto out = run(std::move(params), std::move(env));
  EXPECT_EQ(out.drone_error, HandshakeError::rejected);
  EXPECT_EQ(out.drone_code, static_cast<std::uint8_t>(code));
  EXPECT_EQ(out.gcs_error, HandshakeError::refused_locally);
  EXPECT_EQ(out.gcs_code, static_cast<std::uint8_t>(code));
  EXPECT_TRUE(out.past_gate);
  ASSERT_EQ(out.messages.size(), 3u);
  EXPECT_EQ(out.messages[2], encode_reject(code));
}

/// Runs, and expects silence from the gcs after M1.
void expect_silence(const Outcome& out, HandshakeError why) {
  EXPECT_EQ(out.gcs_error, why);
  EXPECT_EQ(out.messages.size(), 2u);
  EXPECT_FALSE(out.past_gate);
  EXPECT_EQ(out.gcs_times.bytes_sent, out.messages[0].size());
  EXPECT_EQ(out.drone, HandshakeStatus::working) << "the drone sees only a closed connection";
}

TEST(Refusals, AWrongPskIsMetWithSilence) {
  Calls calls;
  const Scene scene{.drone_psk = 2};
  expect_silence(run(drone_params(scene), gcs_env(scene, &calls)), HandshakeError::bad_gate);
  EXPECT_EQ(calls, (Calls{.find_drone = 1})) << "nothing but the look-up before the gate";
}

TEST(Refusals, AnUnknownDroneIsMetWithSilence) {
  Calls calls;
  const Scene scene{.drone_id = "stranger"};
  expect_silence(run(drone_params(scene), gcs_env(scene, &calls)), HandshakeError::unknown_drone);
  EXPECT_EQ(calls, (Calls{.find_drone = 1}));
}

TEST(Refusals, AnAllZeroGateDoesNotPassForAnUnknownDrone) {
  const Scene scene{.drone_id = "stranger"};
  const auto out = run(scene, [](std::size_t index, Bytes& frame) {
    if (index == 1) std::fill(frame.end() - kHashSize, frame.end(), std::uint8_t{0});
  });
  expect_silence(out, HandshakeError::unknown_drone);
}

TEST(Refusals, AGatedClientIsNotYetServed) {
  Calls calls;
  const Scene scene;
  HandshakeInitiator drone(drone_params(scene));
  HandshakeResponder gcs(gcs_env(scene, &calls));
  const auto step = gcs.on_data(drone.on_data(gcs.start(0), 0).send, 0);
  EXPECT_TRUE(gcs.gated());
  EXPECT_TRUE(step.send.empty());
  EXPECT_EQ(calls, (Calls{.find_drone = 1}));
  const auto busy = gcs.refuse(Reject::busy);
  EXPECT_EQ(busy.status, HandshakeStatus::failed);
  EXPECT_EQ(busy.send, encode_reject(Reject::busy));
  EXPECT_EQ(gcs.error(), HandshakeError::refused_locally);
  EXPECT_EQ(drone.on_data(busy.send, 0).status, HandshakeStatus::failed);
  EXPECT_EQ(drone.reject_code(), static_cast<std::uint8_t>(Reject::busy));
  EXPECT_EQ(calls.keygen, 0);
  EXPECT_THROW((void)gcs.refuse(Reject::busy), TunnelError);
}

TEST(Refusals, WithoutAGateNobodyIsToldWhy) {
  HandshakeResponder gcs(gcs_env(Scene{}));
  EXPECT_THROW((void)gcs.on_data(Bytes{1}, 0), TunnelError) << "not started";
  (void)gcs.start(0);
  EXPECT_THROW((void)gcs.start(0), TunnelError);
  EXPECT_THROW((void)gcs.refuse(Reject::busy), TunnelError);
  EXPECT_THROW((void)gcs.go_on(0), TunnelError);
}

TEST(Refusals, TheWrongGcsKey) {
  Scene scene;
  auto params = drone_params(scene);
  params.gcs_public_key = signing_pair("impostor", *scene.suite->sig).public_key;
  const auto out = run(std::move(params), gcs_env(scene));
  EXPECT_EQ(out.drone_error, HandshakeError::bad_signature);
  EXPECT_EQ(out.drone_times.kem_encaps, 0u) << "nothing is encapsulated to a key whose owner is unknown";
  EXPECT_EQ(out.messages.size(), 3u);
}

TEST(Refusals, ASuiteTheGcsDoesNotKnow) {
  // The drone's table cannot hold such a suite, so the gate is made here.
  const Scene scene;
  HandshakeResponder gcs(gcs_env(scene));
  const auto m0 = gcs.start(0);
  ClientHello hello;
  hello.drone_id = scene.drone_id;
  hello.hybrid = true;
  for (const std::string_view asked :
       {"cs-future-aesgcm-future", "ML-512-AG-MD-44", "CS-MLKEM512-AESGCM-MLDSA44", ""}) {
    hello.suite = asked;
    HandshakeResponder each(gcs_env(scene));
    const auto cookie = each.start(0);
    auto m1 = encode_client_hello(hello);
    Secret<32> gate_key;
    hkdf_expand(psk_of(1).view(), as_bytes("PQMAV/2 gate"), gate_key.mut());
    append(m1, hmac_sha256(gate_key.view(), {cookie, m1}));
    EXPECT_EQ(each.on_data(m1, 0).status, HandshakeStatus::working);
    ASSERT_TRUE(each.gated()) << asked;
    EXPECT_EQ(each.go_on(0).send, encode_reject(Reject::suite_unknown)) << asked;
  }
}

TEST(Refusals, ASuiteTheGcsForbids) {
  const Scene scene;
  Calls calls;
  auto env = gcs_env(scene, &calls);
  env->check_suite = [&](std::string_view id, const Suite& suite, bool hybrid) {
    EXPECT_EQ(id, "uav1");
    EXPECT_EQ(&suite, scene.suite);
    EXPECT_TRUE(hybrid);
    return std::optional(Reject::suite_not_allowed);
  };
  expect_reject(drone_params(scene), env, Reject::suite_not_allowed);
  EXPECT_EQ(calls.keygen + calls.gcs_secret, 0);
}

TEST(Refusals, PureModeWhereItIsNotAllowed) {
  Scene scene{.hybrid = false, .allow_pure = false};
  expect_reject(drone_params(scene), gcs_env(scene), Reject::suite_not_allowed);
  scene.hybrid = true;
  EXPECT_TRUE(run(scene).done());
}

TEST(Refusals, ADroneSignatureThatIsRequiredAndAbsent) {
  Scene scene{.require_signature = true};
  Calls calls;
  expect_reject(drone_params(scene), gcs_env(scene, &calls), Reject::suite_not_allowed);
  EXPECT_EQ(calls.keygen, 0);
  scene.drone_signs = true;
  EXPECT_TRUE(run(scene).done());
}

TEST(Refusals, ADroneSignatureNobodyCanVerify) {
  const Scene scene{.drone_signs = true};
  auto env = gcs_env(scene);
  env->drone_public = [](std::string_view, const SigInfo&) { return std::optional<Bytes>(); };
  expect_reject(drone_params(scene), env, Reject::suite_not_allowed);
}

TEST(Refusals, ADroneThatSignsWithAnotherKey) {
  const Scene scene{.drone_signs = true};
  auto params = drone_params(scene);
  params.own_secret = signing_pair("impostor", *scene.suite->sig).secret_key.clone();
  const auto out = run(std::move(params), gcs_env(scene));
  EXPECT_EQ(out.gcs_error, HandshakeError::bad_drone_signature);
  EXPECT_EQ(out.gcs_times.kem_decaps, 0u);
  EXPECT_EQ(out.drone, HandshakeStatus::working);
}

TEST(Refusals, AlgorithmNamesThatDiffer) {
  const Scene scene;
  for (const int which : {0, 1}) {
    HandshakeResponder gcs(gcs_env(scene));
    const auto m0 = gcs.start(0);
    ClientHello hello;
    hello.drone_id = scene.drone_id;
    hello.suite = scene.suite->id;
    hello.kem_name = which == 0 ? "HQC-1" : "ML-KEM-512";
    hello.sig_name = which == 1 ? "ML-DSA-45" : "ML-DSA-44";
    hello.hybrid = true;
    auto m1 = encode_client_hello(hello);
    Secret<32> gate_key;
    hkdf_expand(psk_of(1).view(), as_bytes("PQMAV/2 gate"), gate_key.mut());
    append(m1, hmac_sha256(gate_key.view(), {m0, m1}));
    (void)gcs.on_data(m1, 0);
    EXPECT_EQ(gcs.go_on(0).send, encode_reject(Reject::algorithm_unavailable));
  }
}

TEST(Refusals, AGcsWithoutASigningKeyOfTheAlgorithm) {
  const Scene scene;
  Calls calls;
  auto env = gcs_env(scene, &calls);
  env->gcs_secret = [](const SigInfo&) -> SecretBytes { throw TunnelError(Errc::key_missing, "no such file"); };
  expect_reject(drone_params(scene), env, Reject::algorithm_unavailable);
  EXPECT_EQ(calls.keygen, 0);
}

TEST(Refusals, SessionsAndEpochs) {
  const SessionId running{1, 2, 3, 4, 5, 6, 7, 8};
  for (const auto code : {Reject::session_unknown, Reject::epoch}) {
    const Scene scene{.prev_session = running, .epoch = 3};
    auto env = gcs_env(scene);
    env->check_session = [&](std::string_view, const SessionId& prev, std::uint8_t epoch) {
      EXPECT_EQ(prev, running);
      EXPECT_EQ(epoch, 3);
      return std::optional(code);
    };
    expect_reject(drone_params(scene), env, code);
  }
  // A rekey to epoch 0 is none, whatever the table of sessions says.
  const Scene to_zero{.prev_session = running, .epoch = 0};
  expect_reject(drone_params(to_zero), gcs_env(to_zero), Reject::epoch);
}

TEST(Refusals, WhereSeveralApplyTheFirstOfTheOrderIsSent) {
  const Scene scene{.drone_signs = true, .prev_session = {1}, .epoch = 3};
  auto env = gcs_env(scene);
  env->check_session = [](std::string_view, const SessionId&, std::uint8_t) {
    return std::optional(Reject::session_unknown);
  };
  expect_reject(drone_params(scene), env, Reject::session_unknown);
  env->gcs_secret = [](const SigInfo&) -> SecretBytes { throw TunnelError(Errc::key_missing, "no such file"); };
  expect_reject(drone_params(scene), env, Reject::algorithm_unavailable);
  env->check_suite = [](std::string_view, const Suite&, bool) { return std::optional(Reject::algorithm_unavailable); };
  expect_reject(drone_params(scene), env, Reject::algorithm_unavailable);
  env->drone_public = [](std::string_view, const SigInfo&) { return std::optional<Bytes>(); };
  expect_reject(drone_params(scene), env, Reject::suite_not_allowed);
}

TEST(Refusals, ARejectIsBelievedOnlyInPlaceOfTheServerHello) {
  const auto at = [](std::size_t message, const Bytes& reject) {
    return run(Scene{}, [&](std::size_t index, Bytes& frame) {
      if (index == message) frame = reject;
    });
  };
  const auto good = at(2, encode_reject(Reject::busy));
  EXPECT_EQ(good.drone_error, HandshakeError::rejected);
  EXPECT_EQ(good.drone_code, static_cast<std::uint8_t>(Reject::busy));
  EXPECT_EQ(at(0, encode_reject(Reject::busy)).drone_error, HandshakeError::bad_frame);
  EXPECT_EQ(at(4, encode_reject(Reject::busy)).drone_error, HandshakeError::bad_frame);
  EXPECT_EQ(at(2, Bytes{0, 0, 0, 1, 9, 0}).drone_error, HandshakeError::malformed);
  EXPECT_EQ(at(2, Bytes{0, 0, 0, 1, 9, 7}).drone_error, HandshakeError::malformed);
}

TEST(Refusals, CallbacksThatFailEndTheHandshakeAndNothingElse) {
  const Scene scene{.drone_signs = true};
  const auto broken = [&](const auto& breaker) {
    auto env = gcs_env(scene);
    breaker(*env);
    return run(drone_params(scene), env);
  };
  const TunnelError problem(Errc::key_permissions, "readable by others");
  EXPECT_EQ(broken([&](ResponderEnv& env) {
              env.find_drone = [&](auto) -> std::optional<DroneRecord> { throw problem; };
            }).gcs_error,
            HandshakeError::crypto);
  EXPECT_EQ(broken([&](ResponderEnv& env) { env.gcs_secret = [&](auto&) -> SecretBytes { throw problem; }; }).gcs_error,
            HandshakeError::crypto);
  EXPECT_EQ(
      broken([&](ResponderEnv& env) { env.kem_keypair = [&](auto&) -> EphemeralKem { throw problem; }; }).gcs_error,
      HandshakeError::crypto);
  EXPECT_EQ(broken([&](ResponderEnv& env) { env.kem_keypair = [](auto&) { return EphemeralKem{}; }; }).gcs_error,
            HandshakeError::crypto);
  EXPECT_EQ(broken([&](ResponderEnv& env) { env.gcs_secret = [](auto&) { return SecretBytes(3); }; }).gcs_error,
            HandshakeError::crypto);
  EXPECT_EQ(broken([&](ResponderEnv& env) {
              env.drone_public = [](auto, auto&) { return std::optional(Bytes(3)); };
            }).gcs_error,
            HandshakeError::bad_drone_signature);
}

TEST(Refusals, ParametersThatCannotWorkAreRefusedAtOnce) {
  const auto code_of = [](const auto& change) {
    const Scene scene{.drone_signs = true};
    auto params = drone_params(scene);
    change(params);
    try {
      HandshakeInitiator drone(std::move(params));
    } catch (const TunnelError& error) {
      return std::optional(error.code());
    }
    return std::optional<Errc>();
  };
  EXPECT_FALSE(code_of([](InitiatorParams&) {}));
  EXPECT_EQ(code_of([](InitiatorParams& p) { p.suite = nullptr; }), Errc::state);
  EXPECT_EQ(code_of([](InitiatorParams& p) { p.drone_id = "Not Valid"; }), Errc::config_invalid);
  EXPECT_EQ(code_of([](InitiatorParams& p) { p.gcs_public_key.pop_back(); }), Errc::key_format);
  EXPECT_EQ(code_of([](InitiatorParams& p) { p.own_secret = SecretBytes(1); }), Errc::key_format);
  EXPECT_EQ(code_of([](InitiatorParams& p) { p.epoch = 1; }), Errc::state);
  EXPECT_EQ(code_of([](InitiatorParams& p) { p.random = nullptr; }), Errc::state);
  EXPECT_THROW(HandshakeResponder(nullptr), TunnelError);
  EXPECT_THROW(HandshakeResponder(std::make_shared<ResponderEnv>()), TunnelError);
}

/// Bytes the process has allocated and not freed.
std::size_t in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(Refusals, AnnouncingTheMaximumCostsNoMemory) {
  const auto& big = suite("cs-classicmceliece8192128-aesgcm-mldsa87");
  const Scene scene{.suite = &big};
  auto params = drone_params(scene);
  HandshakeResponder gcs(gcs_env(scene));
  const auto m0 = gcs.start(0);
  std::vector<std::unique_ptr<HandshakeInitiator>> drones;
  const auto limit = server_hello_limits(big, true).front().greatest;
  const auto header = start_frame(MessageType::server_hello, limit);
  ASSERT_GT(limit, 1'300'000u);
  const auto before = in_use();
  for (int i = 0; i < 50; ++i) {
    drones.push_back(std::make_unique<HandshakeInitiator>(drone_params(scene)));
    EXPECT_FALSE(drones.back()->on_data(m0, 0).send.empty());
    EXPECT_EQ(drones.back()->on_data(ByteView(header).first(kFrameHeaderSize), 0).status, HandshakeStatus::working);
  }
  EXPECT_LT(in_use() - before, 50u * 20'000u);
}

TEST(Refusals, AStrangerAtTheGateCostsTheGcsLittleMemory) {
  const Scene scene;
  const auto env = gcs_env(scene);
  std::vector<std::unique_ptr<HandshakeResponder>> waiting;
  const auto limit = client_hello_limits().front().greatest;
  auto hello = start_frame(MessageType::client_hello, limit);
  const auto before = in_use();
  for (int i = 0; i < 100; ++i) {
    waiting.push_back(std::make_unique<HandshakeResponder>(env));
    (void)waiting.back()->start(0);
    EXPECT_EQ(waiting.back()->on_data(hello, 0).status, HandshakeStatus::working);
  }
  EXPECT_LT(in_use() - before, 100u * 10'000u);
}

}  // namespace
}  // namespace pqcmav::test
