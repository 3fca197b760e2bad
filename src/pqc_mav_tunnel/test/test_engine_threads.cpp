// SPDX-License-Identifier: Apache-2.0
// Several drones on a gcs with several data threads. What one thread must do is in the other tests of the engine, which
// CMake lists a second time with two.
#include <algorithm>
#include <atomic>
#include <iterator>
#include <random>

#include "engine_fixture.hpp"

namespace pqcmav {
namespace {

using namespace test;

constexpr std::size_t kDrones = 5;

Names names() {
  Names out;
  for (std::size_t i = 1; i <= kDrones; ++i) out.push_back("uav" + std::to_string(i));
  return out;
}

class EngineThreads : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    FlatConfig more{{"data_threads", GetParam()}, {"compact", true}, {"max_handshakes", 64}};
    for (std::size_t i = 0; i < kDrones; ++i) {
      ends.push_back(std::make_unique<Ends>());
      more["drone." + ids[i] + ".plain_peer"] = ends[i]->ground.address().text();
    }
    gcs = start(with(gcs_values(keys, ids), more));
    for (std::size_t i = 0; i < kDrones; ++i)
      ends[i]->engine = start(with(drone_values(keys, ids[i], gcs->ports().data), {{"compact", i % 2 == 0}}));
    ASSERT_TRUE(eventually([&] {
      for (std::size_t i = 0; i < kDrones; ++i)
        if (!up(*gcs, i) || !up(*ends[i]->engine)) return false;
      return true;
    }));
    for (std::size_t i = 0; i < kDrones; ++i) expect_both_ways(i, "start");
  }
  void expect_both_ways(std::size_t i, const std::string& word) {
    const auto text = word + " of " + ids[i];
    ends[i]->autopilot.send(text, plain_port(*ends[i]->engine, ids[i]));
    ASSERT_EQ(ends[i]->ground.receive_text(), text);
    ends[i]->ground.send("re " + text, plain_port(*gcs, ids[i]));
    ASSERT_EQ(ends[i]->autopilot.receive_text(), "re " + text);
  }
  /// Each packet came, or was counted by the end that left it out: where the processors are so busy that a rekey stalls,
  /// the data plane makes room for it. Their order is not the tunnel's: over loopback, packets of a thread that changes
  /// its processor overtake those that the one before has not passed on yet.
  template <typename LeftOut>
  void expect_each_once(UdpPeer& end, std::size_t i, LeftOut left_out) {
    Names sent, came, unknown;
    for (int n = 0; n < kPackets; ++n) sent.push_back(ids[i] + " " + std::to_string(n));
    EXPECT_TRUE(eventually([&] {
      for (const auto& bytes : end.drain()) came.emplace_back(as_text(bytes));
      return came.size() + left_out() >= sent.size();
    }));
    EXPECT_EQ(came.size() + left_out(), sent.size()) << ids[i];
    std::ranges::sort(came);
    EXPECT_EQ(std::ranges::adjacent_find(came), came.end()) << ids[i];
    std::ranges::sort(sent);
    std::ranges::set_difference(came, sent, std::back_inserter(unknown));
    EXPECT_EQ(unknown, Names{});
  }

  static constexpr int kPackets = 400;
  struct Ends {
    UdpPeer autopilot, ground;
    std::unique_ptr<Engine> engine;
  };
  const Names ids = names();
  const KeyFolders keys{ids};
  std::vector<std::unique_ptr<Ends>> ends;
  std::unique_ptr<Engine> gcs;
};

TEST_P(EngineThreads, EveryDroneIsServedThroughRekeysOfAll) {
  for (const auto* kind : {"rekey", "ratchet", "rekey"}) {
    std::vector<std::thread> asking;
    std::atomic<int> good{0};
    for (std::size_t i = 0; i < kDrones; ++i)
      asking.emplace_back([&, i] {
        // Half of them are asked by the ground, in-band.
        auto& engine = i % 2 == 0 ? *gcs : *ends[i]->engine;
        if (engine.request_rekey(ids[i], "", "test", 20s, kind).ok) ++good;
      });
    for (auto& each : asking) each.join();
    EXPECT_EQ(good, static_cast<int>(kDrones)) << kind;
    for (std::size_t i = 0; i < kDrones; ++i) expect_both_ways(i, kind);
  }
  for (std::size_t i = 0; i < kDrones; ++i) {
    EXPECT_EQ(stat(*gcs, "drop_unknown", i), 0u);
    EXPECT_EQ(stat(*gcs, "plain_dropped_no_session", i), 0u);
  }
  expect_all_accounted_for(*gcs);
}

