// SPDX-License-Identifier: Apache-2.0
// Frames out of a stream: every one of them, whatever the pieces it comes in and whatever is between them.
#include "route/mavlink_framer.hpp"

#include <gtest/gtest.h>

#include <random>

#include "mavlink_stream.hpp"

namespace pqcmav {
namespace {

using namespace test;
using Framed = std::vector<Bytes>;

constexpr std::uint64_t kLater = MavlinkFramer::kSilenceNs;

struct FramerReader {
  MavlinkFramer framer;
  Framed frames;
  std::uint64_t now = 0;
  void feed(ByteView bytes) {
    framer.feed(bytes, now, [&](ByteView frame) { frames.emplace_back(frame.begin(), frame.end()); });
  }
  void wait() {
    now += kLater;
    framer.poll(now, [&](ByteView frame) { frames.emplace_back(frame.begin(), frame.end()); });
  }
};

Bytes joined(const Framed& frames) {
  Bytes out;
  for (const auto& frame : frames) append(out, frame);
  return out;
}

Framed some(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Framed out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(any_message(random));
  return out;
}

TEST(MavlinkFramer, KnownChecksums) {
  // Of "123456789", as CRC-16/MCRF4XX is catalogued.
  EXPECT_EQ(x25(as_bytes("123456789")), 0x6f91);
  // A HEARTBEAT of a real autopilot, CRC_EXTRA 50.
  Bytes heartbeat = mavlink2(0, 9);
  EXPECT_TRUE(x25_reachable(0x1234, x25_add(0x1234, 50)));
  FramerReader reader;
  reader.feed(summed(heartbeat, 50));
  EXPECT_EQ(reader.frames.size(), 1u);
}

TEST(MavlinkFramer, AByteMakesOneOf256Checksums) {
  for (const std::uint16_t before : {0x0000, 0x1234, 0xffff, 0x80ff}) {
    std::set<std::uint16_t> made;
    for (unsigned extra = 0; extra < 256; ++extra) made.insert(x25_add(before, static_cast<std::uint8_t>(extra)));
    EXPECT_EQ(made.size(), 256u);
    for (unsigned after = 0; after < 0x10000; ++after)
      ASSERT_EQ(x25_reachable(before, static_cast<std::uint16_t>(after)),
                made.contains(static_cast<std::uint16_t>(after)));
  }
}

TEST(MavlinkFramer, SplitAtEveryByte) {
  const Framed frames{summed(mavlink1(0)), summed(mavlink2(0)), summed(mavlink2(147, 41, {}, true)),
                      summed(mavlink1(30, 0)), summed(mavlink2(0xffffff, 255, {}, true))};
  const auto stream = joined(frames);
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    FramerReader reader;
    reader.feed(ByteView(stream).first(cut));
    reader.feed(ByteView(stream).subspan(cut));
    ASSERT_EQ(reader.frames, frames) << "cut at " << cut;
    ASSERT_EQ(reader.framer.skipped(), 0u);
    ASSERT_EQ(reader.framer.due(), MavlinkFramer::kNever);
  }
  FramerReader bytewise;
  for (const auto byte : stream) bytewise.feed(ByteView(&byte, 1));
  EXPECT_EQ(bytewise.frames, frames);
}

TEST(MavlinkFramer, AFrameComesOutWithItsLastByte) {
  const auto frame = summed(mavlink2(0));
  FramerReader reader;
  reader.feed(ByteView(frame).first(frame.size() - 1));
  EXPECT_TRUE(reader.frames.empty());
  reader.feed(ByteView(frame).last(1));
  EXPECT_EQ(reader.frames.size(), 1u);
}

TEST(MavlinkFramer, NoiseBetweenFramesCostsNone) {
  std::mt19937 random(7);
  int whole = 0;
  for (int round = 0; round < 200; ++round) {
    const auto frames = some(8, static_cast<unsigned>(round));
    FramerReader reader;
    std::size_t noise = 0;
    for (const auto& frame : frames) {
      Bytes bytes(random() % 40);
      for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random() % 3 == 0 ? 0xfd + random() % 2 : random());
      noise += bytes.size();
      reader.feed(bytes);
      reader.feed(frame);
    }
    reader.wait();
    const auto found = std::count_if(frames.begin(), frames.end(), [&](const Bytes& frame) {
      return std::find(reader.frames.begin(), reader.frames.end(), frame) != reader.frames.end();
    });
    whole += found == static_cast<std::ptrdiff_t>(frames.size()) ? 1 : 0;
    ASSERT_LE(reader.framer.skipped(), noise + 2 * MavlinkFramer::kFrameMax);
  }
  // One false start in 256 passes for a frame, and takes what it covers with it: here there are some 20 in a round.
  EXPECT_GE(whole, 170);
}

