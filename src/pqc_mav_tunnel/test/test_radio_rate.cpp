// SPDX-License-Identifier: Apache-2.0
// The rate that is found of a radio's word, against a radio whose air changes.
#include "line/radio_rate.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kStep = 5 * kMs;
constexpr double kLine = 5760;

/// A radio with a buffer, behind a line that is full of telemetry.
struct Radio {
  double fill = 0, carried = 0, lost = 0, spare = 0;
  void take(double bytes) {
    const auto room = RadioRate::kBuffer - fill;
    fill += std::min(bytes, room);
    lost += std::max(0.0, bytes - room);
  }
  void send(double bytes) {
    const auto out = std::min(fill, bytes);
    fill -= out;
    carried += out;
    spare += bytes - out;
  }
  [[nodiscard]] unsigned free_percent() const {
    return static_cast<unsigned>(100 * (RadioRate::kBuffer - fill) / RadioRate::kBuffer);
  }
};

TEST(RadioRate, FollowsTheAir) {
  std::mt19937 random(1);
  RadioRate rate(57'600);
  Radio radio;
  std::vector<double> waits;
  double air = 5400, credit = 0;
  std::uint64_t change = 0;
  for (std::uint64_t now = 0; now < 300 * kS; now += kStep) {
    if (now >= change) {
      air = 5400 * std::vector{1.0, 0.75, 0.5, 0.3}[random() % 4];
      change = now + (5 + random() % 10) * kS;
    }
    credit += rate.bytes_per_s(now) * 0.005;
    for (; credit >= 110; credit -= 110) {
      rate.on_sent(110);
      radio.take(110);
      waits.push_back(radio.fill / air);
    }
    radio.send(air * 0.005);
    if (now % (kS / 4) == 0) rate.on_word(radio.free_percent(), 0, now);
  }
  std::sort(waits.begin(), waits.end());
  EXPECT_LT(waits[waits.size() * 95 / 100], 0.2);
  EXPECT_LT(waits.back(), 0.8);
  EXPECT_GT(radio.carried, 0.95 * (radio.carried + radio.spare)) << "of what the air would carry";
  EXPECT_EQ(radio.lost, 0);
}

TEST(RadioRate, WhoSendsLittleIsNotHeldBack) {
  RadioRate rate(57'600);
  Radio radio;
  for (std::uint64_t now = 0; now < 60 * kS; now += kStep) {
    if (now % kS == 0) {  // two packets at once, each second
      rate.on_sent(220);
      radio.take(220);
    }
    radio.send(3000 * 0.005);
    if (now % (kS / 4) == kStep) rate.on_word(radio.free_percent(), 0, now);
  }
  EXPECT_GT(rate.bytes_per_s(60 * kS), 2500);
}

TEST(RadioRate, APortThatIsFarQuickerThanTheAirIsNoRate) {
  RadioRate rate(460'800, 5'500);
  EXPECT_EQ(rate.bytes_per_s(0), 5'500);
  for (std::uint64_t now = 0; now < 60 * kS; now += kS / 10) rate.on_word(100, 0, now + 1);
  EXPECT_EQ(rate.bytes_per_s(60 * kS), 5'500) << "nothing was sent: an empty buffer says nothing";
}

TEST(RadioRate, ForgedWordsStayWithinBounds) {
  std::mt19937 random(2);
  RadioRate rate(57'600);
  for (std::uint64_t now = kS; now < 100 * kS; now += kS / 10) {
    rate.on_sent(random() % 5000);
    rate.on_word(random() % 256, random() % 50'000, now);
    ASSERT_GE(rate.bytes_per_s(now), kLine * RadioRate::kLeastPart);
    ASSERT_LE(rate.bytes_per_s(now), kLine * RadioRate::kMostPart);
  }
  for (std::uint64_t i = 0; i < 1000; ++i) rate.on_word(0, 0, 100 * kS + i);  // words without time between them
  EXPECT_GE(rate.bytes_per_s(100 * kS), kLine * RadioRate::kLeastPart);
}

TEST(RadioRate, WithoutAWordItIsTheLines) {
  RadioRate rate(57'600);
  EXPECT_FALSE(rate.speaks(0));
  EXPECT_EQ(rate.bytes_per_s(0), kLine * RadioRate::kMostPart);
  rate.on_word(0, 0, kS);
  EXPECT_TRUE(rate.speaks(kS));
  EXPECT_LT(rate.bytes_per_s(kS), kLine * RadioRate::kMostPart);
  EXPECT_EQ(rate.bytes_per_s(kS + RadioRate::kSilence), kLine * RadioRate::kMostPart);
}

}  // namespace
}  // namespace pqcmav
