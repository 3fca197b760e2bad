// SPDX-License-Identifier: Apache-2.0
// The control socket of whole engines, while they work, rekey, read their keys again and stop.
#include <atomic>

#include "console/views.hpp"
#include "engine_fixture.hpp"
#include "local_client.hpp"

namespace pqcmav {
namespace {

using namespace test;

Json told(LocalClient& client) {
  const auto line = client.line(60'000);
  return line ? Json::parse(*line) : Json();
}

class EngineConsoleTest : public testing::Test {
 protected:
  std::string socket(const std::string& name) { return folder / name; }
  TempFolder folder;
  Tunnel tunnel{{{"control_socket", socket("gcs.sock")}}, {{"control_socket", socket("drone.sock")}}};
};

TEST_F(EngineConsoleTest, ManyClientsOfBothEndsWhileKeysChange) {
  ASSERT_TRUE(tunnel.connect());
  std::atomic<bool> over{false};
  std::vector<std::thread> readers;
  for (const auto* name : {"gcs.sock", "drone.sock"})
    readers.emplace_back([&, name] {
      LocalClient client(socket(name));
      for (int i = 0; !over; ++i) {
        client.say(i % 2 == 0 ? "{\"v\": 1, \"command\": \"status\"}\n" : "{\"v\": 1, \"command\": \"stats\"}\n");
        ASSERT_EQ(told(client)["ok"], true);
        std::this_thread::sleep_for(1ms);
      }
    });
  LocalClient follower(socket("gcs.sock")), asking(socket("drone.sock"));
  follower.say("{\"v\": 1, \"command\": \"subscribe\", \"events\": [\"handshake\"]}\n");
  ASSERT_EQ(told(follower)["ok"], true);
  for (int i = 1; i <= 5; ++i) {
    EXPECT_EQ(tunnel.gcs->reload_keys().renewed.size() + tunnel.drone->reload_keys().renewed.size(), 0u);
    asking.say("{\"v\": 1, \"command\": \"rekey\"}\n");
    EXPECT_EQ(told(asking)["result"]["epoch"], i);
    EXPECT_EQ(told(follower)["rekey"], true);
  }
  over = true;
  for (auto& reader : readers) reader.join();
  expect_round_trip(tunnel, "still here");
}

TEST_F(EngineConsoleTest, StoppingEndsWhatWaits) {
  ASSERT_TRUE(tunnel.connect());
  LocalClient asking(socket("gcs.sock"));
  tunnel.drone->stop();
  asking.say("{\"v\": 1, \"command\": \"rekey\", \"timeout_s\": 300}\n");
  tunnel.gcs->stop();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(EngineReload, ADroneWithoutItsKeyIsShutOutAndComesBackWithIt) {
  const TempFolder folder;
  auto keys = std::make_unique<KeyFolders>(Names{"uav1", "uav2"});
  const auto key = std::filesystem::path(keys->gcs()) / "psk" / "uav1.key";
  Tunnel tunnel(std::move(keys), {{"drones", Names{"uav1", "uav2"}}, {"handshakes_per_drone_s", 100.0}},
                {{"reconnect_after_s", 0.6}, {"keepalive_s", 0.1}, {"degraded_after_s", 0.3}});
  ASSERT_TRUE(eventually([&] { return up(*tunnel.drone); }));
  std::filesystem::rename(key, folder / "kept");
  EXPECT_EQ(tunnel.gcs->reload_keys().removed, Names{"uav1"});
  EXPECT_TRUE(eventually([&] { return tunnel.gcs->status()[0].suite.empty(); }));
  EXPECT_TRUE(eventually([&] { return !up(*tunnel.drone); }));
  std::filesystem::rename(folder / "kept", key);
  EXPECT_EQ(tunnel.gcs->reload_keys().renewed, Names{"uav1"});
  EXPECT_TRUE(eventually([&] { return up(*tunnel.drone) && !tunnel.gcs->status()[0].suite.empty(); }, 60s));
}

/// What runs under the key of before gets no answer.
TEST(EngineReload, ADroneAsksWithItsNewKeyAtOnce) {
  const KeyFolders keys, others;
  const auto key = std::filesystem::path(keys.drone("uav1")) / "psk.key";
  const auto put = [&](const std::string& from) {
    std::filesystem::copy_file(from, key, std::filesystem::copy_options::overwrite_existing);
  };
  std::filesystem::copy_file(key, keys.root() / "kept");
  put(others.drone("uav1") + "/psk.key");
  const auto gcs = start(gcs_values(keys));
  const auto drone = start(drone_values(keys, "uav1", gcs->ports().data));
  ASSERT_TRUE(eventually([&] { return total(*gcs, "hs_tag") > 0; }));
  put(keys.root() / "kept");
  EXPECT_EQ(drone->reload_keys().renewed, Names{"uav1"});
  EventLog log(*drone);
  const auto event = log.wait_for<HandshakeEvent>([](const auto&) { return true; });
  ASSERT_TRUE(event);
  EXPECT_EQ(event->error, HandshakeError::cancelled) << event->reason;
  EXPECT_TRUE(eventually([&] { return up(*drone); }));
}

}  // namespace
}  // namespace pqcmav
