// SPDX-License-Identifier: Apache-2.0
#include "session/receive_index.hpp"

#include <gtest/gtest.h>

#include "nanoseconds.hpp"

namespace pqcmav {
namespace {

class IndexPoolTest : public ::testing::Test {
 protected:
  std::uint64_t now = 1000 * kS;
  std::shared_ptr<IndexPool> pool = IndexPool::make(3, 60 * kS, [this] { return now; });
};

TEST_F(IndexPoolTest, GivesOutTheLowestThatIsFree) {
  auto a = pool->take(), b = pool->take(), c = pool->take();
  EXPECT_EQ(a.value(), 0);
  EXPECT_EQ(b.value(), 1);
  EXPECT_EQ(c.value(), 2);
  EXPECT_FALSE(pool->take().value()) << "none is left";
  b.release();
  EXPECT_FALSE(b.value());
  EXPECT_EQ(pool->take().value(), 1);
}

TEST_F(IndexPoolTest, OneThatWasUsedRests) {
  auto a = pool->take();
  a.use();
  a.release();
  EXPECT_EQ(pool->take().value(), 1);
  now += 60 * kS - 1;
  EXPECT_EQ(pool->take().value(), 1) << "that was never used";
  now += 1;
  EXPECT_EQ(pool->take().value(), 0);
}

TEST_F(IndexPoolTest, IsHeldOnceHoweverItMoves) {
  auto a = pool->take();
  auto b = std::move(a);
  EXPECT_EQ(b.value(), 0);
  EXPECT_FALSE(a.value());
  a = pool->take();
  EXPECT_EQ(a.value(), 1);
  a = std::move(b);
  EXPECT_EQ(a.value(), 0);
  EXPECT_EQ(pool->take().value(), 1) << "what it held before is free";
  auto held = pool->take();
  pool.reset();
  held.release();  // the pool lives as long as what it gave out
}

TEST(IndexPool, OfAShareGivesOutItsOwnNumbersAlone) {
  const auto pool = IndexPool::make(8, 0, now_ns, 1, 3);
  std::vector<ReceiveIndex> held;
  for (const std::uint16_t value : {1, 4, 7}) {
    held.push_back(pool->take());
    EXPECT_EQ(held.back().value(), value);
  }
  EXPECT_FALSE(pool->take().value()) << "none is left";
  held[1].release();
  EXPECT_EQ(pool->take().value(), 4);
}

}  // namespace
}  // namespace pqcmav
