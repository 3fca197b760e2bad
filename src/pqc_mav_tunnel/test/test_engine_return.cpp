// SPDX-License-Identifier: Apache-2.0
// A drone that is restarted: with a folder for its state the gcs knows it again at once.
#include "engine_fixture.hpp"
#include "raw_drone.hpp"

namespace pqcmav {
namespace {

using namespace test;
namespace fs = std::filesystem;

class EngineReturn : public ::testing::Test {
 protected:
  void SetUp() override { gcs = start(gcs_values(keys)); }
  void connect(const std::string& state_dir) {
    drone.reset();
    drone = start(with(drone_values(keys, "uav1", gcs->ports().data), {{"state_dir", state_dir}}));
    ASSERT_TRUE(eventually([&] { return up(*drone) && up(*gcs); }, 3 * patience())) << status(*drone).last_error;
  }
  /// Does the drone's first datagram show a proof? Then it need not be padded.
  bool shows_proof(const std::string& state_dir) {
    drone.reset();
    UdpPeer listener;
    drone = start(with(drone_values(keys, "uav1", listener.address().port()), {{"state_dir", state_dir}}));
    const auto hello = listener.receive();
    return hello && hello->size() < 600;
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

TEST_F(EngineReturn, ARestartedDroneShowsItsProof) {
  EXPECT_FALSE(shows_proof(state.path()));
  connect(state.path());
  ASSERT_TRUE(eventually([&] { return fs::exists(file); }));
  EXPECT_EQ(mode_of(file), 0600u);
  EXPECT_TRUE(shows_proof(state.path()));
  EXPECT_FALSE(shows_proof("")) << "who keeps nothing has none";
}

TEST_F(EngineReturn, ADamagedFileIsSaidAndReplaced) {
  connect(state.path());
  ASSERT_TRUE(eventually([&] { return fs::exists(file); }));
  write_text(file, "pqcmav-key 1\n");
  EXPECT_FALSE(shows_proof(state.path()));
  const auto text = warning();
  EXPECT_NE(text.find("not used"), std::string::npos) << text;
  EXPECT_NE(text.find(file.string()), std::string::npos) << text;
  connect(state.path());
  ASSERT_TRUE(eventually([&] { return read_text(file).size() > 100; }));
  EXPECT_TRUE(shows_proof(state.path()));
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
