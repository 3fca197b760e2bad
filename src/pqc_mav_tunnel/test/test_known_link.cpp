// SPDX-License-Identifier: Apache-2.0
#include "handshake/known_link.hpp"

#include <gtest/gtest.h>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

/// A session whose probes take `probe` ms now and 100 ms at best, and whose full datagrams took `full` ms.
KnownLink known(std::uint64_t full, std::uint64_t probe = 100, std::uint32_t loss_ppm = 0) {
  return KnownLink::of({full * kMs, probe * kMs, 100 * kMs, loss_ppm});
}

TEST(KnownLink, NothingIsKnownAtFirst) {
  const auto nothing = KnownLink::of({});
  EXPECT_FALSE(nothing.round_trip);
  EXPECT_EQ(nothing.window, 2U);
  EXPECT_FALSE(nothing.lossy);
}

TEST(KnownLink, AWindowNeedsBothKindsOfRoundTrip) {
  EXPECT_EQ(KnownLink::of({102 * kMs, {}, {}, 0}).window, 2U);
  EXPECT_EQ(KnownLink::of({{}, 100 * kMs, 100 * kMs, 0}).window, 2U);
  EXPECT_FALSE(KnownLink::of({{}, 100 * kMs, 100 * kMs, 0}).round_trip);
}

TEST(KnownLink, TheWindowIs300MsOfTheLink) {
  EXPECT_EQ(known(102).window, 10U);
  EXPECT_EQ(known(130).window, 10U);
  EXPECT_EQ(known(150).window, 6U);
  EXPECT_EQ(known(250).window, 2U) << "64 kbit/s";
  EXPECT_EQ(known(5'000).window, 2U);
  EXPECT_EQ(known(90).window, 10U) << "a path that has become slower since";
}

/// A handshake on the ground, and a radio link since.
TEST(KnownLink, WhatWasMeasuredOnAnotherLinkIsNotKnown) {
  EXPECT_EQ(known(50).window, 10U);
  for (const std::uint64_t full : {1, 49}) {
    EXPECT_EQ(known(full).window, 2U);
    EXPECT_FALSE(known(full).round_trip);
  }
  EXPECT_EQ(KnownLink::of({1 * kMs, 31 * kMs, 31 * kMs, 0}).window, 10U) << "30 ms are no other link";
}

TEST(KnownLink, AQueueNowMeansTheLeastWindow) {
  EXPECT_EQ(known(102, 150).window, 10U);
  EXPECT_EQ(known(102, 151).window, 2U);
  EXPECT_FALSE(known(102, 151).round_trip) << "its end is not known";
  EXPECT_EQ(KnownLink::of({11 * kMs, 40 * kMs, 10 * kMs, 0}).window, 10U) << "30 ms are no queue";
  EXPECT_EQ(KnownLink::of({11 * kMs, 41 * kMs, 10 * kMs, 0}).window, 2U);
}

TEST(KnownLink, TheRoundTripContainsTheQueueAndHasAnEnd) {
  EXPECT_EQ(known(102).round_trip, 102 * kMs);
  EXPECT_EQ(known(102, 150).round_trip, 152 * kMs);
  EXPECT_EQ(known(2'500).round_trip, 600 * kMs);
}

TEST(KnownLink, ARadioMayBeSlowAndItsLossesComeTogether) {
  for (const std::uint64_t full : {102, 2'500}) {
    const auto radio = KnownLink::of({full * kMs, 100 * kMs, 100 * kMs, 200'000, 96 * kMs});
    EXPECT_EQ(radio.round_trip, full * kMs);
    EXPECT_EQ(radio.window, full == 102 ? 10U : 3U);
    EXPECT_EQ(radio.wire_ns, 96 * kMs);
    EXPECT_FALSE(radio.lossy);
  }
  EXPECT_EQ(KnownLink::of({{}, {}, {}, 0, 96 * kMs}).window, 3U);
}

TEST(KnownLink, ThreePercentAreLossy) {
  EXPECT_FALSE(known(102, 100, 29'999).lossy);
  EXPECT_TRUE(known(102, 100, 30'000).lossy);
  EXPECT_TRUE(KnownLink::of({{}, {}, {}, 200'000}).lossy);
}

}  // namespace
}  // namespace pqcmav
