// SPDX-License-Identifier: Apache-2.0
// A ground station that makes no keys with a family of algorithms any more, and drones that leave it.
#include <filesystem>

#include "engine_fixture.hpp"
#include "pqc_mav_tunnel/families.hpp"
#include "traffic.hpp"

namespace pqcmav {
namespace {

using namespace test;

const Families kLattices = Families::named("lattices");
const Names kTheLattices = {"lattices"};

std::unique_ptr<KeyFolders> keys_with_hashes() {
  Names sigs = {"mldsa44"};
  for (const auto* token : {"sphincs128s", "slhdsa128s"})
    if (!resolve(*find_sig(token)).empty()) sigs.emplace_back(token);
  return std::make_unique<KeyFolders>(Names{"uav1"}, sigs);
}

bool can_leave() {
  const auto all = successors(*find_suite(kLight), 1, kLattices);
  return std::ranges::any_of(all, [](const auto* each) { return each->level == 1 && availability(*each).available; });
}

const Suite& suite_of(const Engine& engine) { return *find_suite(status(engine).suite); }

class EngineAvoid : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_leave()) GTEST_SKIP() << "no library here has a KEM and a signature that are no lattices";
  }
};

TEST_F(EngineAvoid, ADroneLeavesAFamilyUnderTrafficWithoutLoss) {
  Tunnel tunnel(keys_with_hashes(), {}, {});
  ASSERT_TRUE(tunnel.connect());
  Traffic traffic(tunnel);
  tunnel.gcs->avoid(kTheLattices);
  EXPECT_EQ(suite_of(*tunnel.gcs).id, kLight) << "what runs goes on";
  const auto outcome = tunnel.gcs->request_rekey("uav1", "", "avoid", 60s);
  ASSERT_TRUE(outcome.ok) << outcome.message;
  ASSERT_TRUE(eventually([&] { return !kLattices.has(suite_of(*tunnel.gcs)); }));
  traffic.stop();
  traffic.expect_lossless();
  EXPECT_EQ(outcome.suite, suite_of(*tunnel.drone).id);
  EXPECT_EQ(suite_of(*tunnel.drone).level, 1);
  EXPECT_EQ(suite_of(*tunnel.drone).aead, find_suite(kLight)->aead);

  // Whoever chooses suites reads what to leave alone, the configured one as well.
  const auto listed = status(*tunnel.drone).blacklisted_suites;
  EXPECT_TRUE(std::ranges::any_of(listed, [](const auto& each) { return each == kLight; }));
  const auto named = tunnel.drone->request_rekey("uav1", kLight, "", 60s);
  EXPECT_FALSE(named.ok) << "one who names a suite gets that or none";
  EXPECT_NE(named.message.find("no keys with lattices any more"), std::string::npos) << named.message;

  tunnel.gcs->avoid({});
  const auto back = tunnel.drone->request_rekey("uav1", kLight, "", 60s);
  EXPECT_TRUE(back.ok) << back.message;
  EXPECT_TRUE(status(*tunnel.drone).blacklisted_suites.empty());
}

/// One that was switched on with its old configuration must not stay outside.
TEST_F(EngineAvoid, ADroneConnectsThatIsConfiguredForTheFamily) {
  Tunnel tunnel(keys_with_hashes(), {{"avoid", kTheLattices}}, {});
  ASSERT_TRUE(tunnel.connect());
  EXPECT_FALSE(kLattices.has(suite_of(*tunnel.drone)));
  EXPECT_EQ(suite_of(*tunnel.drone).level, 1);
  expect_round_trip(tunnel, "hello");
  EXPECT_TRUE(eventually([&] { return !status(*tunnel.drone).blacklisted_suites.empty(); }))
      << "said again inside the session";
  EXPECT_FALSE(kLattices.has(suite_of(*tunnel.drone)));
  EXPECT_LE(status(*tunnel.drone).handshakes_failed, 3u);
}

