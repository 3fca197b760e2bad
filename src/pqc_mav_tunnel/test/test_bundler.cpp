// SPDX-License-Identifier: Apache-2.0
#include "net/bundler.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

Bytes content_of(const Bundler::Packet& packet) {
  const auto inside = packet.bytes.subspan(kHeaderSize, packet.bytes.size() - kOverhead);
  return {inside.begin(), inside.end()};
}

TEST(Bundler, IsOffWithoutAWait) {
  const Bundler off(0, 400);
  EXPECT_FALSE(off.on());
  EXPECT_TRUE(off.empty());
  EXPECT_EQ(off.due(), Bundler::kNever);
}

TEST(Bundler, OneAloneGoesAsADataFrame) {
  for (const std::size_t size : {0u, 1u, 127u, 128u, 300u}) {
    Bundler bundler(20 * kMs, 400);
    const Bytes datagram(size, 7);
    bundler.add(datagram, 100 * kMs);
    EXPECT_EQ(bundler.due(), 120 * kMs);
    const auto packet = bundler.take();
    EXPECT_EQ(packet.type, FrameType::data);
    EXPECT_EQ(packet.datagrams, 1u);
    EXPECT_EQ(content_of(packet), datagram) << size;
    EXPECT_TRUE(bundler.empty());
    EXPECT_EQ(bundler.due(), Bundler::kNever);
  }
}

TEST(Bundler, SeveralGoTogetherAndTheFirstSaysWhen) {
  Bundler bundler(20 * kMs, 400);
  bundler.add(Bytes(40, 1), 100 * kMs);
  bundler.add(Bytes(40, 2), 115 * kMs);
  EXPECT_EQ(bundler.due(), 120 * kMs);
  const auto packet = bundler.take();
  EXPECT_EQ(packet.type, FrameType::bundle);
  EXPECT_EQ(packet.datagrams, 2u);
  EXPECT_EQ(packet.bytes.size(), kOverhead + 82);
  EXPECT_EQ(packet.payload, 80u);
}

TEST(Bundler, TakesWhatFitsAndNoMore) {
  Bundler bundler(20 * kMs, 400);
  EXPECT_TRUE(bundler.takes(398));
  EXPECT_FALSE(bundler.takes(399)) << "with its length it would be longer";
  bundler.add(Bytes(300, 1), 0);
  EXPECT_TRUE(bundler.fits(97));
  EXPECT_FALSE(bundler.fits(98));
  (void)bundler.take();
  for (std::size_t i = 0; i < kBundleMost; ++i) {
    ASSERT_TRUE(bundler.fits(0));
    bundler.add({}, 0);
  }
  EXPECT_FALSE(bundler.fits(0)) << "sixty-four are enough";
}

/// As the data plane uses it: what was taken stays as it was until it is sent, and everything comes, in order.
TEST(Bundler, NothingIsLostOrChangedOnItsWay) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    Bundler bundler(20 * kMs, 64 + random() % 1400);
    std::vector<Bytes> in, out;
    std::deque<Bundler::Packet> flying;
    const auto send = [&] {
      for (; !flying.empty(); flying.pop_front()) {
        auto content = content_of(flying.front());
        if (flying.front().type == FrameType::data) {
          out.push_back(content);
          continue;
        }
        BundleParts parts;
        ASSERT_TRUE(parse_bundle(content, parts));
        EXPECT_EQ(parts.count, flying.front().datagrams);
        for (std::size_t i = 0; i < parts.count; ++i) out.emplace_back(parts.items[i].begin(), parts.items[i].end());
      }
      bundler.sent();
    };
    const auto take = [&] {
      if (bundler.empty()) return;
      flying.push_back(bundler.take());
      if (bundler.must_send()) send();
    };
    for (std::uint64_t now = 0; now < 2000 * kMs; now += random() % (8 * kMs)) {
      if (bundler.due() <= now) take();
      Bytes datagram(random() % 200);
      for (auto& byte : datagram) byte = static_cast<std::uint8_t>(random());
      in.push_back(datagram);
      if (!bundler.fits(datagram.size())) take();
      if (bundler.takes(datagram.size())) {
        bundler.add(datagram, now);
      } else {
        send();
        out.push_back(datagram);
      }
      if (!bundler.empty()) {
        EXPECT_LE(bundler.due(), now + 20 * kMs) << "nothing waits longer";
      }
      if (random() % 5 == 0) send();
    }
    take();
    send();
    EXPECT_EQ(out, in);
  }
}

}  // namespace
}  // namespace pqcmav
