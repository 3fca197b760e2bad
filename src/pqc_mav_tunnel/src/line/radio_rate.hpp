// SPDX-License-Identifier: Apache-2.0
// What a radio carries, from the room in its buffer: what drained since the last word of it, and a little less while
// more waits there than is wanted. A forged word moves it within an eighth and 95 % of the line, no further. No clock:
// times are arguments, in ns.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pqcmav {

class RadioRate {
 public:
  static constexpr double kMostPart = 0.95, kLeastPart = 1.0 / 8;
  static constexpr double kLeastMost = 720;  // bytes/s; an eighth of a quick port is no word about the air
  static constexpr double kBuffer = 1'850;   // SiK's
  static constexpr double kWanted = 200, kEmpty = 40;
  static constexpr std::uint64_t kSilence = 3'000'000'000;  // after that the radio says nothing any more

  /// `unknown_most`: bytes per second at most, as long as the radio has said nothing.
  explicit RadioRate(std::uint32_t baud, double unknown_most = 1e9) noexcept
      : line_(baud / 10.0), unknown_(std::min(kMostPart * line_, unknown_most)), rate_(unknown_) {}

  void on_sent(std::size_t bytes) noexcept { sent_ += static_cast<double>(bytes); }
  /// The radio's buffer is free by so many percent, and `waiting` bytes wait before it.
  void on_word(unsigned free_percent, std::size_t waiting, std::uint64_t now) noexcept {
    const auto fill = kBuffer * (100 - std::min(free_percent, 100U)) / 100 + static_cast<double>(waiting);
    if (heard_ == 0 || now >= heard_ + kSilence) {  // the first word says how much is there, and not how fast it goes
      if (fill > kWanted) rate_ /= 2;
    } else {
      const auto seconds = static_cast<double>(now - heard_) / 1e9;
      if (seconds < kApart) return;
      const auto drained = (sent_ - (fill - fill_)) / seconds;
      const auto fitting = drained + (kWanted - fill) / std::max(seconds, 0.5);
      // What drained says how fast it goes only if there was something to drain all the time.
      if (fill_ < kEmpty)
        rate_ *= fill > 2 * kWanted ? kFall : fill < kEmpty && sent_ > rate_ * seconds / 2 ? kRise : 1;
      else
        rate_ = fill <= kWanted ? std::max(rate_, fitting) : fitting;
    }
    rate_ = std::clamp(rate_, std::min(kLeastPart * line_, kLeastMost), kMostPart * line_);
    heard_ = now;
    fill_ = fill;
    sent_ = 0;
  }
  /// Bytes per second on the line. Without a word for a while as at the start; the other end's reports do the rest.
  [[nodiscard]] double bytes_per_s(std::uint64_t now) const noexcept { return speaks(now) ? rate_ : unknown_; }
  [[nodiscard]] bool speaks(std::uint64_t now) const noexcept { return heard_ != 0 && now < heard_ + kSilence; }
  /// More waits than should: its next word is wanted soon.
  [[nodiscard]] bool is_busy() const noexcept { return sent_ > kEmpty || fill_ > kEmpty; }

 private:
  static constexpr double kRise = 1.15, kFall = 0.75;
  static constexpr double kApart = 0.1;  // s; two words closer than that say nothing about a rate

  double line_, unknown_, rate_, fill_ = 0, sent_ = 0;
  std::uint64_t heard_ = 0;
};

}  // namespace pqcmav
