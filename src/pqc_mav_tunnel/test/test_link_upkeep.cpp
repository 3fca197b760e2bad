// SPDX-License-Identifier: Apache-2.0
#include "net/link_upkeep.hpp"

#include <gtest/gtest.h>

#include "session_fixture.hpp"

namespace pqcmav::test {
namespace {

constexpr std::uint64_t kNow = 1'000 * kS, kNever = ~std::uint64_t{0};
constexpr UpkeepRules kGcs{false, 5 * kS, 2 * kS}, kDrone{true, 5 * kS, 2 * kS};

/// What a control frame says; without content there is none.
struct Words {
  explicit Words(ByteView tlvs) { EXPECT_TRUE(tlvs.empty() || parse_controls(tlvs, list)); }
  template <typename T>
  [[nodiscard]] const T* get() const {
    for (std::size_t i = 0; i < list.count; ++i)
      if (const auto* found = std::get_if<T>(&list.items[i])) return found;
    return nullptr;
  }
  ControlList list;
};

Words upkeep(Link& link, const UpkeepRules& rules, std::uint64_t now, bool* names_session = nullptr) {
  static ByteArray<512> tlvs;
  const auto word = append_upkeep(link, rules, tlvs, now);
  if (names_session) *names_session = word.names_session;
  return Words(ByteView(tlvs).first(word.used));
}

TEST(LinkUpkeep, AGcsReportsEverySecondAndProbesHalfWayADroneThatReports) {
  Link link("uav1", false, kTimers, 1024);
  std::vector<std::uint64_t> reports, probes;
  for (std::uint64_t ms = 0; ms < 4'000; ms += 100) {
    const auto now = kNow + ms * kMs;
    link.remote_at_ns = ms < 2'000 ? now : kNow;
    const auto said = upkeep(link, kGcs, now);
    if (said.get<LinkReport>()) reports.push_back(ms);
    if (said.get<Probe>()) probes.push_back(ms);
  }
  EXPECT_EQ(reports, (std::vector<std::uint64_t>{0, 1'000, 2'000, 3'000}));
  EXPECT_EQ(probes, (std::vector<std::uint64_t>{500, 1'500}));
}

TEST(LinkUpkeep, ADroneThatHearsNothingAsksMoreOftenAndNamesItsSession) {
  Link link("uav1", true, kTimers, 1024);
  bool names_session = false;
  std::size_t probes = 0;
  for (std::uint64_t ms = 0; ms < 2'000; ms += 50)
    if (upkeep(link, kDrone, kNow + ms * kMs, &names_session).get<Probe>()) {
      EXPECT_TRUE(names_session);
      ++probes;
    }
  EXPECT_GT(probes, 4u);
}

TEST(LinkUpkeep, WhereNothingElseIsSentAKeepaliveGoes) {
  Link link("uav1", true, kTimers, 1024);
  KeySource source(1);
  link.session.install(source.make(0).drone, kNow);
  ASSERT_TRUE(seal(link.session, 1, kNow));
  link.next_report_ns = link.next_probe_ns = kNever;
  bool names_session = true;
  EXPECT_EQ(upkeep(link, kDrone, kNow + 5 * kS - 1).list.count, 0u);
  EXPECT_TRUE(upkeep(link, kDrone, kNow + 5 * kS, &names_session).get<Keepalive>());
  EXPECT_FALSE(names_session);
}

TEST(LinkUpkeep, WhatArrivedIsToldUnderTheKeyThatItCameBy) {
  Link link("uav1", true, kTimers, 1024);
  KeySource source(1);
  link.session.install(source.make(0).drone, kNow);
  const auto key = load_be<std::uint64_t>(link.session.current()->id.data());
  ByteArray<64> tlvs;
  EXPECT_EQ(append_seen(link, tlvs, 0), 0u);
  EXPECT_TRUE(link.note_arrival(key, 5, 100, kNow));
  EXPECT_FALSE(link.note_arrival(key, 6, 100, kNow + kMs));
  const Words said(ByteView(tlvs).first(append_seen(link, tlvs, 0)));
  ASSERT_TRUE(said.get<Arrived>());
  EXPECT_EQ(said.get<Arrived>()->highest, 6u);
  EXPECT_EQ(said.get<Arrived>()->bytes, 2 * (100 + Shaper::kUdpIp));
  link.session.install(source.make(1).drone, kNow);
  EXPECT_EQ(append_seen(link, tlvs, 0), 0u);
}

TEST(LinkUpkeep, AnAlarmGoesWithEachReportAndThenOnceThatItIsOver) {
  Link link("uav1", false, kTimers, 1024);
  link.alarm = {2, "forgery"};
  std::vector<int> levels;
  for (int s = 0; s < 4; ++s) {
    const auto said = upkeep(link, kGcs, kNow + s * kS);
    levels.push_back(said.get<AlarmTold>() ? said.get<AlarmTold>()->level : -1);
    if (s == 1) link.alarm = {};
  }
  EXPECT_EQ(levels, (std::vector<int>{2, 2, 0, -1}));
}

TEST(LinkUpkeep, AProbeIsAnsweredWithItsNumberAndItsTimes) {
  Link link("uav1", false, kTimers, 1024);
  ByteArray<96> tlvs;
  const Words said(ByteView(tlvs).first(append_probe_reply(link, Probe{7, 123}, tlvs, kNow)));
  ASSERT_TRUE(said.get<ProbeReply>());
  EXPECT_EQ(said.get<ProbeReply>()->id, 7u);
  EXPECT_EQ(said.get<ProbeReply>()->t1, 123u);
  EXPECT_EQ(said.get<ProbeReply>()->t2, kNow);
}

TEST(LinkUpkeep, NewKeysAreSaidWithTheirEpoch) {
  ByteArray<16> tlvs;
  const Words said(ByteView(tlvs).first(append_switched(tlvs, 9)));
  ASSERT_TRUE(said.get<Switched>());
  EXPECT_EQ(said.get<Switched>()->epoch, 9);
  EXPECT_TRUE(said.get<Keepalive>());
}

TEST(LinkUpkeep, NewKeysMayBeSilentForATurnOfTheLink) {
  Link link("uav1", true, kTimers, 1024);
  EXPECT_EQ(turn_ns(link), 0u);
  const auto answer = [&](std::uint64_t round_trip) {
    const auto probe = link.probes.ask(kNow);
    link.probes.on_reply(ProbeReply{probe.id, kNow, kNow, kNow}, kNow + round_trip);
  };
  answer(100 * kMs);
  EXPECT_EQ(turn_ns(link), 150 * kMs);
  answer(3'600 * kS);
  EXPECT_EQ(turn_ns(link), to_ns(kTurnMost));
}

}  // namespace
}  // namespace pqcmav::test
