// SPDX-License-Identifier: Apache-2.0
#include "session/replay_window.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

using Verdict = ReplayWindow::Verdict;

/// The definition, without any cleverness: remembers everything.
class Model {
 public:
  explicit Model(std::size_t bits) : bits_(bits) {}
  [[nodiscard]] Verdict check(std::uint64_t sequence) const {
    if (sequence >= kSequenceLimit) return Verdict::old;
    if (!seen_.empty() && sequence + bits_ <= *seen_.rbegin()) return Verdict::old;
    return seen_.count(sequence) ? Verdict::replay : Verdict::fresh;
  }
  bool accept(std::uint64_t sequence) {
    if (check(sequence) != Verdict::fresh) return false;
    const bool newest = seen_.empty() || sequence > *seen_.rbegin();
    seen_.insert(sequence);
    return newest;
  }
  [[nodiscard]] std::uint64_t next() const { return seen_.empty() ? 0 : *seen_.rbegin() + 1; }

 private:
  std::size_t bits_;
  std::set<std::uint64_t> seen_;
};

class WindowSizes : public ::testing::TestWithParam<std::size_t> {};

TEST_P(WindowSizes, AgreesWithTheModelOnRandomSequences) {
  const auto bits = GetParam();
  std::mt19937_64 random(bits);
  for (int round = 0; round < 20; ++round) {
    ReplayWindow window(bits);
    Model model(bits);
    std::uint64_t around = random() % 3 == 0 ? kSequenceLimit - 3 * bits : random() % (4 * bits);
    for (int step = 0; step < 3000; ++step) {
      // Mostly near the top, on both sides of the window's edge, sometimes far ahead.
      std::uint64_t sequence = 0;
      switch (random() % 8) {
        case 0: sequence = around + random() % (2 * bits); break;
        case 1: sequence = model.next() + (random() % 20 == 0 ? 10 * bits : 0); break;
        case 2: sequence = model.next() - std::min(model.next(), bits - 1 + random() % 4); break;
        default: sequence = model.next() + 3 - std::min(model.next() + 3, random() % (bits + bits / 2)); break;
      }
      ASSERT_EQ(window.check(sequence), model.check(sequence))
          << "sequence " << sequence << " with next " << model.next();
      if (random() % 4 != 0) {
        ASSERT_EQ(window.accept(sequence), model.accept(sequence)) << sequence;
      }
      ASSERT_EQ(window.next_expected(), model.next());
    }
  }
}

TEST_P(WindowSizes, EdgesAreExact) {
  const auto bits = GetParam();
  ReplayWindow window(bits);
  EXPECT_EQ(window.next_expected(), 0u);
  const std::uint64_t top = 5 * bits + 17;
  EXPECT_TRUE(window.accept(top));
  EXPECT_EQ(window.check(top), Verdict::replay);
  EXPECT_EQ(window.check(top - bits + 1), Verdict::fresh);
  EXPECT_EQ(window.check(top - bits), Verdict::old);
  EXPECT_FALSE(window.accept(top - bits + 1)) << "accepted, but not the newest";
  EXPECT_EQ(window.check(top - bits + 1), Verdict::replay);
}

TEST_P(WindowSizes, EverySequenceOnceInOrderAndThenNeverAgain) {
  const auto bits = GetParam();
  ReplayWindow window(bits);
  for (std::uint64_t sequence = 0; sequence < 4 * bits; ++sequence) {
    ASSERT_TRUE(window.accept(sequence));
    ASSERT_FALSE(window.accept(sequence));
  }
  for (std::uint64_t sequence = 0; sequence < 4 * bits; ++sequence) {
    ASSERT_EQ(window.check(sequence), sequence < 3 * bits ? Verdict::old : Verdict::replay);
  }
}

TEST_P(WindowSizes, AForgedHighSequenceMovesNothing) {
  const auto bits = GetParam();
  ReplayWindow window(bits);
  ASSERT_TRUE(window.accept(100));
  for (const std::uint64_t forged :
       {std::uint64_t{101} + bits, kSequenceLimit - 1, kSequenceLimit, ~std::uint64_t{0}}) {
    (void)window.check(forged);
    EXPECT_EQ(window.next_expected(), 101u);
    EXPECT_EQ(window.check(99), Verdict::fresh);
    EXPECT_EQ(window.check(100), Verdict::replay);
  }
}

TEST_P(WindowSizes, TheSequenceSpaceEndsBeforeTheLimit) {
  ReplayWindow window(GetParam());
  EXPECT_FALSE(window.accept(kSequenceLimit));
  EXPECT_FALSE(window.accept(~std::uint64_t{0}));
  EXPECT_EQ(window.next_expected(), 0u);
  EXPECT_TRUE(window.accept(kSequenceLimit - 1));
  EXPECT_EQ(window.check(kSequenceLimit), Verdict::old);
  EXPECT_EQ(window.check(0), Verdict::old);
}

INSTANTIATE_TEST_SUITE_P(All, WindowSizes, ::testing::Values(64, 128, 192, 1024, 4096, 8192));

TEST(ReplayWindow, RefusesSizesOutsideTheLimits) {
  for (const std::size_t bits : {0, 1, 63, 65, 100, 8191, 8256, 16384}) {
    try {
      ReplayWindow window(bits);
      ADD_FAILURE() << bits << " bits were taken";
    } catch (const TunnelError& error) {
      EXPECT_EQ(error.code(), Errc::config_invalid);
      EXPECT_NE(std::string(error.what()).find(std::to_string(bits)), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace pqcmav
