// SPDX-License-Identifier: Apache-2.0
#include "rate_meter.hpp"

#include <gtest/gtest.h>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

std::vector<LinkStats> counted(std::uint64_t packets, const std::string& drone = "uav1") {
  LinkStats out;
  out.drone_id = drone;
  out.counters = {
      {"enc_tx_packets", packets}, {"enc_tx_bytes", 100 * packets}, {"enc_rx_packets", 0}, {"enc_rx_bytes", packets}};
  return {out};
}

LinkRates measured(RateMeter& meter, std::vector<LinkStats> links, std::uint64_t now) {
  meter.measure(links, now);
  return links.front().rates.value();
}

TEST(RateMeter, FirstReadingHasNoRate) {
  RateMeter meter;
  EXPECT_EQ(measured(meter, counted(5), 7 * kS).tx_packets_per_s, 0);
}

TEST(RateMeter, RatesArePerSecond) {
  RateMeter meter;
  measured(meter, counted(0), kS);
  const auto rates = measured(meter, counted(640), 3 * kS);
  EXPECT_EQ(rates.tx_packets_per_s, 320);
  EXPECT_EQ(rates.tx_bytes_per_s, 32'000);
  EXPECT_EQ(rates.rx_packets_per_s, 0);
  EXPECT_EQ(rates.rx_bytes_per_s, 320);
}

TEST(RateMeter, ManyWhoAskSeeTheSame) {
  RateMeter meter;
  measured(meter, counted(0), kS);
  measured(meter, counted(100), 2 * kS);
  EXPECT_EQ(measured(meter, counted(500), 2 * kS + 1).tx_packets_per_s, 100);
  EXPECT_EQ(measured(meter, counted(500), 3 * kS).tx_packets_per_s, 400);  // of a whole second all the same
}

TEST(RateMeter, DronesThatComeAgainBeginAtNothing) {
  RateMeter meter;
  measured(meter, counted(1000), kS);
  EXPECT_EQ(measured(meter, counted(10), 2 * kS).tx_packets_per_s, 0);
  EXPECT_EQ(measured(meter, counted(7, "uav2"), 3 * kS).tx_packets_per_s, 0);
  EXPECT_EQ(measured(meter, counted(10), 4 * kS).tx_packets_per_s, 0);
}

}  // namespace
}  // namespace pqcmav
