// SPDX-License-Identifier: Apache-2.0
#include "session/control_frame.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

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

std::vector<Control> one_of_each() {
  return {Probe{7, 123456789012345},
          ProbeReply{8, 1, 2, 3},
          sample_report(),
          Switched{254},
          RekeyRequest{9, "cs-mlkem768-aesgcm-mldsa65", "battery low"},
          Close{2},
          Keepalive{},
          RekeyResult{10, true, 3, 4242, "done"}};
}

TEST(Control, EveryKindComesBackAsItWas) {
  const auto bytes = encode(one_of_each());
  ControlList list;
  ASSERT_TRUE(parse_controls(bytes, list));
  ASSERT_EQ(list.count, 8u);
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
}

TEST(Control, TheBytesAreTheDocumentedOnes) {
  EXPECT_EQ(encode({Probe{0x01020304, 0x05060708090a0b0c}}), (Bytes{1, 0, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(encode({Keepalive{}, Close{1}}), (Bytes{7, 0, 0, 6, 0, 1, 1}));
  EXPECT_EQ(encode({RekeyRequest{1, "", "hi"}}), (Bytes{5, 0, 8, 0, 0, 0, 1, 0, 2, 'h', 'i'}));
  EXPECT_EQ(encode({RekeyResult{2, true, 5, 0x100, "x"}}), (Bytes{8, 0, 12, 0, 0, 0, 2, 1, 5, 0, 0, 1, 0, 1, 'x'}));
  const auto report = encode({sample_report()});
  ASSERT_EQ(report.size(), 3u + 7 * 4 + 6 * 8);
  EXPECT_EQ(Bytes(report.begin(), report.begin() + 11), (Bytes{3, 0, 76, 0, 0, 0x13, 0x88, 0, 4, 0xe2, 0}));
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
      const auto kind = static_cast<std::uint8_t>(1 + random() % 8);
      static constexpr std::size_t kSizes[] = {12, 28, 76, 1, 8, 1, 0, 11};
      const auto size = kSizes[kind - 1] + (random() % 8 == 0 ? random() % 3 : 0);
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
