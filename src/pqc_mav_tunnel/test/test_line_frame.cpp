// SPDX-License-Identifier: Apache-2.0
#include "line/line_frame.hpp"

#include <gtest/gtest.h>

#include <set>

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
};

TEST(LineFrame, TheBytesOfThePage) {
  // 03 || "a" || CRC-16/MCRF4XX of both.
  EXPECT_EQ(hex(framed(kUp, as_bytes("a"))).substr(0, 6), "050361");
  EXPECT_EQ(framed(kUp, as_bytes("a")).back(), 0);
  EXPECT_EQ(LineAddress::of(0xff), kDown);
  EXPECT_EQ(kDown.byte(), 0xff);
}

TEST(LineFrame, EverySizeComesThroughInAnyPieces) {
  std::mt19937 random(2);
  Bytes stream;
  std::vector<Bytes> sent;
  for (const std::size_t size : {0ul, 1ul, 38ul, 250ul, 251ul, 252ul, 253ul, 548ul, kLineDatagramMost}) {
    sent.push_back(random_bytes(random, size));
    sent.push_back(Bytes(size, 0));
    sent.push_back(Bytes(size, 0xaa));
  }
  for (const auto& each : sent) append(stream, framed(kDown, each));
  for (const std::size_t piece : {1ul, 7ul, 300ul, stream.size()}) {
    Reader reader;
    for (ByteView rest = stream; !rest.empty(); rest = rest.subspan(std::min(piece, rest.size())))
      reader.feed(rest.first(std::min(piece, rest.size())));
    ASSERT_EQ(reader.got.size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      ASSERT_EQ(reader.got[i].first, kDown);
      ASSERT_EQ(reader.got[i].second, sent[i]);
    }
    EXPECT_EQ(reader.frames.errors(), 0u);
  }
}

TEST(LineFrame, EmptyFramesMeanNothing) {
  Reader reader;
  reader.feed(Bytes{0, 0, 0});
  reader.feed(framed(kUp, as_bytes("x")));
  EXPECT_EQ(reader.got.size(), 1u);
  EXPECT_EQ(reader.frames.errors(), 0u);
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
    ASSERT_GE(reader.frames.errors(), 1u) << bit;
  }
}

TEST(LineFrame, WhatIsTooLongIsOneErrorAndThenAllIsWell) {
  Reader reader;
  reader.feed(Bytes(1'000'000, 0xfd));
  reader.feed(Bytes{0});
  EXPECT_EQ(reader.frames.errors(), 1u);
  reader.feed(framed(kUp, as_bytes("x")));
  EXPECT_EQ(reader.got.size(), 1u);
  EXPECT_EQ(reader.frames.errors(), 1u);
}

TEST(LineFrame, ACutLineForgetsWhatHadBegun) {
  Reader reader;
  const auto frame = framed(kUp, as_bytes("whole"));
  reader.feed(ByteView(frame).first(4));
  reader.frames.reset();
  reader.feed(frame);
  EXPECT_EQ(reader.got.size(), 1u);
  EXPECT_EQ(reader.frames.errors(), 0u);
}

/// An event of the air costs the frames that it touches, never more, and nothing comes out that nobody sent.
TEST(LineFrame, DamageCostsTheFramesItTouches) {
  for (const auto& damage : line_damages(0)) {
    std::mt19937 random(3);
    std::set<Bytes> sent, lost;
    Bytes stream;
    for (int i = 0; i < 1200; ++i) {
      const auto datagram = random_bytes(random, std::array{50ul, 70ul, 110ul, 210ul}[random() % 4]);
      sent.insert(datagram);
      append(stream, framed(kUp, datagram));
    }
    const auto places = damaged_places(random, stream.size(), 100);
    for (const auto at : places) damage.apply(stream, at, random);
    Reader reader;
    reader.feed(stream);
    lost = sent;
    for (const auto& [line, datagram] : reader.got) {
      ASSERT_TRUE(sent.contains(datagram)) << damage.what;
      lost.erase(datagram);
    }
    EXPECT_GE(lost.size(), places.size() / 2) << damage.what;
    EXPECT_LE(static_cast<double>(lost.size()), damage.frames_lost_most * static_cast<double>(places.size()))
        << damage.what;
    EXPECT_GE(reader.frames.errors(), places.size() / 2) << damage.what;
  }
}

}  // namespace
}  // namespace pqcmav
