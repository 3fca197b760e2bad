// SPDX-License-Identifier: Apache-2.0
#include "shape/parameter_pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kValue = 115;  // a PARAM_VALUE on the air

struct List {
  double seconds = 0, longest_queue = 0;  // bytes
};

/// A list of so many values over a link: each portion is served at the link's rate, and so is the PROBE behind it.
List send_list(double bytes_per_s, std::uint64_t way_ns, int values, bool loses_answers = false) {
  ParameterPace pace;
  List out;
  std::uint64_t now = kS, empty_at = now;
  std::uint32_t id = 0;
  const auto serve = [&](double bytes) {
    empty_at = std::max(empty_at, now) + static_cast<std::uint64_t>(bytes / bytes_per_s * 1e9);
    out.longest_queue = std::max(out.longest_queue, static_cast<double>(empty_at - now) * bytes_per_s / 1e9);
  };
  while (values > 0) {
    while (values > 0 && pace.takes(kValue, now)) {
      serve(kValue);
      --values;
    }
    if (values == 0) break;
    if (!pace.wants_probe()) {
      now += 100 * kMs;
      continue;
    }
    serve(60);
    pace.probed(++id, now);
    if (loses_answers && id % 3 == 0) continue;
    now = empty_at + way_ns;
    pace.answered(id, way_ns, now);
  }
  out.seconds = static_cast<double>(std::max(now, empty_at) - kS) / 1e9;
  return out;
}

TEST(ParameterPace, FillsAThinLinkAndNoMore) {
  const auto thin = send_list(8'000, 40 * kMs, 1'348);
  EXPECT_LT(thin.longest_queue, 3'000) << "a queue of 16 kB drops nothing";
  EXPECT_LT(thin.seconds, 1.25 * 1'348 * kValue / 8'000);
  const auto thinner = send_list(1'000, 500 * kMs, 100);
  EXPECT_LT(thinner.longest_queue, 3'000);
}

TEST(ParameterPace, CostsAWideLinkLittle) {
  EXPECT_LT(send_list(12'500'000, kMs, 1'348).seconds, 0.03) << "a LAN";
  EXPECT_LT(send_list(625'000, 50 * kMs, 1'348).seconds, 1.0) << "LTE";
}

TEST(ParameterPace, GoesOnWhenAnAnswerIsLost) { EXPECT_LT(send_list(625'000, 50 * kMs, 1'348, true).seconds, 30.0); }

TEST(ParameterPace, HoldsUpNobodyWhoSendsLittle) {
  ParameterPace pace;
  for (std::uint64_t second = 1; second < 100; ++second)
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(pace.takes(kValue, second * kS + static_cast<std::uint64_t>(i) * kMs));
  EXPECT_FALSE(pace.wants_probe());
}

TEST(ParameterPace, AnAnswerToAnotherProbeOpensNothing) {
  ParameterPace pace;
  while (pace.takes(kValue, kS)) continue;
  EXPECT_TRUE(pace.wants_probe());
  pace.probed(7, kS);
  EXPECT_FALSE(pace.wants_probe());
  pace.answered(6, kMs, kS + kMs);
  EXPECT_FALSE(pace.takes(kValue, kS + kMs));
  pace.answered(7, kMs, kS + kMs);
  EXPECT_TRUE(pace.takes(kValue, kS + kMs));
}

}  // namespace
}  // namespace pqcmav
