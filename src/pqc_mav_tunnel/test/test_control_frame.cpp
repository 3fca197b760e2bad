// SPDX-License-Identifier: Apache-2.0
#include "session/control_frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "crypto/kdf.hpp"

namespace pqcmav {
namespace {

Bytes encode(const std::vector<Control>& controls) {
  Bytes out(kControlFrameMax);
  std::size_t used = 0;
  for (const auto& control : controls) used = append_control(out, used, control).value();
  out.resize(used);
  return out;
}

LinkReport sample_report() {
  LinkReport report{5000, 320000, 3500, 120000, 42, 1234, 2, {}};
  report.drops = {1, 2, 3, 4, 5, 0xffffffffffffffff};
  return report;
}

Bytes counting(std::size_t size, std::uint8_t first) {
  Bytes out(size);
  std::iota(out.begin(), out.end(), first);
  return out;
}
const Bytes kPart = counting(kHandshakePartHeader + 9, 1);
const Bytes kReturnKey = counting(kReturnKeySize, 100);

std::vector<Control> one_of_each() {
  return {Probe{7, 123456789012345},
          ProbeReply{8, 1, 2, 3},
          sample_report(),
          Switched{254},
          RekeyRequest{9, "cs-mlkem768-aesgcm-mldsa65", "battery low"},
          Close{2},
          Keepalive{},
          RekeyResult{10, true, 3, 4242, "done"},
          HandshakePart{kPart},
          ReturnGrant{57000, {1, 2, 3, 4, 5, 6, 7, 8}, kReturnKey},
          RestartToken{{9, 8, 7}},
          PathChallenge{{1, 1, 2, 3, 5, 8, 13, 21}},
          PathResponse{{2, 7, 1, 8, 2, 8, 1, 8}, 2},
          Got{33, {1, 2, 3, 4}},
          Aside{0x0102030405060708},
          Arrived{5, 6, 0x0102030405060708}};
}

TEST(Control, EveryKindComesBackAsItWas) {
  const auto bytes = encode(one_of_each());
  ControlList list;
  ASSERT_TRUE(parse_controls(bytes, list));
  ASSERT_EQ(list.count, 16u);
  EXPECT_EQ(std::get<Probe>(list.items[0]).id, 7u);
  EXPECT_EQ(std::get<Probe>(list.items[0]).t1, 123456789012345u);
  const auto& reply = std::get<ProbeReply>(list.items[1]);
  EXPECT_EQ(reply.id, 8u);
  EXPECT_EQ(reply.t1, 1u);
  EXPECT_EQ(reply.t2, 2u);
  EXPECT_EQ(reply.t3, 3u);
  const auto& report = std::get<LinkReport>(list.items[2]);
  EXPECT_EQ(report.window_ms, 5000u);
  EXPECT_EQ(report.packets_per_s_milli, 320000u);
  EXPECT_EQ(report.gap_p95_us, 3500u);
  EXPECT_EQ(report.longest_silence_us, 120000u);
  EXPECT_EQ(report.jitter_us, 42u);
  EXPECT_EQ(report.loss_ppm, 1234u);
  EXPECT_EQ(report.blackouts, 2u);
  EXPECT_EQ(report.drops, sample_report().drops);
  EXPECT_EQ(std::get<Switched>(list.items[3]).epoch, 254);
  const auto& request = std::get<RekeyRequest>(list.items[4]);
  EXPECT_EQ(request.request_id, 9u);
  EXPECT_EQ(request.suite, "cs-mlkem768-aesgcm-mldsa65");
  EXPECT_EQ(request.reason, "battery low");
  EXPECT_EQ(std::get<Close>(list.items[5]).reason, 2);
  EXPECT_TRUE(std::holds_alternative<Keepalive>(list.items[6]));
  const auto& result = std::get<RekeyResult>(list.items[7]);
  EXPECT_EQ(result.request_id, 10u);
  EXPECT_TRUE(result.ok);
  EXPECT_EQ(result.epoch, 3);
  EXPECT_EQ(result.duration_us, 4242u);
  EXPECT_EQ(result.text, "done");
  EXPECT_TRUE(std::ranges::equal(std::get<HandshakePart>(list.items[8]).value, kPart));
  const auto& grant = std::get<ReturnGrant>(list.items[9]);
  EXPECT_EQ(grant.serial, 57000u);
  EXPECT_EQ(grant.address_tag, (ByteArray<8>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_TRUE(std::ranges::equal(grant.return_key, kReturnKey));
  EXPECT_EQ(std::get<RestartToken>(list.items[10]).token, (ByteArray<kRestartTokenSize>{9, 8, 7}));
  EXPECT_EQ(std::get<PathChallenge>(list.items[11]).random, (ByteArray<8>{1, 1, 2, 3, 5, 8, 13, 21}));
  EXPECT_EQ(std::get<PathResponse>(list.items[12]).random, (ByteArray<8>{2, 7, 1, 8, 2, 8, 1, 8}));
  EXPECT_EQ(std::get<PathResponse>(list.items[12]).path, 2);
  EXPECT_EQ(std::get<Got>(list.items[13]), (Got{33, {1, 2, 3, 4}}));
  EXPECT_EQ(std::get<Aside>(list.items[14]).count, 0x0102030405060708u);
  const auto& arrived = std::get<Arrived>(list.items[15]);
  EXPECT_EQ(arrived.highest, 5u);
  EXPECT_EQ(arrived.at, 6u);
  EXPECT_EQ(arrived.bytes, 0x0102030405060708u);
}

TEST(Control, TheBytesAreTheDocumentedOnes) {
  EXPECT_EQ(encode({Probe{0x01020304, 0x05060708090a0b0c}}), (Bytes{1, 0, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(encode({Keepalive{}, Close{1}}), (Bytes{7, 0, 0, 6, 0, 1, 1}));
  EXPECT_EQ(encode({RekeyRequest{1, "", "hi"}}), (Bytes{5, 0, 8, 0, 0, 0, 1, 0, 2, 'h', 'i'}));
  EXPECT_EQ(encode({RekeyRequest{1, "", "hi", true}}), (Bytes{5, 0, 9, 0, 0, 0, 1, 0, 2, 'h', 'i', 1}));
  EXPECT_EQ(encode({RekeyResult{2, true, 5, 0x100, "x"}}), (Bytes{8, 0, 12, 0, 0, 0, 2, 1, 5, 0, 0, 1, 0, 1, 'x'}));
  EXPECT_EQ(encode({HandshakePart{kPart}}),
            (Bytes{32, 0, 21, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}));
  const auto grant = encode({ReturnGrant{0x01020304, {5, 6, 7, 8, 9, 10, 11, 12}, kReturnKey}});
  ASSERT_EQ(grant.size(), 3u + 44);
  EXPECT_EQ(Bytes(grant.begin(), grant.begin() + 16), (Bytes{33, 0, 44, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 100}));
  EXPECT_EQ(encode({RestartToken{{1, 2}}}), (Bytes{34, 0, 16, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(encode({PathChallenge{{1, 2, 3, 4, 5, 6, 7, 8}}}), (Bytes{36, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(encode({RoleTold{StationRole::standby, 0x01020304}}), (Bytes{38, 0, 5, 2, 1, 2, 3, 4}));
  EXPECT_EQ(encode({TermTold{0x01020304}}), (Bytes{39, 0, 4, 1, 2, 3, 4}));
  EXPECT_EQ(encode({PathResponse{{1, 2, 3, 4, 5, 6, 7, 8}}}), (Bytes{37, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(encode({PathResponse{{1, 2, 3, 4, 5, 6, 7, 8}, 3}}), (Bytes{37, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 3}));
  EXPECT_EQ(encode({PathsTold{0x01020304, 3, 5, true, false}}), (Bytes{44, 0, 6, 1, 2, 3, 4, 3, 0x85}));
  EXPECT_EQ(encode({PathsTold{0x01020304, 3, 5, false, true}}), (Bytes{44, 0, 6, 1, 2, 3, 4, 3, 0x45}));
  EXPECT_EQ(encode({Got{34, {1, 2, 3, 4}}}), (Bytes{40, 0, 5, 34, 1, 2, 3, 4}));
  EXPECT_EQ(encode({Aside{0x0102030405060708}}), (Bytes{41, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(encode({Arrived{1, 2, 3}}),
            (Bytes{43, 0, 24, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3}));
  const auto report = encode({sample_report()});
  ASSERT_EQ(report.size(), 3u + 7 * 4 + 6 * 8);
  EXPECT_EQ(Bytes(report.begin(), report.begin() + 11), (Bytes{3, 0, 76, 0, 0, 0x13, 0x88, 0, 4, 0xe2, 0}));
}

TEST(Control, AnAlarmIsShortAndOfThreeLevels) {
  EXPECT_EQ(encode({AlarmTold{2, "replay"}}), (Bytes{45, 0, 8, 2, 6, 'r', 'e', 'p', 'l', 'a', 'y'}));
  const auto longest = encode({AlarmTold{1, std::string(kAlarmKindMost, 'a')}});
  ControlList list;
  ASSERT_TRUE(parse_controls(longest, list));
  EXPECT_EQ(std::get<AlarmTold>(list.items[0]).level, 1);
  EXPECT_EQ(std::get<AlarmTold>(list.items[0]).kind, std::string(kAlarmKindMost, 'a'));
  auto long_one = Bytes{45, 0, 27, 1, 25};
  long_one.resize(3 + 27, 'a');
  for (const auto& unusable : {Bytes{45, 0, 2, 3, 0}, Bytes{45, 0, 1, 2}, Bytes{45, 0, 3, 2, 1, 0x1b},
                               Bytes{45, 0, 3, 2, 0, 0}, Bytes{45, 0, 3, 2, 2, 'a'}, long_one})
    EXPECT_FALSE(parse_controls(unusable, list));
}

TEST(Control, ThereAreFourPaths) {
  for (const auto& unusable :
       {Bytes{37, 0, 9, 1, 2, 3, 4, 5, 6, 7, 8, 4}, Bytes{37, 0, 10, 1, 2, 3, 4, 5, 6, 7, 8, 3, 0},
        Bytes{44, 0, 6, 0, 0, 0, 1, 4, 0}, Bytes{44, 0, 6, 0, 0, 0, 1, 0, 0x10}, Bytes{44, 0, 5, 0, 0, 0, 1, 0}}) {
    ControlList list;
    EXPECT_FALSE(parse_controls(unusable, list));
  }
  ControlList list;
  ASSERT_TRUE(parse_controls(encode({PathsTold{7, 3, 0xf, true, true}}), list));
  const auto& word = std::get<PathsTold>(list.items[0]);
  EXPECT_EQ(std::tuple(word.serial, word.main, word.others, word.again, word.only_commands),
            (std::tuple(7u, 3, 0xf, true, true)));
  EXPECT_TRUE(got_for(word).has_value());
}

TEST(Control, EveryTruncationOfEveryKindIsUnusableAsAWhole) {
  for (const auto& control : one_of_each()) {
    // A good item first: it must not be acted on either.
    const auto first = encode({Switched{1}});
    const auto bytes = encode({Switched{1}, control});
    for (auto size = first.size() + 1; size < bytes.size(); ++size) {
      ControlList list;
      list.count = 99;
      EXPECT_FALSE(parse_controls(ByteView(bytes).first(size), list))
          << "kind " << control.index() << " cut to " << size;
      EXPECT_EQ(list.count, 0u);
    }
  }
}

TEST(Control, AWrongLengthForAKnownKindIsUnusable) {
  for (const auto& control : one_of_each()) {
    if (std::holds_alternative<HandshakePart>(control) || std::holds_alternative<PathResponse>(control))
      continue;  // of any length; of either
    auto longer = encode({control});
    longer.push_back(0);
    store_be(longer.data() + 1, static_cast<std::uint16_t>(longer.size() - 3));
    ControlList list;
    EXPECT_FALSE(parse_controls(longer, list)) << control.index();
    auto shorter = encode({control});
    if (shorter.size() == 3) continue;
    shorter.pop_back();
    store_be(shorter.data() + 1, static_cast<std::uint16_t>(shorter.size() - 3));
    EXPECT_FALSE(parse_controls(shorter, list)) << control.index();
  }
}

TEST(Control, AHandshakePartFillsTheLargestDatagramAndNeedsItsHeader) {
  Bytes out(kControlFrameMax);
  const auto largest = counting(kControlFrameMax - kTlvHeader, 0);
  EXPECT_EQ(largest.size() + kTlvHeader + kOverhead, 1200u);
  ASSERT_EQ(append_control(out, 0, HandshakePart{largest}), kControlFrameMax);
  ControlList list;
  ASSERT_TRUE(parse_controls(out, list));
  EXPECT_TRUE(std::ranges::equal(std::get<HandshakePart>(list.items[0]).value, largest));
  EXPECT_FALSE(append_control(out, 0, HandshakePart{counting(largest.size() + 1, 0)}));

  EXPECT_FALSE(append_control(out, 0, HandshakePart{ByteView(largest).first(kHandshakePartHeader - 1)}));
  Bytes short_one{32, 0, kHandshakePartHeader - 1};
  append(short_one, ByteView(largest).first(kHandshakePartHeader - 1));
  EXPECT_FALSE(parse_controls(short_one, list));
  Bytes enormous(0x10000 + kTlvHeader);
  EXPECT_FALSE(append_control(enormous, 0, HandshakePart{ByteView(enormous).first(0x10000)}));
}

TEST(Control, AReturnGrantHasAWholeKey) {
  Bytes out(kControlFrameMax);
  for (const std::size_t size : {0u, 31u, 33u})
    EXPECT_FALSE(append_control(out, 0, ReturnGrant{1, {}, counting(size, 0)})) << size;
}

TEST(Control, GotAnswersWhatIsRepeatedUntilThen) {
  const ReturnGrant grant{57000, {1, 2, 3, 4, 5, 6, 7, 8}, kReturnKey};
  const auto bytes = encode({grant});
  const auto hash = sha256({ByteView(bytes).subspan(kTlvHeader)});
  const auto got = got_for(grant);
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, (Got{33, {hash[0], hash[1], hash[2], hash[3]}}));
  // What was parsed gives the same answer as what was sent, another value another one.
  ControlList list;
  ASSERT_TRUE(parse_controls(bytes, list));
  EXPECT_EQ(got_for(list.items[0]), got);
  EXPECT_NE(got_for(ReturnGrant{57001, grant.address_tag, kReturnKey}), got);
  const RestartToken token{{1, 2, 3}};
  const auto token_hash = sha256({token.token});
  EXPECT_EQ(got_for(token), (Got{34, {token_hash[0], token_hash[1], token_hash[2], token_hash[3]}}));
  for (const auto& control : one_of_each())
    EXPECT_EQ(got_for(control).has_value(),
              std::holds_alternative<ReturnGrant>(control) || std::holds_alternative<RestartToken>(control))
        << control.index();
  EXPECT_FALSE(got_for(ReturnGrant{1, {}, {}}));
}

TEST(Control, UnknownKindsAreSkippedWhateverTheirLength) {
  Bytes bytes{99, 0, 0, 0, 0, 2, 1, 2, 255, 0, 1, 7};
  append(bytes, encode({Switched{5}}));
  ControlList list;
  ASSERT_TRUE(parse_controls(bytes, list));
  ASSERT_EQ(list.count, 1u);
  EXPECT_EQ(std::get<Switched>(list.items[0]).epoch, 5);
  ASSERT_TRUE(parse_controls(Bytes{200, 0, 0}, list));
  EXPECT_EQ(list.count, 0u);
  EXPECT_FALSE(parse_controls(Bytes{200, 0, 1}, list));
}

TEST(Control, NothingIsUnusable) {
  ControlList list;
  EXPECT_FALSE(parse_controls({}, list));
}

TEST(Control, AsManyAsFitAndNotOneMore) {
  ControlList list;
  const auto full = encode(std::vector<Control>(kControlsPerFrame, Keepalive{}));
  ASSERT_TRUE(parse_controls(full, list));
  EXPECT_EQ(list.count, kControlsPerFrame);
  EXPECT_FALSE(parse_controls(encode(std::vector<Control>(kControlsPerFrame + 1, Keepalive{})), list));
  EXPECT_EQ(list.count, 0u);
}

TEST(Control, AppendsOnlyWhatFits) {
  for (const auto& control : one_of_each()) {
    const auto size = encode({control}).size();
    for (std::size_t room = 0; room < size; ++room) {
      Bytes out(room + 4, 0xee);
      EXPECT_FALSE(append_control(MutableBytes(out).first(room), 0, control)) << control.index() << " in " << room;
      EXPECT_EQ(Bytes(out.end() - 4, out.end()), Bytes(4, 0xee)) << "wrote past its room";
    }
    Bytes out(size);
    EXPECT_EQ(append_control(out, 0, control), size);
    EXPECT_FALSE(append_control(out, size, Keepalive{}));
    EXPECT_FALSE(append_control(out, size + 1, Keepalive{}));
  }
}

TEST(Control, TextsAreLimitedAndPrintable) {
  Bytes out(kControlFrameMax);
  const std::string longest(255, 'x'), too_long(256, 'x');
  const auto used = append_control(out, 0, RekeyRequest{1, longest, longest});
  ASSERT_TRUE(used);
  ControlList list;
  ASSERT_TRUE(parse_controls(ByteView(out).first(*used), list));
  EXPECT_EQ(std::get<RekeyRequest>(list.items[0]).reason, longest);
  EXPECT_FALSE(append_control(out, 0, RekeyRequest{1, too_long, ""}));
  EXPECT_FALSE(append_control(out, 0, RekeyResult{1, false, 0, 0, too_long}));

  // Our side replaces what is not ASCII, and refuses a peer that does not: its text could otherwise forge a log line.
  const auto replaced = append_control(out, 0, RekeyRequest{1, "", "a\nb\x80"});
  ASSERT_TRUE(replaced);
  ASSERT_TRUE(parse_controls(ByteView(out).first(*replaced), list));
  EXPECT_EQ(std::get<RekeyRequest>(list.items[0]).reason, "a?b?");
  EXPECT_FALSE(parse_controls(Bytes{5, 0, 7, 0, 0, 0, 1, 0, 1, '\n'}, list));
}

TEST(Control, WhateverParsesIsWrittenBackTheSame) {
  std::mt19937 random(1);
  int parsed = 0;
  for (int round = 0; round < 200000; ++round) {
    Bytes bytes;
    for (auto items = 1 + random() % 4; items > 0; --items) {
      static constexpr std::pair<std::uint8_t, std::size_t> kKinds[] = {{1, 12},  {2, 28}, {3, 76}, {4, 1},   {5, 8},
                                                                        {6, 1},   {7, 0},  {8, 11}, {32, 12}, {33, 44},
                                                                        {34, 16}, {36, 8}, {37, 8}, {40, 5}};
      const auto [kind, least] = kKinds[random() % std::size(kKinds)];
      const auto size = least + (random() % 8 == 0 ? random() % 3 : 0);
      append_be(bytes, kind);
      append_be(bytes, static_cast<std::uint16_t>(size));
      for (std::size_t i = 0; i < size; ++i)
        bytes.push_back(random() % 3 == 0 ? 0 : static_cast<std::uint8_t>(random() % 2 == 0 ? 1 : random()));
    }
    ControlList list;
    if (!parse_controls(bytes, list)) continue;
    ++parsed;
    const auto again = encode({list.items.begin(), list.items.begin() + static_cast<std::ptrdiff_t>(list.count)});
    ASSERT_EQ(again.size(), bytes.size());
    ControlList second;
    ASSERT_TRUE(parse_controls(again, second));
    ASSERT_EQ(encode({second.items.begin(), second.items.begin() + static_cast<std::ptrdiff_t>(second.count)}), again);
  }
  EXPECT_GT(parsed, 10000);
}

}  // namespace
}  // namespace pqcmav
