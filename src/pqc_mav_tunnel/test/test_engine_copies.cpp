// SPDX-License-Identifier: Apache-2.0
// What cannot wait goes by all paths of a drone, and is delivered once; what was held back long enough is not.
#include "two_ways.hpp"

namespace pqcmav {
namespace {

using namespace test;
using Second = TwoWays::Second;
using Way = Relay::Way;

constexpr std::uint8_t kAttitude = 30, kCommandAck = 77, kOverride = 70;

class EngineCopies : public ::testing::TestWithParam<Second> {};
INSTANTIATE_TEST_SUITE_P(Seconds, EngineCopies, ::testing::Values(Second::udp, Second::radio),
                         [](const auto& info) { return info.param == Second::udp ? "Udp" : "Radio"; });

/// How often this message comes within the time.
std::size_t times(UdpPeer& at, const Bytes& message, milliseconds within) {
  std::size_t out = 0;
  const auto end = std::chrono::steady_clock::now() + within;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return out;
    if (const auto got = at.receive(left)) out += *got == message;
  }
}

Bytes message(std::uint32_t id, std::uint8_t number, bool is_signed = false) {
  const auto out = mavlink2(id, 18, {1, 1, number}, is_signed);
  return is_signed ? out : summed(out);
}

/// The ground station knows by which paths what goes, and each is known to live.
bool settled(TwoWays& ways) {
  return ways.connect() && ways.comes_to(0, "good") && ways.passes() && eventually([&] {
           const auto before = total(*ways.drone, "drop_copy");
           ways.ground.send(message(76, 99), plain_port(*ways.gcs, "uav1"));
           std::this_thread::sleep_for(100ms);
           return total(*ways.drone, "drop_copy") > before;
         });
}

TEST_P(EngineCopies, CommandsAndAnswersGoByBothAndAreDeliveredOnce) {
  TwoWays ways(GetParam());
  ASSERT_TRUE(settled(ways));
  const auto before = ways.path(1).tx_packets;
  const auto copies = total(*ways.gcs, "drop_copy");
  for (std::uint8_t i = 0; i < 4; ++i) {
    const auto up = message(kCommandAck, i), down = message(76, i);
    ways.autopilot.send(up, plain_port(*ways.drone, "uav1"));
    EXPECT_EQ(times(ways.ground, up, 400ms), 1u);
    ways.ground.send(down, plain_port(*ways.gcs, "uav1"));
    EXPECT_EQ(times(ways.autopilot, down, 400ms), 1u);
  }
  EXPECT_GE(ways.path(1).tx_packets, before + 4);
  EXPECT_TRUE(eventually([&] { return total(*ways.gcs, "drop_copy") >= copies + 4; }));
  for (const auto* engine : {ways.gcs.get(), ways.drone.get()}) {
    EXPECT_EQ(total(*engine, "drop_replay"), total(*engine, "doubled")) << "what was planned is no replay";
    expect_all_accounted_for(*engine);
  }
  ways.expect_one_session();
}

TEST_P(EngineCopies, StreamsAndSticksGoByOne) {
  TwoWays ways(GetParam());
  ASSERT_TRUE(settled(ways));
  const auto copies = total(*ways.gcs, "drop_copy"), down = total(*ways.drone, "drop_copy");
  for (std::uint8_t i = 0; i < 5; ++i) {
    ways.autopilot.send(message(kAttitude, i), plain_port(*ways.drone, "uav1"));
    ways.autopilot.send(message(kCommandAck, i, true), plain_port(*ways.drone, "uav1"));
    ways.ground.send(message(kOverride, i), plain_port(*ways.gcs, "uav1"));
  }
  EXPECT_EQ(times(ways.ground, message(kAttitude, 4), 500ms), 1u);
  EXPECT_EQ(total(*ways.gcs, "drop_copy"), copies);
  EXPECT_EQ(total(*ways.drone, "drop_copy"), down);
}

TEST_P(EngineCopies, NothingThatCannotWaitIsLostWithAPath) {
  TwoWays ways(GetParam());
  ASSERT_TRUE(settled(ways));
  ways.lte_passes(false, false);
  // Nobody knows yet that it is dead.
  const auto up = message(kCommandAck, 1), down = message(76, 1), stream = message(kAttitude, 1);
  ways.autopilot.send(up, plain_port(*ways.drone, "uav1"));
  ways.autopilot.send(stream, plain_port(*ways.drone, "uav1"));
  ways.ground.send(down, plain_port(*ways.gcs, "uav1"));
  EXPECT_EQ(times(ways.autopilot, down, 300ms), 1u);
  EXPECT_TRUE(ways.takes(0)) << "that was too slow to say anything";
  std::size_t came = 0;
  for (auto got = ways.ground.receive(300ms); got; got = ways.ground.receive(300ms)) {
    EXPECT_NE(*got, stream);
    came += *got == up;
  }
  EXPECT_EQ(came, 1u);
  EXPECT_TRUE(ways.comes_to(1, "dead"));
  EXPECT_TRUE(ways.passes());
  ways.expect_one_session();
}

TEST_P(EngineCopies, EachDirectionMayHaveAWayOfItsOwn) {
  TwoWays ways(GetParam(), {}, {{"reconnect_after_s", 60.0}});
  ASSERT_TRUE(settled(ways));
  ways.lte_passes(false, true);
  ways.other_passes(true, false);
  EXPECT_TRUE(ways.comes_to(1));
  EXPECT_TRUE(ways.passes());
  EXPECT_TRUE(eventually([&] { return status(*ways.gcs).peer == ways.at_gcs(0); })) << "there it comes down";
  const auto up = message(kCommandAck, 1), down = message(76, 1);
  ways.autopilot.send(up, plain_port(*ways.drone, "uav1"));
  EXPECT_EQ(times(ways.ground, up, 400ms), 1u);
  ways.ground.send(down, plain_port(*ways.gcs, "uav1"));
  EXPECT_EQ(times(ways.autopilot, down, 400ms), 1u);
  EXPECT_EQ(state(*ways.drone), LinkState::up);
  ways.expect_one_session();
}

TEST(EngineAgain, WhereOnePathLivesItGoesBySameWayASecondTime) {
  TwoWays ways(Second::udp);
  ASSERT_TRUE(settled(ways));
  ASSERT_TRUE(ways.drone->use_path("other", "off"));
  ASSERT_TRUE(ways.passes());
  std::this_thread::sleep_for(300ms);  // the ground station has the drone's word
  const auto up = message(kCommandAck, 1), down = message(76, 1);
  ways.lte_passes(false, false);
  ways.autopilot.send(up, plain_port(*ways.drone, "uav1"));
  ways.ground.send(down, plain_port(*ways.gcs, "uav1"));
  std::this_thread::sleep_for(80ms);
  ways.lte_passes(true, true);
  EXPECT_EQ(times(ways.ground, up, 600ms), 1u);
  EXPECT_EQ(times(ways.autopilot, down, 600ms), 1u);
  const auto replays = total(*ways.gcs, "drop_replay");
  ways.autopilot.send(message(kCommandAck, 2), plain_port(*ways.drone, "uav1"));
  EXPECT_EQ(times(ways.ground, message(kCommandAck, 2), 600ms), 1u);
  EXPECT_EQ(total(*ways.gcs, "drop_replay"), replays);
}

/// Settled on the first path alone, where what passes is recorded.
bool recorded_by_one(TwoWays& ways) {
  if (!settled(ways) || !ways.drone->use_path("other", "off") || !ways.passes()) return false;
  std::this_thread::sleep_for(300ms);  // the ground station has the drone's word
  ways.lte->record(true);
  return true;
}

/// What comes down of these when the first of them is lost.
std::vector<Bytes> after_a_lost_one(const std::vector<Bytes>& sent, bool other_comes_back = false) {
  TwoWays ways(Second::udp);
  if (!recorded_by_one(ways)) return {};
  ways.lte_passes(true, false);
  ways.ground.send(sent.front(), plain_port(*ways.gcs, "uav1"));
  EXPECT_TRUE(eventually([&] { return !ways.lte->take(Way::down).empty(); })) << "it is lost";
  ways.lte_passes(true, true);
  if (other_comes_back) {
    EXPECT_TRUE(ways.drone->use_path("other", "on"));
    std::this_thread::sleep_for(60ms);  // the ground station has the drone's word
  }
  for (auto it = sent.begin() + 1; it != sent.end(); ++it) ways.ground.send(*it, plain_port(*ways.gcs, "uav1"));
  std::vector<Bytes> out;
  for (auto got = ways.autopilot.receive(300ms); got; got = ways.autopilot.receive(300ms)) out.push_back(*got);
  return out;
}

/// A machine that stood still for 0.2 s has the repeat go by itself, or while all is lost: then once more.
bool come_as(const std::vector<Bytes>& sent, const std::vector<Bytes>& wanted, bool other_comes_back = false) {
  for (int attempt = 0; attempt < 3; ++attempt)
    if (after_a_lost_one(sent, other_comes_back) == wanted) return true;
  return false;
}

TEST(EngineAgain, ALostCommandDoesNotComeAfterANewerOne) {
  const auto older = message(76, 1), newer = message(76, 2), with_signature = message(76, 2, true);
  auto in_company = message(kOverride, 1);
  in_company.insert(in_company.end(), newer.begin(), newer.end());
  for (const auto& each : {newer, with_signature, in_company})
    EXPECT_TRUE(come_as({older, each}, {older, each})) << each.size();
  EXPECT_TRUE(come_as({older, newer}, {older, newer}, true)) << "another path is there again";
}

TEST(EngineAgain, AHeartbeatDoesNotUseUpTheRepeat) {
  const auto older = message(76, 1), heartbeat = message(0, 1);
  EXPECT_TRUE(come_as({older, heartbeat}, {heartbeat, older}));
}

class EngineLate : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(RekeyFirst, EngineLate, ::testing::Bool());

TEST_P(EngineLate, AHeldBackCommandIsNotExecutedLate) {
  TwoWays ways(Second::udp);
  ASSERT_TRUE(recorded_by_one(ways));
  const auto held = message(76, 1), override_held = message(kOverride, 1);
  decltype(ways.lte->take(Way::down)) packets;
  bool held_back = false;
  // A network that got no processor meanwhile lets them by once it is open again: in time, and so again.
  for (int attempt = 0; attempt < 5 && !held_back; ++attempt) {
    ways.lte_passes(true, false);
    ways.ground.send(held, plain_port(*ways.gcs, "uav1"));
    ways.ground.send(override_held, plain_port(*ways.gcs, "uav1"));
    std::this_thread::sleep_for(50ms);
    packets = ways.lte->take(Way::down);
    ways.lte_passes(true, true);
    held_back = packets.size() >= 2 && times(ways.autopilot, override_held, 200ms) == 0;
  }
  ASSERT_TRUE(held_back);
  // All that is newer comes, for 2 s and the round trip, of which 2 s count at most.
  const auto end = std::chrono::steady_clock::now() + 4300ms;
  while (std::chrono::steady_clock::now() < end) {
    ASSERT_TRUE(ways.passes_down());
    std::this_thread::sleep_for(20ms);
  }
  if (GetParam()) {
    // Packets under the keys before are taken for 2 s more.
    ASSERT_TRUE(ways.drone->request_rekey("uav1", "", "test", patience()).ok);
  }
  for (const auto& packet : packets) ways.lte->send_down(packet);
  EXPECT_EQ(times(ways.autopilot, override_held, 500ms), 0u);
  EXPECT_GE(total(*ways.drone, "drop_late"), 1u);
  EXPECT_TRUE(ways.passes());
  expect_all_accounted_for(*ways.drone);
}

TEST(EngineSilence, WhatIsHeldBackWithAllElseIsNotExecutedEither) {
  TwoWays ways(Second::udp);
  ASSERT_TRUE(recorded_by_one(ways));
  ways.lte_passes(true, false);
  const auto held = message(kOverride, 1);
  const auto end = std::chrono::steady_clock::now() + 4300ms;  // 2 s and the round trip, of which 2 s count at most
  while (std::chrono::steady_clock::now() < end) {
    ways.ground.send(held, plain_port(*ways.gcs, "uav1"));
    std::this_thread::sleep_for(50ms);
  }
  const auto packets = ways.lte->take(Way::down);
  ASSERT_GE(packets.size(), 50u);
  // Those of the last 4 s may pass, once an answer that is as new has come. They stay away, and so does the answer.
  for (std::size_t i = 0; i < packets.size() / 2; ++i) ways.lte->send_down(packets[i]);
  EXPECT_EQ(times(ways.autopilot, held, 300ms), 0u);
  EXPECT_GE(total(*ways.drone, "drop_late"), 5u);
  ways.lte_passes(true, true);
  EXPECT_TRUE(ways.passes());
  EXPECT_EQ(times(ways.autopilot, held, 300ms), 0u);
  expect_all_accounted_for(*ways.drone);
}

/// What goes by a path of that use while the autopilot sends 20 answers and 20 values.
std::uint64_t bytes_by_other(const char* use, bool lives) {
  TwoWays ways(Second::udp, {}, {{"path.other.use", use}});
  EXPECT_TRUE(ways.connect() && ways.comes_to(0, "good") && ways.passes());
  if (!lives) {
    ways.other_passes(false, false);
    EXPECT_TRUE(ways.comes_to(0, "dead"));
  }
  std::this_thread::sleep_for(300ms);  // the ground station has the drone's word
  const auto before = ways.path(1).tx_bytes;
  for (std::uint8_t i = 0; i < 20; ++i) ways.autopilot.send(message(kCommandAck, i), plain_port(*ways.drone, "uav1"));
  std::this_thread::sleep_for(500ms);
  return ways.path(1).tx_bytes - before;
}

TEST(EnginePathUse, CopiesGoByThoseThatMayHaveThem) {
  const std::vector<std::tuple<const char*, bool, bool>> table = {
      {"always", false, true}, {"metered", true, true}, {"metered", false, false}, {"backup", true, false}};
  for (const auto& [use, lives, copies] : table)
    EXPECT_EQ(bytes_by_other(use, lives) > 500, copies) << use << (lives ? " lives" : " is dead");
}

TEST(EnginePathUse, ABackupCarriesAllOnceNoOtherLives) {
  TwoWays ways(Second::udp, {}, {{"path.other.use", "backup"}});
  ASSERT_TRUE(ways.connect() && ways.comes_to(0, "good"));
  ways.lte_passes(false, false);
  ASSERT_TRUE(ways.comes_to(1, "dead"));
  EXPECT_TRUE(ways.passes());
  ways.lte_passes(true, true);
  EXPECT_TRUE(ways.comes_to(0, "good"));
  EXPECT_TRUE(ways.passes());
  ways.expect_one_session();
}

TEST(EnginePathUse, OneForCommandsCarriesNothingElse) {
  TwoWays ways(Second::udp, {}, {{"path.other.use", "commands"}});
  ASSERT_TRUE(ways.connect() && ways.comes_to(0, "good") && ways.passes());
  EXPECT_EQ(total(*ways.drone, "drop_yield") + total(*ways.gcs, "drop_yield"), 0u);
  ways.lte_passes(false, false);
  ASSERT_TRUE(ways.comes_to(1, "dead"));
  const auto up = message(kCommandAck, 1), down = message(76, 1), is_signed = message(kCommandAck, 2, true);
  const auto stream = message(kAttitude, 1), stick = message(kOverride, 1);
  auto both = stream;
  both.insert(both.end(), up.begin(), up.end());
  // Until the ground station has the drone's word its own values come.
  ASSERT_TRUE(eventually([&] {
    ways.ground.send(stick, plain_port(*ways.gcs, "uav1"));
    return total(*ways.gcs, "drop_yield") > 0;
  }));
  (void)times(ways.autopilot, stick, 300ms);
  const auto before = ways.path(1).tx_bytes;
  for (const auto& each : {stream, up, is_signed, both}) ways.autopilot.send(each, plain_port(*ways.drone, "uav1"));
  for (const auto& each : {stick, down}) ways.ground.send(each, plain_port(*ways.gcs, "uav1"));
  std::vector<Bytes> came, went;
  for (auto got = ways.ground.receive(500ms); got; got = ways.ground.receive(500ms)) came.push_back(*got);
  for (auto got = ways.autopilot.receive(500ms); got; got = ways.autopilot.receive(500ms)) went.push_back(*got);
  EXPECT_EQ(came, (std::vector<Bytes>{up, is_signed, both}));
  EXPECT_EQ(went, (std::vector<Bytes>{down}));
  EXPECT_EQ(total(*ways.drone, "drop_yield"), 1u);
  EXPECT_LT(ways.path(1).tx_bytes - before, 2000u) << "what is asked and told by it costs, too";
  for (const auto* engine : {ways.gcs.get(), ways.drone.get()}) expect_all_accounted_for(*engine);
  ways.lte_passes(true, true);
  EXPECT_TRUE(ways.comes_to(0, "good"));
  EXPECT_TRUE(ways.passes());
  ways.expect_one_session();
}

}  // namespace
}  // namespace pqcmav