/// Who stole the PSK can refuse in the name of the gcs. It brings the drone to no lower level, and to no other suite for
/// longer than until the gcs itself is heard.
TEST_F(EngineAvoid, TheWordOfAThiefOfThePskDoesNotLast) {
  const auto keys = keys_with_hashes(), others = keys_with_hashes();
  std::filesystem::copy_file(keys->gcs() + "/psk/uav1.key", others->gcs() + "/psk/uav1.key",
                             std::filesystem::copy_options::overwrite_existing);
  auto thief = start(with(gcs_values(*others), {{"avoid", kTheLattices}}));
  const auto port = thief->ports().data;
  const auto drone = start(quick(drone_values(*keys, "uav1", port)));
  ASSERT_TRUE(eventually([&] { return status(*drone).handshakes_failed >= 3; })) << "refused, then badly signed";
  EXPECT_FALSE(up(*drone));
  thief.reset();
  const auto gcs = start(quick(with(gcs_values(*keys), {{"data_port", static_cast<std::int64_t>(port)}})));
  ASSERT_TRUE(eventually([&] { return up(*drone) && up(*gcs); }, 60s));
  EXPECT_EQ(suite_of(*drone).level, 1);
  EXPECT_TRUE(eventually([&] { return status(*gcs).suite == kLight && status(*drone).suite == kLight; }));
  EXPECT_TRUE(status(*drone).blacklisted_suites.empty());
}

TEST_F(EngineAvoid, ARekeyThatIsDueLeavesTheFamilyByItself) {
  Tunnel tunnel(keys_with_hashes(), {}, {{"rekey_interval_s", 1.0}});
  ASSERT_TRUE(tunnel.connect());
  tunnel.gcs->avoid(kTheLattices);
  EXPECT_TRUE(eventually([&] { return !kLattices.has(suite_of(*tunnel.gcs)); }, 60s));
}

/// Eight ratchets could keep the old keys' family for long.
TEST_F(EngineAvoid, NoRatchetProlongsIt) {
  Tunnel tunnel(keys_with_hashes(), {}, {});
  ASSERT_TRUE(tunnel.connect());
  ASSERT_TRUE(tunnel.drone->request_rekey("uav1", "", "", patience(), "ratchet").ok);
  tunnel.gcs->avoid(kTheLattices);
  const auto outcome = tunnel.drone->request_rekey("uav1", "", "", 60s, "ratchet");
  EXPECT_TRUE(outcome.ok) << outcome.message;
  EXPECT_FALSE(kLattices.has(suite_of(*tunnel.drone))) << "a full rekey in its place";
}

/// The fresh share of a ratchet is of ML-KEM, under a suite of another KEM as well.
TEST_F(EngineAvoid, NoRatchetBringsTheFamilyBack) {
  Tunnel tunnel(keys_with_hashes(), {}, {});
  ASSERT_TRUE(tunnel.connect());
  tunnel.gcs->avoid(kTheLattices);
  ASSERT_TRUE(tunnel.drone->request_rekey("uav1", "", "", 60s).ok);
  const auto before = status(*tunnel.drone);
  ASSERT_FALSE(kLattices.has(suite_of(*tunnel.drone)));
  const auto outcome = tunnel.drone->request_rekey("uav1", "", "", 60s, "ratchet");
  EXPECT_TRUE(outcome.ok) << outcome.message;
  EXPECT_EQ(outcome.message.find("Ratcheted"), std::string::npos) << outcome.message;
  EXPECT_EQ(status(*tunnel.drone).suite, before.suite);

  tunnel.gcs->avoid({});
  ASSERT_TRUE(tunnel.drone->request_rekey("uav1", before.suite, "", 60s).ok);
  tunnel.gcs->avoid({"ml-kem"});
  const auto unaware = tunnel.drone->request_rekey("uav1", before.suite, "", 60s, "ratchet");
  EXPECT_FALSE(unaware.ok) << "one who names a suite gets that or none";
  EXPECT_NE(unaware.message.find("no keys with ML-KEM any more"), std::string::npos) << unaware.message;
}

