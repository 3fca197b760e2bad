// SPDX-License-Identifier: Apache-2.0
#include "shape/token_bucket.hpp"

#include <gtest/gtest.h>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

/// Bytes that go from `from` on, in packets of `size`, as soon as each may.
std::uint64_t sent(TokenBucket& bucket, std::uint64_t from, std::uint64_t duration, std::size_t size) {
  std::uint64_t out = 0;
  for (auto at = from; (at = bucket.ready_at(size, at)) < from + duration; out += size) bucket.spend(size);
  return out;
}

TEST(TokenBucket, KeepsItsRateForAnySize) {
  for (const std::size_t size : {28u, 106u, 1'228u, 1'498u}) {
    TokenBucket bucket;
    bucket.set_rate(64'000, kS);
    (void)sent(bucket, kS, kS, size);
    EXPECT_NEAR(static_cast<double>(sent(bucket, 2 * kS, 100 * kS, size)), 800'000, 1'600) << size;
  }
}

TEST(TokenBucket, HoldsOneDatagram) {
  TokenBucket bucket;
  bucket.set_rate(64'000, 0);
  EXPECT_LE(sent(bucket, 1000 * kS, kMs, 100), 1'300u);
  EXPECT_EQ(bucket.ready_at(1'228, 2000 * kS), 2000 * kS);
}

TEST(TokenBucket, CanHoldLess) {
  TokenBucket bucket;
  bucket.set_rate(64'000, kS);
  bucket.set_depth(160);
  EXPECT_LE(sent(bucket, 10 * kS, kMs, 100), 200u);
  EXPECT_EQ(bucket.ready_at(1'228, 20 * kS), 20 * kS) << "one at least, when it is full";
  EXPECT_NEAR(static_cast<double>(sent(bucket, 20 * kS, 100 * kS, 1'228)), 800'000, 2'500);
}

TEST(TokenBucket, SaysWhenExactly) {
  TokenBucket bucket;
  bucket.set_rate(8'000, kS);  // a byte a millisecond
  bucket.spend(1'228);
  EXPECT_EQ(bucket.ready_at(100, kS), kS + 100 * kMs);
  EXPECT_EQ(bucket.ready_at(5'000, kS), kS + 1'228 * kMs) << "longer than the bucket: when it is full";
  EXPECT_EQ(bucket.ready_at(100, kS + 40 * kMs), kS + 100 * kMs);
}

TEST(TokenBucket, ADebtIsPaidFirst) {
  TokenBucket bucket;
  bucket.set_rate(8'000, kS);
  bucket.spend(1'328);
  EXPECT_EQ(bucket.ready_at(50, kS), kS + 150 * kMs);
}

TEST(TokenBucket, WithoutARateNothingComesIn) {
  TokenBucket bucket;
  bucket.spend(1'228);
  EXPECT_EQ(bucket.ready_at(1, 100 * kS), TokenBucket::kNever);
  bucket.set_rate(8'000, 100 * kS);
  EXPECT_EQ(bucket.ready_at(1, 100 * kS), 100 * kS + kMs) << "only from now on";
}

TEST(TokenBucket, ExtremesAreHarmless) {
  TokenBucket bucket;
  bucket.set_rate(1'000'000'000, 0);
  EXPECT_EQ(bucket.ready_at(1'228, ~std::uint64_t{0} - 1), ~std::uint64_t{0} - 1);
  EXPECT_EQ(bucket.ready_at(1'228, 0), 0u) << "a clock that goes back";
  TokenBucket slow;
  slow.set_rate(1, 0);
  slow.spend(65'000);
  EXPECT_EQ(slow.ready_at(1, 0), 1'229ull * 8 * kS) << "a debt of one datagram at most";
}

}  // namespace
}  // namespace pqcmav