TEST(MavlinkFramer, AFalseStartHoldsFramesUpUntilASilenceAtMost) {
  const Bytes start{0xfd, 255, 0};  // claims 280 bytes
  const auto frame = summed(mavlink2(0));
  FramerReader reader;
  reader.feed(start);
  reader.feed(frame);
  EXPECT_TRUE(reader.frames.empty());
  EXPECT_EQ(reader.framer.due(), kLater);
  reader.now = kLater - 1;
  reader.framer.poll(reader.now, [](ByteView) { FAIL(); });
  reader.now = 0;
  reader.wait();
  EXPECT_EQ(reader.frames, Framed{frame});
  EXPECT_EQ(reader.framer.skipped(), start.size());
  EXPECT_EQ(reader.framer.due(), MavlinkFramer::kNever);
}

TEST(MavlinkFramer, AFalseStartHoldsFramesUpUntilItsLengthHasCome) {
  const auto frame = summed(mavlink2(0));
  FramerReader reader;
  reader.feed(Bytes{0xfe, 255});
  std::size_t sent = 0;
  for (; sent * frame.size() < 263; ++sent) reader.feed(frame);
  EXPECT_EQ(reader.frames.size(), sent);
  EXPECT_EQ(reader.framer.skipped(), 2u);
}

TEST(MavlinkFramer, ADamagedFrameCostsItselfAlone) {
  const auto frames = some(5, 3);
  const auto& damaged = frames[2];
  std::size_t passed = 0;
  for (std::size_t at = 0; at < damaged.size(); ++at) {
    auto copy = frames;
    copy[2][at] ^= 0x10;
    FramerReader reader;
    reader.feed(joined(copy));
    reader.wait();
    std::size_t next = 0;
    for (const auto& frame : reader.frames)
      if (next < frames.size() && frame == frames[next == 2 ? 3 : next]) next += next == 2 ? 2 : 1;
    if (reader.frames.size() == 4)
      ASSERT_GE(next, 5u) << "byte " << at;
    else
      ++passed;  // changed in the signature, or into another possible checksum
  }
  EXPECT_LT(passed, 13u + damaged.size() / 32);
}

TEST(MavlinkFramer, UnknownFlagsAreNoFrame) {
  auto frame = mavlink2(0);
  frame[2] = 2;
  FramerReader reader;
  reader.feed(summed(frame));
  reader.wait();
  EXPECT_TRUE(reader.frames.empty());
  EXPECT_EQ(reader.framer.skipped(), frame.size());
}

TEST(MavlinkFramer, AnUnfinishedFrameIsGivenUp) {
  const auto frame = summed(mavlink2(0)), next = summed(mavlink1(4));
  FramerReader reader;
  reader.feed(ByteView(frame).first(15));
  reader.wait();
  reader.feed(next);
  EXPECT_EQ(reader.frames, Framed{next});
  EXPECT_EQ(reader.framer.skipped(), 15u);
}

TEST(MavlinkFramer, AfterACutNothingIsLeft) {
  const auto frame = summed(mavlink2(0));
  FramerReader reader;
  reader.feed(ByteView(frame).first(10));
  reader.framer.reset();
  reader.feed(frame);
  EXPECT_EQ(reader.frames, Framed{frame});
  EXPECT_EQ(reader.framer.skipped(), 10u);
}

TEST(MavlinkFramer, AnyPiecesGiveTheSameFrames) {
  std::mt19937 random(11);
  for (unsigned round = 0; round < 100; ++round) {
    const auto frames = some(30, 1000 + round);
    const auto stream = joined(frames);
    FramerReader reader;
    for (ByteView rest = stream; !rest.empty();) {
      const auto size = std::min<std::size_t>(1 + random() % 700, rest.size());
      reader.feed(rest.first(size));
      rest = rest.subspan(size);
    }
    ASSERT_EQ(reader.frames, frames) << "round " << round;
    ASSERT_EQ(reader.framer.skipped(), 0u);
  }
}

}  // namespace
}  // namespace pqcmav
