// SPDX-License-Identifier: Apache-2.0
// A drone that is restarted: with a folder for its state the gcs knows it again at once.
#include "engine_fixture.hpp"
#include "raw_drone.hpp"

namespace pqcmav {
namespace {

using namespace test;
namespace fs = std::filesystem;

/// Its M2 is long: without a proof the gcs first asks for a cookie.
constexpr const char* kCostly = "cs-classicmceliece348864-aesgcm-mldsa44";

class EngineReturn : public ::testing::Test {
 protected:
  void SetUp() override { gcs = start(gcs_values(keys)); }
  void connect(const std::string& state_dir) {
    drone.reset();
    drone = start(with(drone_values(keys, "uav1", gcs->ports().data), {{"suite", kCostly}, {"state_dir", state_dir}}));
    ASSERT_TRUE(eventually([&] { return up(*drone) && up(*gcs); }, 60s)) << status(*drone).last_error;
  }
  /// How often the gcs asked for a cookie while the drone connected.
  std::uint64_t retries_of(const std::string& state_dir) {
    const auto before = total(*gcs, "hs_retried");
    connect(state_dir);
    return total(*gcs, "hs_retried") - before;
  }
  /// What the drone's log says of it.
  std::string warning() {
    EventLog log(*drone);
    const auto line =
        log.wait_for<LogEvent>([](const auto& event) { return event.text.find("return grant") != std::string::npos; });
    return line ? line->text : "(nothing)";
  }

  KeyFolders keys;
  TempFolder state;
  const fs::path file = state / "uav1.gcs.key";
  std::unique_ptr<Engine> gcs, drone;
};

TEST_F(EngineReturn, ARestartedDroneNeedsNoCookie) {
  EXPECT_GE(retries_of(state.path()), 1u);
  ASSERT_TRUE(eventually([&] { return fs::exists(file); }));
  EXPECT_EQ(mode_of(file), 0600u);
  EXPECT_EQ(retries_of(state.path()), 0u);
  EXPECT_GE(retries_of(""), 1u) << "who keeps nothing is asked again";
}

TEST_F(EngineReturn, ADamagedFileIsSaidAndReplaced) {
  connect(state.path());
  ASSERT_TRUE(eventually([&] { return fs::exists(file); }));
  write_text(file, "pqcmav-key 1\n");
  EXPECT_GE(retries_of(state.path()), 1u);
  const auto text = warning();
  EXPECT_NE(text.find("not used"), std::string::npos) << text;
  EXPECT_NE(text.find(file.string()), std::string::npos) << text;
  ASSERT_TRUE(eventually([&] { return read_text(file).size() > 100; }));
  EXPECT_EQ(retries_of(state.path()), 0u);
}

TEST_F(EngineReturn, AFolderThatCannotBeWrittenCostsNothingElse) {
  write_text(state / "file", "in the way");
  connect(state / "file");
  const auto text = warning();
  EXPECT_NE(text.find("in memory only"), std::string::npos) << text;
  EXPECT_NE(text.find("'state_dir'"), std::string::npos) << text;
}

TEST_F(EngineReturn, ADroneThatMovedIsGivenAnotherGrant) {
  RawDrone raw(keys, *gcs, "uav1");
  ASSERT_TRUE(raw.connected()) << raw.outcome.reason;
  raw.send(raw.seal("here"));
  EXPECT_TRUE(eventually([&] {
    (void)raw.receive_text(raw.socket, true, 100ms);
    return raw.grant_tags.size() == 1;
  }));
  UdpPeer other("127.0.0.3");
  EXPECT_TRUE(eventually([&] {
    raw.send_from(other, raw.seal("elsewhere"));
    (void)raw.receive_text(other, true, 100ms);
    return raw.grant_tags.size() == 2;
  })) << "the old grant names an address where the drone no longer is";
}

}  // namespace
}  // namespace pqcmav
