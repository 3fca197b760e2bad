// SPDX-License-Identifier: Apache-2.0
// Welch's t of two classes of times (B. L. Welch, 1947), as dudect uses it (Reparaz, Balasch, Verbauwhede, "Dude, is my
// code constant time?", 2017): of all times, and of those below percentiles, for the longest are interrupts.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace pqcmav::constant_time {

/// Mean and variance as values come (B. P. Welford, 1962).
class Moments {
 public:
  void add(double value) noexcept {
    ++count_;
    const double away = value - mean_;
    mean_ += away / static_cast<double>(count_);
    squares_ += away * (value - mean_);
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] double mean() const noexcept { return mean_; }
  [[nodiscard]] double variance() const noexcept { return count_ < 2 ? 0 : squares_ / static_cast<double>(count_ - 1); }

 private:
  std::size_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

/// 0 while there are too few to tell, or nothing varies and the means are the same.
inline double welch_t(const Moments& a, const Moments& b) noexcept {
  if (a.count() < 2 || b.count() < 2) return 0;
  const double away = a.mean() - b.mean();
  const double spread =
      std::sqrt(a.variance() / static_cast<double>(a.count()) + b.variance() / static_cast<double>(b.count()));
  if (spread > 0) return away / spread;
  return away == 0 ? 0 : std::copysign(HUGE_VAL, away);
}

/// The greatest |t| over all times and over those below each of `kCuts` of the times of both classes together.
class Judge {
 public:
  static constexpr std::array kCuts{0.5, 0.75, 0.9, 0.97};

  /// The first `calibration` times only say where the percentiles are.
  explicit Judge(std::size_t calibration) : calibration_(calibration) {}
  void add(bool second, double time) {
    if (first_.size() < calibration_) {
      first_.push_back(time);
      if (first_.size() == calibration_) settle();
      return;
    }
    moments_[0][second].add(time);
    for (std::size_t i = 0; i < kCuts.size(); ++i) {
      if (time <= limits_[i]) moments_[i + 1][second].add(time);
    }
  }
  [[nodiscard]] std::size_t count() const noexcept { return moments_[0][0].count() + moments_[0][1].count(); }
  [[nodiscard]] double greatest_t() const noexcept {
    double out = 0;
    for (const auto& each : moments_) out = std::max(out, std::abs(welch_t(each[0], each[1])));
    return out;
  }
  [[nodiscard]] double mean(bool second) const noexcept { return moments_[0][second].mean(); }

 private:
  void settle() {
    std::ranges::sort(first_);
    for (std::size_t i = 0; i < kCuts.size(); ++i)
      limits_[i] = first_[static_cast<std::size_t>(kCuts[i] * static_cast<double>(first_.size() - 1))];
  }
  std::size_t calibration_;
  std::vector<double> first_;
  std::array<double, kCuts.size()> limits_{};
  std::array<std::array<Moments, 2>, kCuts.size() + 1> moments_{};
};

}  // namespace pqcmav::constant_time
