// SPDX-License-Identifier: Apache-2.0
// Order, share, replacement and rate of the shaper, and what docs/protocol.md guarantees of it.
#include "shape/shaper.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "constants.hpp"
#include "mavlink_bytes.hpp"
#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

using namespace test;

constexpr Shaper::Overhead kAir{kOverhead + Shaper::kUdpIp, kOverhead + Shaper::kUdpIp};
constexpr std::size_t kRoomFor = 1'432;

Shaper make(std::uint32_t kbit, std::vector<MessageClasses::Override> overrides = {}) {
  Shaper out(kHeaderSize, kRoomFor, kTagSize, MessageClasses(overrides));
  out.set_kbit(kbit, kS);
  return out;
}

Bytes payload(const Shaper::Leaving& leaving) {
  const auto inner = leaving.packet.subspan(kHeaderSize, leaving.packet.size() - kOverhead);
  return {inner.begin(), inner.end()};
}

const ShapeCount& of(const ShapeCounts& counts, ShapeClass shape_class) {
  return counts[static_cast<std::size_t>(shape_class)];
}

/// Uses up what the bucket holds at `now`.
void empty_bucket(Shaper& shaper, std::uint64_t now) {
  shaper.charge(TokenBucket::kDepthBytes - Shaper::kUdpIp);
  ASSERT_FALSE(shaper.next(now, kAir));
}

/// The first bytes of all that leaves, as soon as it may, until nothing waits.
std::vector<Bytes> run_dry(Shaper& shaper, std::uint64_t& now) {
  std::vector<Bytes> out;
  while (true) {
    const auto due = shaper.due(now, kAir);
    if (due == Shaper::kNever) return out;
    now = std::max(now, due);
    const auto leaving = shaper.next(now, kAir);
    EXPECT_TRUE(leaving) << "due, but nothing leaves";
    if (!leaving) return out;
    out.push_back(payload(*leaving));
  }
}

TEST(Shaper, TheImportantLeavesFirst) {
  auto shaper = make(64);
  auto now = kS;
  empty_bucket(shaper, now);
  const std::vector<Bytes> queued = {Bytes(40, 9), mavlink2(110), mavlink2(30), mavlink2(33),
                                     mavlink2(22), mavlink2(39),  mavlink2(76), mavlink2(0)};
  for (const auto& each : queued) shaper.take(each, now);
  EXPECT_EQ(run_dry(shaper, now), (std::vector<Bytes>{queued[6], queued[7], queued[5], queued[4], queued[2], queued[3],
                                                      queued[0], queued[1]}));
}