/// It keeps its session, and says what it lacks.
TEST(EngineAvoidNothingElse, ADroneWithoutAnotherSuiteStays) {
  Tunnel tunnel;  // no signing key but those of ML-DSA
  ASSERT_TRUE(tunnel.connect());
  tunnel.gcs->avoid({"ml-dsa"});
  const auto outcome = tunnel.gcs->request_rekey("uav1", "", "avoid", 60s);
  EXPECT_FALSE(outcome.ok);
  EXPECT_NE(outcome.message.find("running session continues"), std::string::npos) << outcome.message;
  EXPECT_NE(outcome.message.find("no other one of its level"), std::string::npos) << outcome.message;
  expect_round_trip(tunnel, "still here");
}

/// The ground's own key of level 1 is not what a drone of level 3 falls to, whoever asks it to leave level 3.
TEST(EngineAvoidNothingElse, NobodyIsLedBelowTheConfiguredLevel) {
  auto keys = std::make_unique<KeyFolders>(Names{"uav1"}, Names{"mldsa65", "falcon512"});
  Tunnel tunnel(std::move(keys), {}, {{"suite", std::string(kDefaultSuite)}});
  ASSERT_TRUE(tunnel.connect());
  tunnel.gcs->avoid({"ml-dsa"});
  EXPECT_FALSE(tunnel.gcs->request_rekey("uav1", "", "avoid", 60s).ok);
  EXPECT_EQ(status(*tunnel.drone).suite, kDefaultSuite);
}

/// It was not saved, and lasts until a restart all the same, unless the file has another word on it meanwhile.
TEST(EngineAvoidNothingElse, AReloadKeepsWhatTheFileNeverSaid) {
  Tunnel tunnel;
  ASSERT_TRUE(tunnel.connect());
  auto values = tunnel.gcs->config().given;
  tunnel.gcs->set_config_source([&] { return EngineConfig::from_flat(values); });
  const auto reload = [&](const char* now) {
    for (const bool dry_run : {true, false}) {
      const auto changes = tunnel.gcs->reload(dry_run).drones;
      EXPECT_EQ(changes.avoid, now == nullptr ? std::nullopt : std::optional<std::string>(now));
      EXPECT_EQ(changes.empty(), now == nullptr);
    }
    return tunnel.gcs->config().avoid.text();
  };
  tunnel.gcs->avoid({"falcon"});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(reload(nullptr), "Falcon");
  values["avoid"] = Names{"codes"};
  EXPECT_EQ(reload("codes"), "codes");
  EXPECT_EQ(reload(nullptr), "codes");
  tunnel.gcs->avoid({});
  EXPECT_EQ(reload(nullptr), "");
  tunnel.gcs->avoid({"falcon"});
  values["avoid"] = Names{"falcon"};  // saved
  EXPECT_EQ(reload(nullptr), "Falcon");
  values.erase("avoid");
  EXPECT_EQ(reload(""), "");
}

TEST(EngineAvoidNothingElse, ItIsAKeyThatCountsWithoutARestart) {
  Tunnel tunnel;
  ASSERT_TRUE(tunnel.connect());
  auto values = tunnel.gcs->config().given;
  values["avoid"] = Names{"codes"};
  const auto changes = tunnel.gcs->reconfigure(EngineConfig::from_flat(values));
  EXPECT_TRUE(changes.restart.empty());
  EXPECT_EQ(tunnel.gcs->config().avoid, Families::named("codes"));
  const auto* codes = "cs-classicmceliece348864-aesgcm-mldsa44";
  const bool refused = !has_suite(codes) || !tunnel.drone->request_rekey("uav1", codes, "", 60s).ok;
  EXPECT_TRUE(refused);
  EXPECT_THROW(tunnel.gcs->avoid({"lattices", "codes"}), TunnelError);
  EXPECT_THROW(tunnel.gcs->avoid({"lettuce"}), TunnelError);
  EXPECT_EQ(tunnel.gcs->config().avoid, Families::named("codes")) << "nothing has changed";
  EXPECT_THROW(tunnel.drone->avoid({"codes"}), TunnelError) << "a ground station's word";
}

}  // namespace
}  // namespace pqcmav
