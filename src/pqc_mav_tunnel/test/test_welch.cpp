// SPDX-License-Identifier: Apache-2.0
#include "../constant_time/welch.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using pqcmav::constant_time::Judge;
using pqcmav::constant_time::Moments;
using pqcmav::constant_time::welch_t;

Moments of(std::initializer_list<double> values) {
  Moments out;
  for (const auto value : values) out.add(value);
  return out;
}

TEST(Welch, AgreesWithTheFormula) {
  const auto a = of({1, 2, 3, 4}), b = of({2, 4, 6, 8, 10});
  EXPECT_DOUBLE_EQ(a.mean(), 2.5);
  EXPECT_DOUBLE_EQ(b.variance(), 10);
  EXPECT_NEAR(welch_t(a, b), -3.5 / std::sqrt(5.0 / 3 / 4 + 10.0 / 5), 1e-12);
  EXPECT_DOUBLE_EQ(welch_t(a, b), -welch_t(b, a));
}

TEST(Welch, SaysNothingOfTooFewAndEverythingOfConstants) {
  EXPECT_EQ(welch_t(of({1}), of({2, 3})), 0);
  EXPECT_EQ(welch_t(of({1, 1}), of({1, 1})), 0);
  EXPECT_EQ(welch_t(of({2, 2}), of({1, 1})), HUGE_VAL);
}

double t_of(double difference) {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> noise;
  std::bernoulli_distribution coin, interrupted(0.01);
  Judge judge(200);
  for (int i = 0; i < 20'000; ++i) {
    const bool second = coin(generator);
    const double interrupt = interrupted(generator) ? 1e5 : 0;
    judge.add(second, 1000 + noise(generator) * 10 + (second ? difference : 0) + interrupt);
  }
  EXPECT_EQ(judge.count(), 19'800U);
  return judge.greatest_t();
}

TEST(Welch, FindsASmallDifferenceBelowTheInterruptsAndNoneWhereThereIsNone) {
  EXPECT_GT(t_of(2), 10);
  EXPECT_LT(t_of(0), 4.5);
}

}  // namespace