TEST_P(EngineThreads, NoPacketIsLostOrTwiceWhileAllOfThemRekey) {
  std::vector<std::thread> sending;
  for (std::size_t i = 0; i < kDrones; ++i)
    sending.emplace_back([&, i] {
      for (int n = 0; n < kPackets; ++n) {
        ends[i]->autopilot.send(ids[i] + " " + std::to_string(n), plain_port(*ends[i]->engine, ids[i]));
        ends[i]->ground.send(ids[i] + " " + std::to_string(n), plain_port(*gcs, ids[i]));
        std::this_thread::sleep_for(2ms);
      }
    });
  for (std::size_t i = 0; i < kDrones; ++i) EXPECT_TRUE(gcs->request_rekey(ids[i], "", "test", 20s, "").ok);
  for (auto& each : sending) each.join();
  for (std::size_t i = 0; i < kDrones; ++i) {
    expect_each_once(ends[i]->ground, i, [&] { return total(*ends[i]->engine, "drop_yield"); });
    expect_each_once(ends[i]->autopilot, i, [&] { return stat(*gcs, "plain_dropped_send", i); });
  }
  expect_all_accounted_for(*gcs);
}

TEST_P(EngineThreads, ForeignSessionsAreCountedWhereverTheyCome) {
  const UdpPeer stranger;
  std::mt19937_64 random(7);
  constexpr std::uint64_t kSent = 500;
  const auto before = total(*gcs, "drop_unknown");
  for (std::uint64_t i = 0; i < kSent; ++i) {
    Bytes packet(60);
    for (auto& byte : packet) byte = static_cast<std::uint8_t>(random());
    packet[0] = 0x03;
    stranger.send(packet, gcs->ports().data);
  }
  EXPECT_TRUE(eventually([&] { return total(*gcs, "drop_unknown") == before + kSent; }));
  expect_all_accounted_for(*gcs);
  for (std::size_t i = 0; i < kDrones; ++i) expect_both_ways(i, "still");
}

TEST_P(EngineThreads, ADroneThatGoesLeavesTheOthersAndItsPlaceToTheNext) {
  for (const auto& id : {"uav2", "uav3"}) {
    const auto place = static_cast<std::size_t>(std::ranges::find(ids, id) - ids.begin());
    ASSERT_EQ(gcs->remove_drone(id).removed, Names{id});
    EXPECT_TRUE(eventually([&] { return !up(*ends[place]->engine); }));
    for (std::size_t i = 0; i < kDrones; ++i)
      if (i != place) expect_both_ways(i, "without " + std::string(id));
    ASSERT_EQ(gcs->add_drone(id, {{"plain_peer", ends[place]->ground.address().text()}}).added, Names{id});
    ASSERT_TRUE(eventually([&] { return up(*ends[place]->engine); }));
    expect_both_ways(place, "back");
  }
}

TEST_P(EngineThreads, ADroneThatStartsAnewFindsItsThread) {
  for (std::size_t i = 0; i < kDrones; ++i) {
    ends[i]->engine.reset();
    ends[i]->engine = start(drone_values(keys, ids[i], gcs->ports().data));
  }
  for (std::size_t i = 0; i < kDrones; ++i) {
    ASSERT_TRUE(eventually([&] { return up(*ends[i]->engine) && up(*gcs, i); }));
    expect_both_ways(i, "anew");
  }
}

TEST_P(EngineThreads, StopsWhileTrafficFlows) {
  std::atomic<bool> over{false};
  std::thread sending([&] {
    std::vector<std::uint16_t> ports;
    for (const auto& [id, port] : gcs->ports().plain) ports.push_back(port);
    while (!over)
      for (std::size_t i = 0; i < kDrones; ++i) ends[i]->ground.send("down", ports[i]);
  });
  std::this_thread::sleep_for(50ms);
  gcs->stop();
  over = true;
  sending.join();
  EXPECT_TRUE(
      eventually([&] { return std::ranges::none_of(ends, [](const auto& each) { return up(*each->engine); }); }));
}

INSTANTIATE_TEST_SUITE_P(DataThreads, EngineThreads, ::testing::Values(1, 2, 3, 8));

}  // namespace
}  // namespace pqcmav
