// SPDX-License-Identifier: Apache-2.0
#include "control/key_pool.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>

#include "engine_fixture.hpp"

namespace pqcmav {
namespace {

/// The pool's thread runs only when nothing else does: on a busy machine that takes its time.
template <typename Condition>
bool comes_true(Condition condition) {
  return test::eventually(condition, std::chrono::seconds(90));
}

constexpr std::uint64_t kForever = 1'000'000'000'000;
const KemInfo& light() { return *find_kem("mlkem512"); }
const KemInfo& other() { return *find_kem("mlkem768"); }

/// A pair that works together.
void expect_good(const KemInfo& kem, const EphemeralKem& ephemeral) {
  Kem algorithm(kem);
  SecretBytes shared;
  const auto ciphertext = algorithm.encapsulate(ephemeral.pair.public_key, shared);
  const auto again = algorithm.decapsulate(ephemeral.pair.secret_key, ciphertext);
  EXPECT_TRUE(std::equal(shared.view().begin(), shared.view().end(), again.view().begin(), again.view().end()));
}

TEST(KeyPool, DepthZeroMakesEveryPairFresh) {
  KeyPool pool(0, kForever, {&light()});
  EXPECT_EQ(pool.made(), 0u);
  for (int i = 0; i < 3; ++i) {
    const auto pair = pool.take(light());
    EXPECT_FALSE(pair.pooled);
    expect_good(light(), pair);
  }
  EXPECT_EQ(pool.made(), 3u);
  EXPECT_EQ(pool.ready(light()), 0u);
}

TEST(KeyPool, FillsUpToItsDepthAndNoFurther) {
  KeyPool pool(3, kForever, {&light(), &other()});
  ASSERT_TRUE(comes_true([&] { return pool.ready(light()) == 3 && pool.ready(other()) == 3; }));
  EXPECT_EQ(pool.made(), 6u);
  EXPECT_EQ(pool.ready(*find_kem("mlkem1024")), 0u);
}

TEST(KeyPool, IsClearedAndRefills) {
  KeyPool pool(2, kForever, {&light()});
  ASSERT_TRUE(comes_true([&] { return pool.ready(light()) == 2; }));
  pool.clear();
  EXPECT_TRUE(comes_true([&] { return pool.ready(light()) == 2; }));
  EXPECT_EQ(pool.made(), 4u);
}

TEST(KeyPool, HandsEachPairOutOnceAndRefills) {
  KeyPool pool(2, kForever, {&light()});
  std::set<std::string, std::less<>> seen;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(comes_true([&] { return pool.ready(light()) == 2; }));
    const auto pair = pool.take(light());
    EXPECT_TRUE(pair.pooled);
    EXPECT_TRUE(seen.emplace(as_text(pair.pair.public_key)).second);
    expect_good(light(), pair);
  }
}

TEST(KeyPool, AnEmptyPoolMakesOneAtOnce) {
  KeyPool pool(1, kForever, {});
  const auto pair = pool.take(other());
  EXPECT_FALSE(pair.pooled);
  expect_good(other(), pair);
  ASSERT_TRUE(comes_true([&] { return pool.ready(other()) == 1; })) << "from now on it is kept ready";
  EXPECT_TRUE(pool.take(other()).pooled);
}

TEST(KeyPool, OldPairsAreWipedUnused) {
  KeyPool pool(1, 50'000'000, {&light()});
  ASSERT_TRUE(comes_true([&] { return pool.made() >= 4; })) << "each lives 50 ms, then another takes its place";
  const auto made = pool.made();
  ASSERT_TRUE(comes_true([&] { return pool.made() > made; }));
  EXPECT_LE(pool.ready(light()), 1u);
}

TEST(KeyPool, NeverHandsOutAnOldPair) {
  KeyPool pool(4, 1, {&light()});  // everything is too old as soon as it exists
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(pool.take(light()).pooled);
}

TEST(KeyPool, ManyThreadsNeverShareAPair) {
  KeyPool pool(8, kForever, {&light()});
  std::mutex mutex;
  std::set<std::string, std::less<>> seen;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 40; ++i) {
        const auto pair = pool.take(light());
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(seen.emplace(as_text(pair.pair.public_key)).second);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(seen.size(), 240u);
}

TEST(KeyPool, EndsWhileItIsBusy) {
  for (int i = 0; i < 20; ++i) {
    const KeyPool pool(64, kForever, {&light(), &other()});
  }
}

}  // namespace
}  // namespace pqcmav
