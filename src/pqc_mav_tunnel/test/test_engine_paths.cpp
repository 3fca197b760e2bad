// SPDX-License-Identifier: Apache-2.0
// A drone with two ways to its ground station changes between them in flight, in one session.
#include "two_ways.hpp"

namespace pqcmav {
namespace {

using namespace test;
using Second = TwoWays::Second;

class EnginePaths : public ::testing::TestWithParam<Second> {};
INSTANTIATE_TEST_SUITE_P(Seconds, EnginePaths, ::testing::Values(Second::udp, Second::radio),
                         [](const auto& info) { return info.param == Second::udp ? "Udp" : "Radio"; });

TEST_P(EnginePaths, CalmTakesTheFirstAndKnowsTheSecond) {
  TwoWays ways(GetParam());
  ASSERT_TRUE(ways.connect());
  EXPECT_TRUE(ways.comes_to(0, "good"));
  EXPECT_TRUE(ways.passes());
  EXPECT_EQ(ways.path(0).taken, 1u);
  EXPECT_EQ(ways.path(1).taken, 0u);
  EXPECT_EQ(status(*ways.gcs).peer, ways.at_gcs(0)) << "the PROBEs by the second have not moved it";
  EXPECT_EQ(stat(*ways.gcs, "roams"), 0u);
  EXPECT_GT(ways.path(0).rx_bytes, 0u);
  EXPECT_TRUE(ways.path(1).rtt_ms.has_value());
  EXPECT_EQ(status(*ways.drone).shape_kbit, 0u) << "a radio that is not used bounds nothing";
  EXPECT_EQ(ways.drone->ports().more.size(), 2u) << "each path's socket is known as the tunnel's";
  ways.expect_one_session();
  expect_all_accounted_for(*ways.gcs);
}

TEST_P(EnginePaths, ASilentFirstGivesWayAndIsTakenAgain) {
  TwoWays ways(GetParam());
  ASSERT_TRUE(ways.connect());
  ASSERT_TRUE(ways.comes_to(0, "good"));
  for (unsigned round = 1; round < 3; ++round) {
    ways.lte_passes(false, false);
    ASSERT_TRUE(ways.comes_to(1, "dead"));
    EXPECT_TRUE(ways.passes());
    EXPECT_EQ(status(*ways.drone).compact, GetParam() == Second::radio);
    if (GetParam() == Second::radio) {
      EXPECT_TRUE(eventually([&] { return status(*ways.drone).shape_kbit > 0; })) << "the radio's bounds";
      EXPECT_TRUE(eventually([&] { return status(*ways.gcs).peer == ways.at_gcs(1); }));
    }
    ways.lte_passes(true, true);
    ASSERT_TRUE(ways.comes_to(0, "good"));
    EXPECT_TRUE(ways.passes());
    EXPECT_EQ(ways.path(1).taken, round);
    EXPECT_TRUE(eventually([&] { return status(*ways.gcs).peer == ways.at_gcs(0); }));
    EXPECT_TRUE(eventually([&] { return status(*ways.drone).shape_kbit == 0; }));
  }
  ways.expect_one_session();
  expect_all_accounted_for(*ways.gcs);
  expect_all_accounted_for(*ways.drone);
  for (const auto* engine : {ways.gcs.get(), ways.drone.get()}) {
    EXPECT_EQ(total(*engine, "drop_auth_fail"), 0u);
    EXPECT_EQ(total(*engine, "drop_seq_old"), 0u);
    EXPECT_EQ(total(*engine, "drop_replay"), total(*engine, "doubled")) << "copies are no replays";
  }
}

TEST_P(EnginePaths, OneDirectionIsEnoughToGiveWay) {
  for (const bool upward : {true, false}) {
    TwoWays ways(GetParam());
    ASSERT_TRUE(ways.connect());
    ASSERT_TRUE(ways.comes_to(0, "good"));
    ways.lte_passes(upward, !upward);
    ASSERT_TRUE(ways.comes_to(1, "dead"));
    EXPECT_TRUE(ways.passes());
    // What the ground station still sends to the old address proves nothing of the way to it.
    EXPECT_TRUE(eventually([&] { return status(*ways.gcs).peer == ways.at_gcs(1); }));
    EXPECT_TRUE(ways.takes(1, "dead"));
    EXPECT_EQ(ways.path(0).taken, 1u);
    ways.expect_one_session();
  }
}

TEST_P(EnginePaths, ARekeyGoesOnByTheOtherPath) {
  TwoWays ways(GetParam());
  ASSERT_TRUE(ways.connect());
  ASSERT_TRUE(ways.comes_to(0, "good"));
  ways.lte->hold_answers(true);
  RekeyOutcome outcome;
  std::thread asking([&] { outcome = ways.drone->request_rekey("uav1", "", "test", patience()); });
  EXPECT_TRUE(eventually([&] { return state(*ways.drone) == LinkState::rekeying; }));
  ways.lte_passes(false, false);
  asking.join();
  EXPECT_TRUE(outcome.ok) << outcome.message;
  EXPECT_TRUE(ways.takes(1, "dead"));
  EXPECT_TRUE(ways.passes());
  ways.expect_one_session();
}

TEST_P(EnginePaths, AFirstHandshakeTriesEach) {
  TwoWays ways(GetParam());
  ways.lte_passes(false, false);
  ASSERT_TRUE(ways.connect());
  EXPECT_TRUE(ways.comes_to(1));
  EXPECT_TRUE(ways.passes());
  EXPECT_EQ(status(*ways.drone).handshakes_failed, 0u);
  ways.lte_passes(true, true);
  EXPECT_TRUE(ways.comes_to(0, "good"));
  EXPECT_TRUE(ways.passes());
  ways.expect_one_session();
}

TEST_P(EnginePaths, ThatNobodyAnswersIsTold) {
  TwoWays ways(GetParam());
  ways.lte_passes(false, false);
  ways.other_passes(false, false);
  ways.start_drone();
  EXPECT_TRUE(eventually([&] { return status(*ways.drone).last_error.find(" by lte, other;") != std::string::npos; }));
  EXPECT_EQ(status(*ways.drone).handshakes_failed, 0u);
  ways.other_passes(true, true);
  // The session is there a moment before the handshake's end is told.
  EXPECT_TRUE(eventually([&] { return up(*ways.drone) && status(*ways.drone).last_error.empty(); }));
}

TEST_P(EnginePaths, BothDieAndOneReturns) {
  for (const std::size_t first : {0u, 1u}) {
    TwoWays ways(GetParam(), {}, {{"reconnect_after_s", 60.0}, {"degraded_after_s", 2.0}});
    ASSERT_TRUE(ways.connect());
    ASSERT_TRUE(ways.comes_to(0, "good"));
    ways.lte_passes(false, false);
    ways.other_passes(false, false);
    ASSERT_TRUE(eventually([&] { return state(*ways.drone) == LinkState::degraded; }));
    if (first == 0)
      ways.lte_passes(true, true);
    else
      ways.other_passes(true, true);
    EXPECT_TRUE(ways.comes_to(first));
    EXPECT_TRUE(ways.passes());
    ways.expect_one_session();
  }
}

TEST_P(EnginePaths, SilenceOfAllPathsBeginsANewSession) {
  TwoWays ways(GetParam(), {}, {{"reconnect_after_s", 2.0}});
  ASSERT_TRUE(ways.connect());
  ASSERT_TRUE(ways.comes_to(0, "good"));
  ways.lte_passes(false, false);
  ASSERT_TRUE(ways.comes_to(1));
  EXPECT_TRUE(ways.passes());
  EXPECT_EQ(status(*ways.drone).handshakes_ok, 1u) << "paths change before that";
  const auto before = status(*ways.drone).session_id;
  const auto port = ways.gcs->ports().data;
  // The ground station is another one now: nobody answers in the old session.
  ways.other_passes(false, false);
  ways.gcs.reset();
  FlatConfig own{{"drone.uav1.plain_peer", ways.ground.address().text()}, {"data_port", std::int64_t{port}}};
  if (ways.air) own["drone.uav1.radio"] = ways.air->at(0);
  ways.gcs = start(with(gcs_values(ways.keys), own));
  ways.other_passes(true, true);
  ASSERT_TRUE(eventually([&] { return up(*ways.gcs) && up(*ways.drone); }));
  EXPECT_NE(status(*ways.drone).session_id, before);
  EXPECT_TRUE(ways.comes_to(1));
  EXPECT_TRUE(ways.passes());
}

TEST_P(EnginePaths, AnOperatorsWordCounts) {
  TwoWays ways(GetParam());
  ASSERT_TRUE(ways.connect());
  ASSERT_TRUE(ways.comes_to(0, "good"));
  EXPECT_TRUE(ways.drone->use_path("other", "first"));
  EXPECT_TRUE(ways.comes_to(1, "good"));
  EXPECT_TRUE(ways.passes());
  EXPECT_TRUE(ways.drone->use_path("other", "off"));
  EXPECT_TRUE(ways.comes_to(0, "off"));
  EXPECT_TRUE(ways.passes());
  EXPECT_THROW(ways.drone->use_path("lte", "off"), TunnelError) << "the last one";
  EXPECT_THROW(ways.drone->use_path("sat", "on"), TunnelError);
  EXPECT_THROW(ways.drone->use_path("lte", "maybe"), TunnelError);
  EXPECT_TRUE(ways.drone->use_path("other", "on"));
  EXPECT_TRUE(ways.comes_to(0, "good"));
  ways.expect_one_session();
}

}  // namespace
}  // namespace pqcmav
