// SPDX-License-Identifier: Apache-2.0
#include "line/line_frame.hpp"

#include <gtest/gtest.h>

#include "hex.hpp"
#include "line_damage.hpp"

namespace pqcmav {
namespace {

using namespace test;

constexpr LineAddress kUpward{false, 3}, kDownward{true, 127};

Bytes framed(LineAddress line, ByteView datagram) {
  Bytes out(kLineFrameMost + 1);
  out.resize(write_line_frame(line, datagram, out));
  return out;
}

struct LineReader {
  LineFrameReader frames;
  std::vector<std::pair<LineAddress, Bytes>> got;
  void feed(ByteView bytes) {
    frames.feed(bytes, [&](LineAddress line, ByteView datagram) {
      got.emplace_back(line, Bytes(datagram.begin(), datagram.end()));
    });
  }
  [[nodiscard]] std::uint64_t errors() const { return frames.errors(); }
};

TEST(LineFrame, TheBytesOfThePage) {
  // 03 || "a" || CRC-16/MCRF4XX of both.
  EXPECT_EQ(hex(framed(kUpward, as_bytes("a"))).substr(0, 6), "050361");
  EXPECT_EQ(framed(kUpward, as_bytes("a")).back(), 0);
  EXPECT_EQ(LineAddress::of(0xff), kDownward);
  EXPECT_EQ(kDownward.byte(), 0xff);
}

TEST(LineFrame, EverySizeComesThroughInAnyPieces) {
  expect_every_size_in_any_pieces<LineReader>({0, 1, 38, 250, 251, 252, 253, 548, kLineDatagramMost}, 0xaa, kDownward,
                                              [](ByteView datagram) { return framed(kDownward, datagram); });
}

TEST(LineFrame, EmptyFramesMeanNothing) {
  LineReader reader;
  reader.feed(Bytes{0, 0, 0});
  reader.feed(framed(kUpward, as_bytes("x")));
  EXPECT_EQ(reader.got.size(), 1u);
  EXPECT_EQ(reader.errors(), 0u);
}

TEST(LineFrame, EveryBentBitIsSeen) {
  const auto frame = framed(kUpward, as_bytes("a datagram of some bytes"));
  for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
    auto bent = frame;
    bent[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    LineReader reader;
    reader.feed(bent);
    reader.feed(Bytes{0});
    ASSERT_TRUE(reader.got.empty()) << bit;
    ASSERT_GE(reader.errors(), 1u) << bit;
  }
}

TEST(LineFrame, WhatIsTooLongIsOneErrorAndThenAllIsWell) {
  LineReader reader;
  reader.feed(Bytes(1'000'000, 0xfd));
  reader.feed(Bytes{0});
  EXPECT_EQ(reader.errors(), 1u);
  reader.feed(framed(kUpward, as_bytes("x")));
  EXPECT_EQ(reader.got.size(), 1u);
  EXPECT_EQ(reader.errors(), 1u);
}

TEST(LineFrame, ACutLineForgetsWhatHadBegun) {
  LineReader reader;
  const auto frame = framed(kUpward, as_bytes("whole"));
  reader.feed(ByteView(frame).first(4));
  reader.frames.reset();
  reader.feed(frame);
  EXPECT_EQ(reader.got.size(), 1u);
  EXPECT_EQ(reader.errors(), 0u);
}

TEST(LineFrame, DamageCostsTheFramesItTouches) {
  expect_damage_costs_what_it_touches<LineReader>(0, 0.5, [](ByteView datagram) { return framed(kUpward, datagram); });
}

}  // namespace
}  // namespace pqcmav