TEST(Shaper, ARekeyComesAfterCommandsWithAQuarter) {
  auto shaper = make(64);
  std::size_t rekey = 0, all = 0;
  std::uint64_t commands = 0;
  for (std::uint64_t at = kS; at < 41 * kS; at += kMs) {
    while (of(shaper.counts(at), ShapeClass::rekey).taken < of(shaper.counts(at), ShapeClass::rekey).sent + 3)
      shaper.take_rekey(Bytes(1'150, 1), at);
    if (at % (10 * kMs) == 0) shaper.take(mavlink2(22, 100), at);
    if (at % (100 * kMs) == 0) shaper.take(mavlink2(76, 33), at);
    while (const auto leaving = shaper.next(at, kAir)) {
      const auto bytes = leaving->packet.size() + Shaper::kUdpIp;
      all += bytes;
      if (leaving->shape_class == ShapeClass::rekey) rekey += bytes;
      if (leaving->shape_class == ShapeClass::command) ++commands;
    }
  }
  EXPECT_EQ(commands, 400u);
  EXPECT_NEAR(static_cast<double>(all), 40 * 64'000 * 0.98 / 8, 4'000);
  EXPECT_NEAR(static_cast<double>(rekey) / static_cast<double>(all), 0.25, 0.02);
}

TEST(Shaper, ARekeyAloneHasTheLink) {
  auto shaper = make(64);
  auto now = kS;
  for (int part = 0; part < 10; ++part) shaper.take_rekey(Bytes(1'134, 1), now);
  EXPECT_EQ(run_dry(shaper, now).size(), 10u);
  EXPECT_NEAR(static_cast<double>(now - kS), 9 * 1'200 * 8 / (64'000 * 0.98) * 1e9, 5e7);
}

TEST(Shaper, TheNewestValueTakesTheQueuedOnesPlace) {
  auto shaper = make(64);
  auto now = kS;
  empty_bucket(shaper, now);
  shaper.take(mavlink2(30, 20, {1, 1, 1}), now);
  shaper.take(mavlink2(33, 20, {1, 1, 2}), now);
  shaper.take(mavlink2(30, 20, {2, 1, 3}), now);
  shaper.take(mavlink2(30, 28, {1, 1, 4}), now);
  shaper.take(mavlink2(70, 18, {255, 1, 5}), now);
  shaper.take(mavlink2(76, 33, {255, 1, 6}), now);
  shaper.take(mavlink2(76, 33, {255, 1, 7}), now);
  shaper.take(mavlink2(70, 18, {255, 1, 8}), now);
  const auto left = run_dry(shaper, now);
  std::vector<int> sequences;
  for (const auto& each : left) sequences.push_back(each[4]);
  EXPECT_EQ(sequences, (std::vector<int>{8, 6, 7, 4, 2, 3}));
  EXPECT_EQ(left[3].size(), 40u) << "with its own length";
  const auto counts = shaper.counts(now);
  EXPECT_EQ(of(counts, ShapeClass::stream).replaced, 1u);
  EXPECT_EQ(of(counts, ShapeClass::stream).sent, 3u);
  EXPECT_EQ(of(counts, ShapeClass::command).replaced, 1u);
  EXPECT_EQ(of(counts, ShapeClass::command).sent, 4u) << "with the control frame that emptied the bucket";
}

TEST(Shaper, OfTheStreamsTheOneThatBringsTheMostNewsHasItsTurnUnlessAnotherWaitsForLong) {
  auto shaper = make(1000);
  auto now = kS;
  const auto value = [](std::uint32_t id, std::uint8_t which) { return mavlink2(id, 20, {1, 1, which}); };
  const auto order = [&] {
    std::string out;
    for (const auto& each : run_dry(shaper, now)) out += std::to_string(each[4]) + " ";
    return out;
  };
  shaper.take(value(30, 1), now);
  shaper.take(value(33, 2), now);
  EXPECT_EQ(order(), "1 2 ") << "the first of each as they came";
  shaper.take(value(30, 3), kS + 100 * kMs);
  shaper.take(value(33, 4), kS + 150 * kMs);
  shaper.take(value(74, 5), kS + 160 * kMs);
  now = kS + 200 * kMs;
  EXPECT_EQ(order(), "5 4 3 ") << "150 ms newer than what the other end has is more than 100, and all of it most";
  shaper.take(value(33, 6), kS + 300 * kMs);
  shaper.take(value(30, 7), kS + 310 * kMs);
  shaper.take(value(33, 8), kS + 390 * kMs);
  now = kS + 400 * kMs;
  EXPECT_EQ(order(), "8 7 ") << "it counts how new the newest is";
  shaper.take(value(30, 9), kS + 500 * kMs);
  shaper.take(value(33, 10), kS + 740 * kMs);
  now = kS + 749 * kMs;
  EXPECT_EQ(order(), "10 9 ");
  shaper.take(value(30, 11), kS + 800 * kMs);
  shaper.take(value(33, 12), kS + 1040 * kMs + 10 * kMs);
  now = kS + 1050 * kMs;
  EXPECT_EQ(order(), "11 12 ") << "250 ms are too long for that";
}

TEST(Shaper, SeveralMessagesAreNeverReplaced) {
  auto shaper = make(64);
  auto now = kS;
  empty_bucket(shaper, now);
  const auto pair = together({mavlink2(30), mavlink2(33)});
  for (int i = 0; i < 3; ++i) shaper.take(pair, now);
  EXPECT_EQ(run_dry(shaper, now).size(), 3u);
}

TEST(Shaper, WhatJoinsABundleGoesOnCredit) {
  auto shaper = make(64);
  EXPECT_EQ(shaper.bundle_most(), 313u) << "40 ms of 98 %";
  auto now = kS;
  empty_bucket(shaper, now);
  for (std::uint8_t i = 0; i < 4; ++i) shaper.take(mavlink2(22, 28, {1, 1, i}), now);  // 40 bytes each
  now = shaper.due(now, kAir);
  const auto first = shaper.next(now, kAir);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->joins);
  for (int i = 0; i < 2; ++i) {
    const auto second = shaper.next(now, {kAir.data, kAir.control, 41});
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->joins);
  }
  shaper.charge_more(3);
  EXPECT_FALSE(shaper.next(now, {kAir.data, kAir.control, 40})) << "its length has no room";
  // The fourth waits until the rate has paid for the two that joined, the lengths, and itself.
  const auto owed = 2 * 40 + 3 + 40 + kAir.data;
  EXPECT_NEAR(static_cast<double>(shaper.due(now, kAir) - now), static_cast<double>(owed) * 8 / 62'720 * 1e9, 1e3);
  EXPECT_EQ(make(8).bundle_most(), kShapeBundleLeast);
}

TEST(Shaper, ABundleThatLeavesTakesASmallerValueAlong) {
  auto shaper = make(64);
  auto now = kS;
  empty_bucket(shaper, now);
  for (const auto& each : {mavlink2(30, 28), mavlink2(33, 60), mavlink2(74, 20)}) shaper.take(each, now);
  now = shaper.due(now, kAir);
  const Shaper::Overhead open{kAir.data, kAir.control, 41};
  ASSERT_EQ(shaper.next(now, kAir)->packet.size(), 40 + kOverhead);
  EXPECT_FALSE(shaper.next(now, {kAir.data, kAir.control, 32})) << "no room for any, with its length";
  const auto filler = shaper.next(now, open);
  ASSERT_TRUE(filler);
  EXPECT_TRUE(filler->joins);
  EXPECT_EQ(filler->packet.size(), 32 + kOverhead) << "though the one of 72 bytes is next";
  EXPECT_FALSE(shaper.next(now, open));
  shaper.take(mavlink2(74, 20), now);
  shaper.take(mavlink2(76, 33), now);
  EXPECT_FALSE(shaper.next(now, open)) << "a command waits for nothing";
  now = shaper.due(now, kAir);
  EXPECT_EQ(shaper.next(now, kAir)->packet.size(), 45 + kOverhead);
}

TEST(Shaper, ARekeyJoinsNoBundle) {
  auto shaper = make(64);
  empty_bucket(shaper, kS);
  shaper.take_rekey(Bytes(40, 1), kS);
  EXPECT_FALSE(shaper.next(kS, {kAir.data, kAir.control, 400}));
}

TEST(Shaper, FullQueuesLoseTheirOldest) {
  const std::map<std::uint32_t, std::size_t> places = {{76, kShapeCommands}, {39, kShapeTransfers}, {251, kShapeRest}};
  for (const auto& [id, most] : places) {
    auto shaper = make(64);
    auto now = kS;
    empty_bucket(shaper, now);
    for (std::size_t i = 0; i < most + 5; ++i) shaper.take(mavlink2(id, 9, {1, 1, static_cast<std::uint8_t>(i)}), now);
    const auto left = run_dry(shaper, now);
    ASSERT_EQ(left.size(), most);
    EXPECT_EQ(left.front()[4], 5);
    EXPECT_EQ(left.back()[4], most + 4);
  }
  auto shaper = make(64);
  auto now = kS;
  empty_bucket(shaper, now);
  for (std::size_t i = 0; i < kShapeStreams + 5; ++i)
    shaper.take(mavlink2(30, 9, {static_cast<std::uint8_t>(i), 1}), now);
  EXPECT_EQ(run_dry(shaper, now).size(), kShapeStreams);
  EXPECT_EQ(of(shaper.counts(now), ShapeClass::stream).dropped, 5u);
}

TEST(Shaper, AFileThatComesAtOnceGetsOnWithEachAttempt) {
  for (const auto id : {110, 120}) {  // FILE_TRANSFER_PROTOCOL, LOG_DATA
    constexpr std::size_t kPieces = 8 * kShapeRest;
    auto shaper = make(64);
    auto now = kS;
    std::size_t there = 0, attempts = 0;  // whoever reads asks for all that follows what it has
    while (there < kPieces && ++attempts < 20) {
      empty_bucket(shaper, now);
      for (auto i = there; i < kPieces; ++i) shaper.take(mavlink2(id, 100, {1, 1, static_cast<std::uint8_t>(i)}), now);
      for (const auto& piece : run_dry(shaper, now))
        if (piece[4] == there) ++there;
      now += kS;
    }
    EXPECT_EQ(attempts, 8u) << id;
  }
}

TEST(Shaper, TheRestHasATenthOfTheTurnsAndWithFilesAQuarter) {
  for (const auto& [id, share] : std::map<std::uint32_t, double>{{251, 0.1}, {110, 0.25}}) {
    auto shaper = make(64);
    std::size_t rest = 0, streams = 0;
    std::uint8_t system = 0;
    for (std::uint64_t at = kS; at < 61 * kS; at += kMs) {
      if (at % (5 * kMs) == 0) shaper.take(mavlink2(30, 20, {++system, 1}), at);
      if (at % (10 * kMs) == 0) shaper.take(mavlink2(id, 20), at);
      while (const auto leaving = shaper.next(at, kAir)) ++(leaving->shape_class == ShapeClass::rest ? rest : streams);
    }
    EXPECT_NEAR(static_cast<double>(rest) / static_cast<double>(rest + streams), share, 0.01) << id;
  }
}

// PX4 sends a hundred messages a second that no class knows: a log of 60 kB did not come through them in four minutes.
TEST(Shaper, FilesAndTheOthersOfTheRestHaveHalfOfItEach) {
  for (const bool files_first : {true, false}) {
    auto shaper = make(64);
    auto now = kS;
    empty_bucket(shaper, now);
    std::uint8_t number = 0;
    for (const auto id : {files_first ? 120 : 251, files_first ? 251 : 120})
      for (std::size_t i = 0; i < 3 * kShapeRest; ++i) shaper.take(mavlink2(id, 9, {1, 1, number++}), now);
    const auto left = run_dry(shaper, now);
    ASSERT_EQ(left.size(), kShapeRest);
    std::vector<int> files, others;
    for (const auto& each : left) (each[7] == 120 ? files : others).push_back(each[4]);
    ASSERT_EQ(files.size(), kShapeRest / 2);
    const int first_file = files_first ? 0 : 3 * kShapeRest, last_other = files_first ? number - 1 : 3 * kShapeRest - 1;
    EXPECT_EQ(files.front(), first_file);  // without a gap
    EXPECT_EQ(files.back(), first_file + static_cast<int>(kShapeRest) / 2 - 1);
    EXPECT_EQ(others.back(), last_other);  // the newest
  }
}

/// ArduCopter's whole list, faster than the link takes it: as it sends it without an answer, 20 to a turn of 20 ms.
TEST(Shaper, AListOfParametersIsLostNowhereAndHoldsUpNobody) {
  constexpr std::uint32_t kList = 1'313;
  constexpr std::uint8_t kStreams = 10;
  auto shaper = make(64);
  std::uint32_t given = 0, heard = 0;
  std::uint64_t commands = 0, slowest_command = 0, at = kS;
  std::map<std::uint8_t, std::uint64_t> newest, longest;
  for (; at < 60 * kS && heard < kList; at += kMs) {
    if (at % (20 * kMs) == 0) {
      for (int i = 0; i < 20 && given < kList; ++i) {
        auto out = mavlink2(22, 25);
        store_be(out.data() + 12, ++given);
        shaper.take(out, at);
      }
      for (std::uint8_t system = 1; system <= kStreams; ++system) shaper.take(mavlink2(30, 28, {system, 1}), at);
    }
    if (at % (500 * kMs) == 0) shaper.take(mavlink2(77, 10), at), ++commands;
    while (const auto leaving = shaper.next(at, kAir)) {
      const auto bytes = payload(*leaving);
      if (leaving->shape_class == ShapeClass::transfer) {
        ASSERT_EQ(load_be<std::uint32_t>(bytes.data() + 12), ++heard) << "in order, each of them";
      } else if (leaving->shape_class == ShapeClass::stream) {
        auto& last = newest[bytes[5]];
        longest[bytes[5]] = std::max(longest[bytes[5]], last == 0 ? 0 : at - last);
        last = at;
      }
    }
    slowest_command = std::max<std::uint64_t>(slowest_command, of(shaper.counts(at), ShapeClass::command).oldest_ms);
  }
  EXPECT_EQ(heard, kList);
  const auto counts = shaper.counts(at);
  EXPECT_EQ(of(counts, ShapeClass::transfer).dropped, 0u);
  EXPECT_EQ(of(counts, ShapeClass::command).dropped, 0u);
  EXPECT_LT(slowest_command, 50u);
  EXPECT_EQ(newest.size(), kStreams);
  // Three of four turns of some 13 ms are the parameters', so ten streams have theirs in half a second.
  for (const auto& [system, gap] : longest) EXPECT_LT(gap, 800 * kMs) << int{system};
  const auto bytes = static_cast<double>(kList * (25 + 12 + kAir.data));
  EXPECT_LT(static_cast<double>(at - kS) / 1e9, bytes / (64'000 / 8 * 0.98) * 4 / 3 * 1.1) << "three of four turns";
}

TEST(Shaper, SignedParametersHoldUpNoCommandOfTheirSigner) {
  auto shaper = make(64);
  auto now = kS;
  empty_bucket(shaper, now);
  for (int i = 0; i < 1'000; ++i) shaper.take(mavlink2(22, 25, {1, 1, 0, 1}, true), now);
  shaper.take(mavlink2(0, 9, {1, 1, 7, 1}, true), now);
  const auto left = run_dry(shaper, now);
  EXPECT_EQ(left.size(), kShapeTransfers + 1);
  EXPECT_LT(now - kS, 2 * kS);
}

/// A link that carries its rate and nothing more, behind timers as late as a loaded machine's.
/// At a rate that the tunnel's own frames alone use up, a ground station's heartbeat must come before a failsafe.
TEST(Shaper, CommandsDoNotStarveBehindFramesThatWaitForNothing) {
  auto shaper = make(8);
  std::map<std::uint8_t, std::uint64_t> left;
  std::uint8_t taken = 0;
  std::size_t commands = 0;
  for (std::uint64_t at = kS; at < 61 * kS; at += 10 * kMs) {
    if (at % (100 * kMs) == 0) shaper.charge(100);
    if (at % kS == 0) shaper.take(mavlink2(0, 9, {255, 190, ++taken}), at);
    if (at % kS == 500 * kMs) shaper.take(mavlink2(30, 28), at);
    while (const auto leaving = shaper.next(at, kAir)) {
      if (leaving->shape_class != ShapeClass::command) continue;
      ++commands;
      left[payload(*leaving)[4]] = at;
    }
    if (commands != taken) {
      EXPECT_NE(shaper.due(at, kAir), Shaper::kNever);
    }
  }
  for (std::uint8_t i = 1; i < 60; ++i) EXPECT_LE(left[i] - i * kS, 260 * kMs) << int{i};
  shaper.set_kbit(64, 61 * kS);
  auto now = 61 * kS;
  EXPECT_FALSE(run_dry(shaper, now).empty());
  EXPECT_LE(now - 61 * kS, kS) << "of what went without asking no more than a second is paid for";
}

TEST(Shaper, ManyCommandsKeepToTheRate) {
  auto shaper = make(16);
  std::size_t bytes = 0;
  for (std::uint64_t at = kS; at < 21 * kS; at += 10 * kMs) {
    shaper.take(mavlink2(76, 33), at);
    while (const auto leaving = shaper.next(at, kAir)) bytes += leaving->packet.size() + Shaper::kUdpIp;
  }
  EXPECT_LE(static_cast<double>(bytes) * 8 / 20, 16'000 + 4'500);
}

TEST(Shaper, FillsAFullLinkAlthoughTimersAreLate) {
  constexpr double kRate = 64'000;
  std::mt19937_64 random(7);
  for (const std::size_t size : {20u, 60u, 250u}) {
    for (const std::uint64_t late : {std::uint64_t{0}, kMs, 5 * kMs, 15 * kMs}) {
      auto shaper = make(64);
      auto now = kS, next_value = kS;
      double carried = 0, standing = 0, most_standing = 0;  // bytes
      auto drained = now;
      while (now < 61 * kS) {
        for (; next_value <= now; next_value += 10 * kMs)
          for (std::uint8_t system = 1; system <= 20; ++system) shaper.take(mavlink2(30, size, {system, 1}), now);
        const auto due = std::min(shaper.due(now, kAir), next_value);
        now = std::max(now, due) + (late == 0 ? 0 : random() % late);
        const auto gone = std::min(standing, static_cast<double>(now - drained) / 1e9 * kRate / 8);
        drained = now, carried += gone, standing -= gone;
        while (const auto leaving = shaper.next(now, kAir))
          standing += static_cast<double>(leaving->packet.size() + Shaper::kUdpIp);
        most_standing = std::max(most_standing, standing);
      }
      EXPECT_GT(carried / (60 * kRate / 8), 0.95) << size << " bytes, timers " << late / kMs << " ms late";
      EXPECT_LT(most_standing / (kRate / 8), 0.06 + 2 * static_cast<double>(size + 78) / (kRate / 8));
    }
  }
}

/// MAVLink's own check of signatures: of each signer (system, component, link) a time stamp must be newer than the last.
TEST(Shaper, WhatIsSignedLeavesInTheOrderOfItsSigner) {
  std::mt19937 random(5);
  for (const bool two_signers : {false, true}) {
    auto shaper = make(64);
    std::map<std::uint8_t, std::uint32_t> newest;  // by the link of the signature
    std::uint32_t stamp = 0;
    int left = 0;
    const auto take = [&](std::uint32_t id, std::size_t size, std::uint64_t at) {
      const auto link = static_cast<std::uint8_t>(two_signers ? random() % 2 : 0);
      auto out = mavlink2(id, size, {1, 1, 0, link}, true);
      store_be(out.data() + 12, ++stamp);
      shaper.take(out, at);
    };
    for (std::uint64_t at = kS; at < 21 * kS; at += kMs) {
      if (at % (20 * kMs) == 0) {
        for (const std::uint32_t stream : {30u, 33u, 24u, 74u, 65u}) take(stream, 20 + random() % 30, at);
        if (random() % 5 == 0) take(76, 33, at);
        if (random() % 5 == 0) take(22, 25, at);
        if (random() % 3 == 0) take(110, 60, at);
        shaper.take(mavlink2(31, 28, {2, 1, 0}), at);  // unsigned
      }
      while (const auto leaving = shaper.next(at, kAir)) {
        const auto bytes = payload(*leaving);
        if (bytes[2] == 0) continue;
        ++left;
        const auto link = bytes[bytes.size() - 13];
        const auto number = load_be<std::uint32_t>(bytes.data() + 12);
        EXPECT_GT(number, newest[link]) << "would be refused";
        newest[link] = number;
      }
    }
    EXPECT_GT(left, 1'000);
    const auto counts = shaper.counts(21 * kS);
    EXPECT_GT(of(counts, ShapeClass::stream).replaced, 500u);
    EXPECT_EQ(of(counts, ShapeClass::command).dropped + of(counts, ShapeClass::transfer).dropped, 0u);
    EXPECT_LT(of(counts, ShapeClass::command).oldest_ms, 500u) << "a command takes along what came before it";
  }
}

TEST(Shaper, OldCorrectionsGo) {
  auto shaper = make(64);
  auto now = kS;
  empty_bucket(shaper, now);
  shaper.take(mavlink2(233, 180), now);
  shaper.take(mavlink2(39), now);
  now += 1'100 * kMs;
  shaper.take(mavlink2(123, 100, {1, 1, 77}), now);
  const auto left = run_dry(shaper, now);
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0], mavlink2(39));
  EXPECT_EQ(left[1][4], 77);
  EXPECT_EQ(of(shaper.counts(now), ShapeClass::transfer).dropped, 1u);
}

TEST(Shaper, OffLetsEverythingGoAtOnce) {
  auto shaper = make(1);
  auto now = kS;
  empty_bucket(shaper, now);
  for (int i = 0; i < 40; ++i) shaper.take(mavlink2(22, 200), now);
  shaper.set_kbit(0, now);
  EXPECT_FALSE(shaper.on());
  EXPECT_EQ(shaper.due(now, kAir), now);
  const auto before = now;
  EXPECT_EQ(run_dry(shaper, now).size(), 40u);
  EXPECT_EQ(now, before);
}

TEST(Shaper, WithoutASessionNothingIsKept) {
  auto shaper = make(64);
  empty_bucket(shaper, kS);
  for (const auto id : {76u, 22u, 30u, 110u}) shaper.take(mavlink2(id), kS);
  shaper.take_rekey(Bytes(100, 1), kS);
  shaper.clear();
  EXPECT_EQ(shaper.due(kS, kAir), Shaper::kNever);
  for (const auto& count : shaper.counts(kS)) EXPECT_EQ(count.dropped, 1u);
}

TEST(Shaper, WhatIsLongerThanTheBucketStillLeaves) {
  auto shaper = make(64);
  auto now = kS;
  empty_bucket(shaper, now);
  shaper.take(Bytes(kRoomFor, 1), now);
  shaper.take(Bytes(kRoomFor + 1, 1), now);
  EXPECT_EQ(run_dry(shaper, now).size(), 1u);
  EXPECT_EQ(of(shaper.counts(now), ShapeClass::rest).dropped, 1u) << "no room for it";
}

/// What left at once would stand in the radio's queue, before every later command.
TEST(Shaper, AfterAPauseLittleLeavesAtOnce) {
  auto shaper = make(64);
  const auto now = 100 * kS;
  for (int i = 0; i < 30; ++i) shaper.take(mavlink2(22, 28), now);
  std::size_t bytes = 0;
  while (const auto leaving = shaper.next(now, kAir)) bytes += leaving->packet.size() + Shaper::kUdpIp;
  EXPECT_GE(bytes, 106u);
  EXPECT_LE(bytes, 64'000 / 8 * 0.98 * 0.02);
}

TEST(Shaper, SaysHowLongTheOldestWaits) {
  auto shaper = make(64);
  empty_bucket(shaper, kS);
  shaper.take(mavlink2(30), kS);
  shaper.take(mavlink2(30), kS + 30 * kMs);
  shaper.take(mavlink2(22), kS + 30 * kMs);
  const auto counts = shaper.counts(kS + 40 * kMs);
  EXPECT_EQ(of(counts, ShapeClass::stream).oldest_ms, 40u) << "since its place is queued";
  EXPECT_EQ(of(counts, ShapeClass::transfer).oldest_ms, 10u);
  EXPECT_EQ(of(counts, ShapeClass::rest).oldest_ms, 0u);
}

/// docs/protocol.md, Shaping: while the first two classes offer less than 70 % of the rate, none of them is dropped, no
/// stream is older than its turn, the rate is kept and used, and nothing overtakes in its own class.
TEST(Shaper, KeepsItsGuaranteesUnderAnyOverload) {
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    const auto kbit = std::uint32_t{16} << random() % 5;
    auto shaper = make(kbit);
    const double important = 0.65 * kbit * 1'000 / 8;  // bytes a second of the first two classes
    const std::size_t streams = 2 + random() % 12;
    const std::uint64_t length = 20 * kS;
    double offered = 0;
    std::size_t sent = 0, longest = 0;
    std::map<int, std::uint32_t> last_in_class;
    std::map<std::uint32_t, std::uint64_t> last_left, worst;
    std::uint32_t serial = 0;
    const auto message = [&](std::uint32_t id, std::size_t size, std::uint8_t system) {
      auto out = mavlink2(id, size, {system, 1, 0});
      store_be(out.data() + 12, ++serial);
      longest = std::max(longest, size + 12 + kOverhead + Shaper::kUdpIp);
      return out;
    };
    for (std::uint64_t at = kS; at < kS + length; at += kMs) {
      while (offered < important * static_cast<double>(at - kS) / 1e9) {
        const auto size = 20 + random() % 80;
        const std::array<std::uint32_t, 4> ids = {76, 77, 23, 39};
        shaper.take(message(ids[random() % 4], size, 1), at);
        offered += static_cast<double>(size + 12 + kOverhead + Shaper::kUdpIp);
      }
      for (std::size_t stream = 0; stream < streams; ++stream)
        if (at % (20 * kMs) == 0) shaper.take(message(30, 28, static_cast<std::uint8_t>(stream)), at);
      if (random() % 20 == 0) shaper.take(message(110, 200, 1), at);
      while (const auto leaving = shaper.next(at, kAir)) {
        sent += leaving->packet.size() + Shaper::kUdpIp;
        const auto bytes = payload(*leaving);
        const auto number = load_be<std::uint32_t>(bytes.data() + 12);
        if (leaving->shape_class == ShapeClass::stream) {
          auto& left = last_left[bytes[5]];
          if (left != 0) worst[bytes[5]] = std::max(worst[bytes[5]], at - left);
          left = at;
        } else {
          auto& last = last_in_class[static_cast<int>(leaving->shape_class)];
          EXPECT_LT(last, number);
          last = number;
        }
      }
    }
    const auto counts = shaper.counts(kS + length);
    for (const auto shape_class : {ShapeClass::command, ShapeClass::transfer}) {
      EXPECT_EQ(of(counts, shape_class).dropped, 0u);
      EXPECT_LT(of(counts, shape_class).oldest_ms, 1'000u);
    }
    const auto capacity = 0.98 * kbit * 1'000 / 8 * static_cast<double>(length) / 1e9;
    EXPECT_LE(static_cast<double>(sent), capacity + TokenBucket::kDepthBytes);
    EXPECT_GE(static_cast<double>(sent), capacity - 2'000.0);
    // What is left of the rate carries the streams: each has its turn, and a tenth of them is the rest's.
    const auto frame_s = static_cast<double>(longest) / (0.3 * kbit * 1'000 / 8);
    EXPECT_EQ(last_left.size(), streams);
    for (const auto& [system, gap] : worst)
      EXPECT_LT(static_cast<double>(gap) / 1e9, (static_cast<double>(streams) + 4) * frame_s * 1.5) << system;
  }
}

}  // namespace
}  // namespace pqcmav
