// SPDX-License-Identifier: Apache-2.0
// A suite that only one end has: what is refused, and what each end says of it.
#include "handshake/lack.hpp"

#include "handshake_fixture.hpp"

namespace pqcmav::test {
namespace {

TEST(Lack, AnAlgorithmTheGcsLacksIsNamedWithWhoHasIt) {
  const auto& all = all_suites();
  const auto found = std::ranges::find_if(all, [](const Suite& each) { return resolve(*each.kem).empty(); });
  if (found == all.end()) GTEST_SKIP() << "every KEM of the table is here";
  ClientHello hello;
  hello.suite = found->id;
  hello.kem_name = found->kem->name;
  hello.sig_name = found->sig->name;
  hello.drone_id = "uav1";
  hello.gcs_id = "gcs";
  hello.hybrid = true;
  auto m1 = encode_client_hello(hello);
  append(m1, gate_mac(psk_of(1), m1));
  HandshakeResponder gcs(gcs_env(Scene{}));
  (void)gcs.on_data(m1, 0);
  const auto lack = lacking(*found, hello.kem_name, hello.sig_name);
  EXPECT_NE(lack & lacks::kKem, 0);
  EXPECT_EQ(gcs.go_on(0).send, refusal_of(m1, Reject::algorithm_unavailable, lack));
  const auto own = gcs.reason(), told = describe_lack(*found, {Reject::algorithm_unavailable, lack, {}});
  for (const auto& text : {own, told}) {
    EXPECT_NE(text.find(found->kem->display), std::string::npos) << text;
    EXPECT_NE(text.find(found->short_code), std::string::npos) << text;
    EXPECT_NE(text.find("liboqs"), std::string::npos) << text;
    EXPECT_NE(text.find("a suite that both ends have"), std::string::npos) << text;
  }
}

TEST(Lack, TheDroneSaysWhatTheGcsLacks) {
  const auto& hashes = suite("ML-512-AG-MD-44");
  const auto said = [&](Reject code, std::uint16_t lack) { return describe_lack(hashes, {code, lack, {}}); };
  EXPECT_EQ(said(Reject::algorithm_unavailable, 0), "") << "an older gcs";
  EXPECT_EQ(said(Reject::suite_not_allowed, 0), "");
  EXPECT_EQ(said(Reject::suite_unknown, 0), "") << "nothing in it is new";
  const auto two = said(Reject::algorithm_unavailable, lacks::kKem | lacks::kSignature);
  EXPECT_NE(two.find("ML-KEM-512 and ML-DSA-44 of ML-512-AG-MD-44"), std::string::npos) << two;
  const auto key = said(Reject::algorithm_unavailable, lacks::kSigningKey);
  EXPECT_NE(key.find("--sig mldsa44"), std::string::npos) << key;
  const auto unknown = describe_lack(*find_suite("HQC-1-AA-SL-128s"), {Reject::suite_unknown, 0, {}});
  EXPECT_NE(unknown.find("older than HQC-1 and SLH-DSA-SHA2-128s and Ascon-AEAD128"), std::string::npos) << unknown;
}

/// A Reject 2 with families says which; nothing else has them.
TEST(Lack, WhatTheGcsAvoidsIsSaidByBothEnds) {
  Scene scene;
  auto env = gcs_env(scene);
  auto avoiding = std::make_shared<ResponderEnv>(*env);
  avoiding->avoided = [] { return Families::named("lattices"); };
  HandshakeInitiator drone(drone_params(scene));
  const auto m1 = drone.start(0);
  HandshakeResponder gcs(avoiding);
  (void)gcs.on_data(m1, 0);
  const auto refusal = gcs.go_on(0).send;
  EXPECT_EQ(refusal, refusal_of(m1, Reject::suite_not_allowed, 0x0309));
  EXPECT_NE(gcs.reason().find("avoids lattices"), std::string::npos) << gcs.reason();
  (void)drone.on_data(refusal, 0);
  EXPECT_EQ(drone.error(), HandshakeError::rejected);
  EXPECT_EQ(drone.avoided(), Families::named("lattices"));
  EXPECT_NE(drone.reason().find("no keys with lattices any more"), std::string::npos) << drone.reason();
  EXPECT_TRUE(avoided_in({Reject::algorithm_unavailable, 0x0309, {}}).empty());
}

TEST(Lack, TheDroneTellsTheReasonItWasGiven) {
  const Scene scene;
  HandshakeInitiator drone(drone_params(scene));
  const auto m1 = drone.start(0);
  (void)drone.on_data(refusal_of(m1, Reject::algorithm_unavailable, lacks::kSignature), 0);
  EXPECT_EQ(drone.error(), HandshakeError::rejected);
  EXPECT_NE(drone.reason().find("does not have ML-DSA-44"), std::string::npos) << drone.reason();
}

}  // namespace
}  // namespace pqcmav::test
