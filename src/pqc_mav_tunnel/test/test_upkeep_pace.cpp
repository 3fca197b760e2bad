// SPDX-License-Identifier: Apache-2.0
#include "net/upkeep_pace.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "net/link.hpp"
#include "session_fixture.hpp"

namespace pqcmav {
namespace {

using test::kTimers;

/// The answer to a probe that took so long.
ProbeReply reply(const Probe& probe, std::uint64_t rtt) {
  return {probe.id, probe.t1, probe.t1 + rtt / 2, probe.t1 + rtt / 2};
}

/// An end that sends so much each second.
class UpkeepPaceTest : public ::testing::Test {
 protected:
  /// The seconds at which reports are due, of so many.
  std::vector<int> due(int seconds, std::uint64_t bytes_per_s, std::uint64_t queue_ms,
                       std::uint64_t left_out_per_s = 0) {
    std::vector<int> out;
    for (int i = 0; i < seconds; ++i) {
      signs.sent_bytes += bytes_per_s;
      signs.left_out += left_out_per_s;
      signs.probe = *signs.probe_least + queue_ms * kMs;
      if (pace.due(signs)) out.push_back(i);
    }
    return out;
  }
  UpkeepPace pace;
  UpkeepPace::Signs signs{0, 0, 20 * kMs, 20 * kMs};
};

TEST_F(UpkeepPaceTest, OnceASecondWhereThereIsRoom) {
  for (const std::uint64_t rate : {0u, 10u, 8'000u, 1'000'000u})
    for (const std::uint64_t queue : {0u, 100u, 199u}) {
      EXPECT_EQ(due(5, rate, queue).size(), 5u) << rate << " " << queue;
      EXPECT_FALSE(pace.seldom());
    }
  signs.probe_least.reset();
  EXPECT_TRUE(pace.due({8'000, 0, 900 * kMs, std::nullopt})) << "nothing is known yet";
}

TEST_F(UpkeepPaceTest, SeldomOnAThinLinkThatIsFull) {
  EXPECT_EQ(due(9, 8'000, 200), (std::vector{3, 7}));
  EXPECT_TRUE(pace.seldom());
  EXPECT_EQ(due(3, 8'000, 199), (std::vector{0, 1, 2})) << "at once when there is room";
  EXPECT_FALSE(pace.seldom());
  EXPECT_EQ(due(8, 7'600, 0, 1), (std::vector{3, 7})) << "shaping leaves something out";
  EXPECT_EQ(due(2, 7'600, 0, 0).size(), 2u);
}

TEST_F(UpkeepPaceTest, NoMoreThanItsShareOfWhatIsSent) {
  for (const std::uint64_t rate : {9'750u, 11'000u, 14'000u, 20'000u, 30'000u, 60'000u, 1'000'000u}) {
    const auto reports = due(1200, rate, 2'000).size();
    const auto share = static_cast<double>(reports * kUpkeepBytes) / (1200.0 * static_cast<double>(rate));
    EXPECT_LE(share, 1.0 / 150) << rate;
    EXPECT_GE(reports, 300u) << rate;
  }
  EXPECT_EQ(due(100, 40'000, 2'000).size(), 100u) << "where a second's take less than the share, nothing changes";
}

TEST_F(UpkeepPaceTest, NeverMoreSeldomThanEveryFourSeconds) {
  for (const std::uint64_t rate : {0u, 1u, 500u}) EXPECT_EQ(due(40, rate, 5'000).size(), 10u) << rate;
}

TEST(LinkUpkeep, AGcsReportsAlwaysAndProbesAsOftenAsTheDroneReports) {
  Link link("uav1", false, kTimers, 1024);
  auto now = 100 * kS;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(link.report_due(false, false, now + i * kS));
  link.last_probe_ns = now;
  link.remote_at_ns = now - kMs;
  EXPECT_FALSE(link.probe_due(false, false, now + kS)) << "none came since";
  EXPECT_FALSE(link.probe_due(false, false, now + 4 * kS - 1));
  EXPECT_TRUE(link.probe_due(false, false, now + 4 * kS));
  link.remote_at_ns = now + kMs;
  EXPECT_TRUE(link.probe_due(false, false, now + kS));
}

TEST(LinkUpkeep, ADroneThatHearsNothingReportsAndProbesWhateverItsWay) {
  Link link("uav1", true, kTimers, 1024);
  link.probes.on_reply(reply(link.probes.ask(0), 20 * kMs), 20 * kMs);
  link.probes.on_reply(reply(link.probes.ask(kS), 900 * kMs), kS + 900 * kMs);
  auto now = 100 * kS;
  EXPECT_FALSE(link.report_due(true, false, now));
  EXPECT_FALSE(link.probe_due(true, false, now));
  EXPECT_TRUE(link.report_due(true, true, now + kS));
  EXPECT_TRUE(link.probe_due(true, true, now + kS));
}

}  // namespace
}  // namespace pqcmav
