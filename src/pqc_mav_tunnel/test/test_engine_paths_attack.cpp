// SPDX-License-Identifier: Apache-2.0
// Strangers on one of a drone's two paths: what they record, repeat, forge or let through of it moves nothing.
#include "two_ways.hpp"

namespace pqcmav {
namespace {

using namespace test;
using Way = Relay::Way;

/// Sends to both ends of the first path, again and again, what came by there and garbage.
class Repeater {
 public:
  Repeater(const TwoWays& ways, std::vector<Bytes> up, std::vector<Bytes> down)
      : thread_([&ways, up = std::move(up), down = std::move(down), this] {
          std::mt19937 random(3);
          for (std::size_t round = 0; !stopping_; ++round) {
            for (const auto& [packets, to_gcs] : {std::pair(&up, true), std::pair(&down, false)}) {
              auto packet = packets->at(round % packets->size());
              if (round % 3 == 1) packet[random() % packet.size()] ^= 0x40;
              if (round % 3 == 2) std::ranges::generate(packet, [&] { return static_cast<std::uint8_t>(random()); });
              to_gcs ? ways.lte->send_up(packet) : ways.lte->send_down(packet);
            }
            ++rounds_;
            std::this_thread::sleep_for(2ms);
          }
        }) {}
  ~Repeater() {
    stopping_ = true;
    thread_.join();
  }
  Repeater(const Repeater&) = delete;
  Repeater& operator=(const Repeater&) = delete;
  [[nodiscard]] std::uint64_t rounds() const { return rounds_; }

 private:
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> rounds_{0};
  std::thread thread_;
};

class PathStrangers : public ::testing::TestWithParam<TwoWays::Second> {};
INSTANTIATE_TEST_SUITE_P(Seconds, PathStrangers, ::testing::Values(TwoWays::Second::udp, TwoWays::Second::radio),
                         [](const auto& info) { return info.param == TwoWays::Second::udp ? "Udp" : "Radio"; });

TEST_P(PathStrangers, RepeatedPacketsNeitherReviveADeadPathNorMoveTheDrone) {
  TwoWays ways(GetParam());
  ways.lte->record(true);
  ASSERT_TRUE(ways.connect());
  ASSERT_TRUE(ways.comes_to(0, "good"));
  ASSERT_TRUE(ways.passes());
  ways.lte_passes(false, false);
  ASSERT_TRUE(ways.comes_to(1, "dead"));
  // With what the drone tried by the dead path and never arrived; who brings it at once passes it on.
  auto recorded_up = ways.lte->take(Way::up), recorded_down = ways.lte->take(Way::down);
  const auto taken_at = ways.path(0).silence_s;
  ASSERT_TRUE(
      eventually([&] { return status(*ways.gcs).peer == ways.at_gcs(1) && ways.path(0).silence_s > taken_at + 2.5; }));
  ASSERT_FALSE(recorded_up.empty() || recorded_down.empty());
  const auto roams = stat(*ways.gcs, "roams");
  {
    const Repeater repeater(ways, recorded_up, recorded_down);
    ASSERT_TRUE(eventually([&] { return repeater.rounds() > 1500; }));
    EXPECT_TRUE(ways.takes(1, "dead"));
    EXPECT_TRUE(ways.passes());
  }
  EXPECT_EQ(ways.path(0).taken, 1u);
  EXPECT_EQ(stat(*ways.gcs, "roams"), roams);
  EXPECT_EQ(status(*ways.gcs).peer, ways.at_gcs(1));
  ways.lte_passes(true, true);
  EXPECT_TRUE(ways.comes_to(0, "good"));
  EXPECT_TRUE(ways.passes());
  ways.expect_one_session();
  expect_all_accounted_for(*ways.gcs);
  expect_all_accounted_for(*ways.drone);
}

/// What comes by one path of packets that were sent by the other is delivered once, and counts for no other address.
TEST(PathCopies, PacketsOfOnePathOnTheOtherAreDeliveredOnce) {
  TwoWays ways(TwoWays::Second::udp);
  ASSERT_TRUE(ways.connect());
  ASSERT_TRUE(ways.comes_to(0, "good"));
  ASSERT_TRUE(ways.passes());
  ways.lte->record(true);
  ways.autopilot.send("up", plain_port(*ways.drone, "uav1"));
  ASSERT_EQ(ways.ground.receive_text(), "up");
  ways.ground.send("down", plain_port(*ways.gcs, "uav1"));
  ASSERT_EQ(ways.autopilot.receive_text(), "down");
  const auto delivered = total(*ways.gcs, "delivered_datagrams"), at_drone = total(*ways.drone, "delivered_datagrams");
  for (const auto& packet : ways.lte->take(Way::up)) ways.wifi->send_up(packet);
  for (const auto& packet : ways.lte->take(Way::down)) ways.wifi->send_down(packet);
  ASSERT_TRUE(eventually([&] { return total(*ways.drone, "drop_replay") > 0 && total(*ways.gcs, "drop_replay") > 0; }));
  EXPECT_EQ(total(*ways.gcs, "delivered_datagrams"), delivered);
  EXPECT_EQ(total(*ways.drone, "delivered_datagrams"), at_drone);
  EXPECT_TRUE(ways.takes(0));
  EXPECT_EQ(status(*ways.gcs).peer, ways.at_gcs(0));
}

/// The number of a packet is used once under a key, whatever path it takes.
TEST(PathCopies, NoNumberIsUsedTwiceThroughChangesOfPathsAndKeys) {
  TwoWays ways(TwoWays::Second::udp);
  for (auto* relay : {ways.lte.get(), ways.wifi.get()}) relay->record(true);
  ASSERT_TRUE(ways.connect());
  ASSERT_TRUE(ways.comes_to(0, "good"));
  for (int round = 0; round < 6; ++round) {
    ASSERT_TRUE(ways.drone->use_path("other", round % 2 == 0 ? "first" : "on"));
    ASSERT_TRUE(ways.comes_to(round % 2 == 0 ? 1 : 0));
    EXPECT_TRUE(ways.passes());
    if (round % 3 == 0) {
      EXPECT_TRUE(ways.drone->request_rekey("uav1", "", "test", patience()).ok);
    }
  }
  // Headers of 22 bytes name session, epoch and sequence.
  std::set<Bytes> headers;
  std::size_t count = 0;
  for (auto* relay : {ways.lte.get(), ways.wifi.get()})
    for (const auto& packet : relay->take(Way::up)) {
      if (packet.size() < 22 || (packet[0] & 0x80) != 0) continue;
      headers.emplace(packet.begin(), packet.begin() + 22);
      ++count;
    }
  EXPECT_GT(count, 30u);
  EXPECT_EQ(headers.size(), count);
}

}  // namespace
}  // namespace pqcmav
