// SPDX-License-Identifier: Apache-2.0
// An alarm of one detector reaches those whom it concerns, over the air and in the session.
#include "engine_fixture.hpp"

namespace pqcmav {
namespace {

using namespace test;

class EngineAlarm : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Engine> start_drone(const std::string& id, const std::string& bind) {
    return start(with(drone_values(keys, id, gcs->ports().data), {{"bind", bind}}));
  }
  static Alarm heard(const Engine& engine, std::size_t link = 0) { return status(engine, link).peer_alarm; }

  KeyFolders keys{Names{"uav1", "uav2", "uav3"}};
  // On all of 127.0.0.0/8, so that a drone may be on another network.
  std::unique_ptr<Engine> gcs = start(with(gcs_values(keys, {"uav1", "uav2", "uav3"}), {{"bind", "0.0.0.0"}}));
};

TEST_F(EngineAlarm, OfADroneReachesTheGroundAndThoseOnItsNetwork) {
  const auto first = start_drone("uav1", "127.0.0.1"), same = start_drone("uav2", "127.0.0.2"),
             elsewhere = start_drone("uav3", "127.7.0.1");
  ASSERT_TRUE(eventually([&] { return up(*gcs, 0) && up(*gcs, 1) && up(*gcs, 2); }));
  EventLog log(*gcs);
  first->set_alarm("", {2, "forgery"});
  const auto said =
      log.wait_for<LogEvent>([](const auto& event) { return event.text.find("attack") != std::string::npos; });
  ASSERT_TRUE(said);
  EXPECT_EQ(said->text, "The drone's detector tells of an attack: forgery.");
  EXPECT_EQ(heard(*gcs).level, 2);
  EXPECT_EQ(heard(*gcs).kind, "forgery");
  EXPECT_TRUE(eventually([&] { return heard(*same).kind == "forgery"; }));
  EXPECT_EQ(heard(*gcs, 1).level, 0) << "what one hears is no alarm of its own";
  EXPECT_EQ(heard(*first).level, 0);
  EXPECT_EQ(heard(*elsewhere).level, 0);
  first->set_alarm("", {});
  EXPECT_TRUE(eventually([&] { return heard(*gcs).level == 0 && heard(*same).level == 0; }));
}

TEST_F(EngineAlarm, OfTheGroundReachesAllDrones) {
  const auto one = start_drone("uav1", "127.0.0.1"), other = start_drone("uav3", "127.7.0.1");
  ASSERT_TRUE(eventually([&] { return up(*gcs, 0) && up(*gcs, 2); }));
  gcs->set_alarm("", {1, "handshake_flood"});
  EXPECT_TRUE(eventually([&] { return heard(*one).kind == "handshake_flood" && heard(*other).level == 1; }));
  gcs->set_alarm("south", {2, "forged\nline"});
  EXPECT_TRUE(eventually([&] { return heard(*one).kind == "forged?line" && heard(*other).level == 2; }));
}

}  // namespace
}  // namespace pqcmav
