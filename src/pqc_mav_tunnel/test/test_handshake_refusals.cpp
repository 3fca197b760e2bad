// SPDX-License-Identifier: Apache-2.0
// Handshakes that must not succeed, and what each end reports: wrong keys, forged refusals, sessions and epochs,
// missing signatures, and what a stranger costs.
#include <malloc.h>

#include "handshake/handshake_messages.hpp"
#include "handshake/lack.hpp"
#include "handshake_fixture.hpp"
#include "keys/gcs_psk.hpp"

namespace pqcmav::test {
namespace {

/// Runs, and expects the gcs to answer `code` and both ends to know it.
void expect_reject(InitiatorParams params, std::shared_ptr<const ResponderEnv> env, Reject code,
                   std::optional<RunningSession> session = std::nullopt, std::uint16_t lack = 0) {
  const auto out = run(std::move(params), std::move(env), {}, 0, std::move(session));
  EXPECT_EQ(out.drone_error, HandshakeError::rejected);
  EXPECT_EQ(out.drone_code, static_cast<std::uint8_t>(code));
  EXPECT_EQ(out.gcs_error, HandshakeError::refused_locally);
  EXPECT_EQ(out.gcs_code, static_cast<std::uint8_t>(code));
  ASSERT_EQ(out.messages.size(), 3u);
  EXPECT_EQ(out.messages[2], refusal_of(out.messages[1], code, lack));
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

TEST(Refusals, AnotherStationsDroneIsMetWithSilence) {
  Calls calls;
  const Scene scene{.gcs_id = "north"};
  expect_silence(run(drone_params(scene), gcs_env(scene, &calls)), HandshakeError::other_gcs);
  EXPECT_EQ(calls, (Calls{.find_drone = 1}));
  // A stranger who asks for another station is a stranger first.
  const Scene stranger{.drone_id = "stranger", .gcs_id = "north"};
  expect_silence(run(stranger), HandshakeError::unknown_drone);
}

TEST(Refusals, AGateMadeForAnotherStationsKeyDoesNotPass) {
  // A captured station knows psk_of_gcs(drone, "north"); here the drone's key for "gcs" is needed.
  const Scene scene;
  auto env = gcs_env(scene);
  env->find_drone = [](std::string_view) {
    return std::optional(DroneRecord{psk_of_gcs(psk_of(1), "gcs"), false, false, true});
  };
  auto params = drone_params(scene);
  params.psk = psk_of_gcs(psk_of(1), "north");
  expect_silence(run(std::move(params), env), HandshakeError::bad_gate);
  params = drone_params(scene);
  params.psk = psk_of_gcs(psk_of(1), "gcs");
  EXPECT_TRUE(run(std::move(params), env).done());
}

TEST(Refusals, AGatedClientIsNotYetServed) {
  Calls calls;
  const Scene scene;
  HandshakeInitiator drone(drone_params(scene));
  HandshakeResponder gcs(gcs_env(scene, &calls));
  const auto m1 = drone.start(0);
  const auto step = gcs.on_data(m1, 0);
  EXPECT_TRUE(gcs.gated());
  EXPECT_TRUE(step.send.empty());
  EXPECT_EQ(calls, (Calls{.find_drone = 1}));
  const auto no = gcs.refuse(Reject::suite_not_allowed);
  EXPECT_EQ(no.status, HandshakeStatus::failed);
  EXPECT_EQ(no.send, refusal_of(m1, Reject::suite_not_allowed));
  EXPECT_EQ(gcs.error(), HandshakeError::refused_locally);
  EXPECT_EQ(drone.on_data(no.send, 0).status, HandshakeStatus::failed);
  EXPECT_EQ(drone.reject_code(), static_cast<std::uint8_t>(Reject::suite_not_allowed));
  EXPECT_EQ(calls.keygen, 0);
  EXPECT_THROW((void)gcs.refuse(Reject::busy), TunnelError);
}

TEST(Refusals, WithoutAGateNobodyIsToldWhy) {
  HandshakeResponder gcs(gcs_env(Scene{}));
  EXPECT_THROW((void)gcs.refuse(Reject::busy), TunnelError);
  EXPECT_THROW((void)gcs.go_on(0), TunnelError);
  HandshakeInitiator drone(drone_params(Scene{.drone_psk = 2}));
  EXPECT_EQ(gcs.on_data(drone.start(0), 0).status, HandshakeStatus::failed);
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

/// M1 with a good gate, for what no drone of this version would ask.
Bytes gated_hello(ClientHello hello) {
  hello.drone_id = "uav1";
  hello.gcs_id = "gcs";
  hello.hybrid = true;
  auto m1 = encode_client_hello(hello);
  append(m1, gate_mac(psk_of(1), m1));
  return m1;
}

TEST(Refusals, ASuiteTheGcsDoesNotKnow) {
  // The drone's table cannot hold such a suite, so the gate is made here.
  for (const std::string_view asked :
       {"cs-future-aesgcm-future", "ML-512-AG-MD-44", "CS-MLKEM512-AESGCM-MLDSA44", ""}) {
    ClientHello hello;
    hello.suite = asked;
    const auto m1 = gated_hello(hello);
    HandshakeResponder gcs(gcs_env(Scene{}));
    EXPECT_EQ(gcs.on_data(m1, 0).status, HandshakeStatus::working);
    ASSERT_TRUE(gcs.gated()) << asked;
    EXPECT_EQ(gcs.go_on(0).send, refusal_of(m1, Reject::suite_unknown)) << asked;
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

TEST(Refusals, ADroneWhoseKeyIsKnownMustSign) {
  Scene scene{.sign_where_known = true};
  expect_reject(drone_params(scene), gcs_env(scene), Reject::suite_not_allowed);
  auto stranger = gcs_env(scene);
  stranger->drone_public = [](std::string_view, const SigInfo&) { return std::optional<Bytes>(); };
  EXPECT_TRUE(run(drone_params(scene), stranger).done()) << "one whose key nobody knows need not";
  auto other = gcs_env(scene);
  other->drone_public = [&scene](std::string_view, const SigInfo& sig) {
    return sig.token == scene.suite->sig->token ? std::optional<Bytes>() : std::optional(Bytes(3));
  };
  expect_reject(drone_params(scene), other, Reject::suite_not_allowed);  // the suite is the drone's choice
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
  for (const int which : {0, 1, 2}) {
    ClientHello hello;
    hello.suite = light().id;
    hello.kem_name = which == 0 ? "HQC-1" : "ML-KEM-512";
    hello.sig_name = which == 1 ? "ML-DSA-45" : "ML-DSA-44";
    const auto m1 = gated_hello(hello);
    HandshakeResponder gcs(gcs_env(Scene{}));
    (void)gcs.on_data(m1, 0);
    const auto answer = gcs.go_on(0).send;
    if (which == 2) {
      EXPECT_EQ(answer[4], 2) << "the same names: M2";
    } else {
      const auto lack = which == 0 ? lacks::kKem : lacks::kSignature;
      EXPECT_EQ(answer, refusal_of(m1, Reject::algorithm_unavailable, lack));
      EXPECT_NE(gcs.reason().find(which == 0 ? "no ML-KEM-512 (here 'ML-KEM-512'" : "no ML-DSA-44 (here 'ML-DSA-44'"),
                std::string::npos)
          << gcs.reason();
    }
  }
}

TEST(Refusals, AGcsWithoutASigningKeyOfTheAlgorithm) {
  const Scene scene;
  Calls calls;
  auto env = gcs_env(scene, &calls);
  env->gcs_secret = [](const SigInfo&) -> SecretBytes { throw TunnelError(Errc::key_missing, "no such file"); };
  expect_reject(drone_params(scene), env, Reject::algorithm_unavailable, std::nullopt, lacks::kSigningKey);
  EXPECT_EQ(calls.keygen, 0);
}

TEST(Refusals, AFirstHandshakeBeginsAtEpochZero) {
  ClientHello hello;
  hello.suite = light().id;
  hello.kem_name = "ML-KEM-512";
  hello.sig_name = "ML-DSA-44";
  hello.epoch = 1;
  const auto m1 = gated_hello(hello);
  HandshakeResponder gcs(gcs_env(Scene{}));
  (void)gcs.on_data(m1, 0);
  EXPECT_EQ(gcs.go_on(0).send, refusal_of(m1, Reject::epoch));
}

TEST(Refusals, WhereSeveralApplyTheFirstOfTheOrderIsSent) {
  const Scene scene{.drone_signs = true, .epoch = 3, .session = 1};
  const auto expect = [&](std::shared_ptr<ResponderEnv> env, Reject code, std::uint16_t lack = 0) {
    expect_reject(drone_params(scene), std::move(env), code, gcs_session(scene), lack);
  };
  auto env = gcs_env(scene);
  expect(env, Reject::epoch);
  env->gcs_secret = [](const SigInfo&) -> SecretBytes { throw TunnelError(Errc::key_missing, "no such file"); };
  expect(env, Reject::algorithm_unavailable, lacks::kSigningKey);
  env->check_suite = [](std::string_view, const Suite&, bool) { return std::optional(Reject::algorithm_unavailable); };
  expect(env, Reject::algorithm_unavailable, lacks::kSigningKey);
  env->drone_public = [](std::string_view, const SigInfo&) { return std::optional<Bytes>(); };
  expect(env, Reject::suite_not_allowed);
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
  EXPECT_EQ(code_of([](InitiatorParams& p) { p.gcs_id = "Not Valid"; }), Errc::config_invalid);
  EXPECT_EQ(code_of([](InitiatorParams& p) { p.prev_session = session_of(1); }), Errc::state) << "no chain secret";
  EXPECT_EQ(code_of([](InitiatorParams& p) { p.chain_prev = SecretBytes(32); }), Errc::state) << "of no session";
  EXPECT_FALSE(code_of([](InitiatorParams& p) {
    p.prev_session = session_of(1);
    p.chain_prev = SecretBytes(32);
    p.epoch = 0;
  })) << "after epoch 255";
  EXPECT_THROW(HandshakeResponder(nullptr), TunnelError);
  EXPECT_THROW(HandshakeResponder(std::make_shared<ResponderEnv>()), TunnelError);
}

/// Bytes the process has allocated and not freed.
std::size_t in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(Refusals, AnnouncingTheMaximumCostsNoMemory) {
  const auto& big = *find_suite("cs-classicmceliece8192128-aesgcm-mldsa87");
  if (!availability(big).available) GTEST_SKIP() << availability(big).reason;
  const Scene scene{.suite = &big};
  std::vector<std::unique_ptr<HandshakeInitiator>> drones;
  const auto limit = server_hello_limits(big, true).front().greatest;
  const auto header = start_frame(MessageType::server_hello, limit);
  ASSERT_GT(limit, 1'300'000u);
  const auto before = in_use();
  for (int i = 0; i < 50; ++i) {
    drones.push_back(std::make_unique<HandshakeInitiator>(drone_params(scene)));
    EXPECT_FALSE(drones.back()->start(0).empty());
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
    EXPECT_EQ(waiting.back()->on_data(hello, 0).status, HandshakeStatus::working);
  }
  EXPECT_LT(in_use() - before, 100u * 10'000u);
}

}  // namespace
}  // namespace pqcmav::test
