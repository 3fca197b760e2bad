// SPDX-License-Identifier: Apache-2.0
#include "line/line_frame.hpp"

#include <gtest/gtest.h>

#include "hex.hpp"
#include "line_damage.hpp"

namespace pqcmav {
namespace {

using namespace test;

constexpr LineAddress kUp{false, 3}, kDown{true, 127};

Bytes framed(LineAddress line, ByteView datagram) {
  Bytes out(kLineFrameMost + 1);
  out.resize(write_line_frame(line, datagram, out));
  return out;
}

struct Reader {
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
  EXPECT_EQ(hex(framed(kUp, as_bytes("a"))).substr(0, 6), "050361");
  EXPECT_EQ(framed(kUp, as_bytes("a")).back(), 0);
  EXPECT_EQ(LineAddress::of(0xff), kDown);
  EXPECT_EQ(kDown.byte(), 0xff);
}

TEST(LineFrame, EverySizeComesThroughInAnyPieces) {
  expect_every_size_in_any_pieces<Reader>({0, 1, 38, 250, 251, 252, 253, 548, kLineDatagramMost}, 0xaa, kDown,
                                          [](ByteView datagram) { return framed(kDown, datagram); });
}

TEST(LineFrame, EmptyFramesMeanNothing) {
  Reader reader;
  reader.feed(Bytes{0, 0, 0});
  reader.feed(framed(kUp, as_bytes("x")));
  EXPECT_EQ(reader.got.size(), 1u);
  EXPECT_EQ(reader.errors(), 0u);
}

TEST(LineFrame, EveryBentBitIsSeen) {
  const auto frame = framed(kUp, as_bytes("a datagram of some bytes"));
  for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
    auto bent = frame;
    bent[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    Reader reader;
    reader.feed(bent);
    reader.feed(Bytes{0});
    ASSERT_TRUE(reader.got.empty()) << bit;
    ASSERT_GE(reader.errors(), 1u) << bit;
  }
}

TEST(LineFrame, WhatIsTooLongIsOneErrorAndThenAllIsWell) {
  Reader reader;
  reader.feed(Bytes(1'000'000, 0xfd));
  reader.feed(Bytes{0});
  EXPECT_EQ(reader.errors(), 1u);
  reader.feed(framed(kUp, as_bytes("x")));
  EXPECT_EQ(reader.got.size(), 1u);
  EXPECT_EQ(reader.errors(), 1u);
}

TEST(LineFrame, ACutLineForgetsWhatHadBegun) {
  Reader reader;
  const auto frame = framed(kUp, as_bytes("whole"));
  reader.feed(ByteView(frame).first(4));
  reader.frames.reset();
  reader.feed(frame);
  EXPECT_EQ(reader.got.size(), 1u);
  EXPECT_EQ(reader.errors(), 0u);
}

TEST(LineFrame, DamageCostsTheFramesItTouches) {
  expect_damage_costs_what_it_touches<Reader>(0, 0.5, [](ByteView datagram) { return framed(kUp, datagram); });
}

}  // namespace
}  // namespace pqcmav
