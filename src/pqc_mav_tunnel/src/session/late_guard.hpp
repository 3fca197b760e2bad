// SPDX-License-Identifier: Apache-2.0
// Which packets may be out of date, so that a command that somebody held back is not carried out: those that were
// overtaken long ago, by their numbers and by when higher ones came, and those after a silence, until an answer to a
// question of then says what is new. No clock.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace pqcmav {

class LateGuard {
 public:
  static constexpr std::uint64_t kStep = 100'000'000;  // ns between two notes
  static constexpr std::size_t kSteps = 80;            // so far back it knows

  /// At least ten times a second: the key in use, and one above the highest of its numbers that came. That of the key
  /// before stays, for as long as its packets are taken.
  void note(std::uint64_t key, std::uint64_t next, std::uint64_t now) noexcept {
    if (key != newest_.key) {  // a handshake is an answer, too: what its keys seal is new
      if (doubted_) newest_.least = kAll;
      before_ = newest_;
      newest_ = {.key = key};
      doubted_ = false;
    }
    const auto step = now / kStep;
    auto& marks = newest_;
    if (marks.count > 0 && marks.steps[marks.last] == step) return;
    marks.last = (marks.last + 1) % kSteps;
    marks.steps[marks.last] = step;
    marks.next[marks.last] = next;
    marks.count += marks.count < kSteps ? 1 : 0;
  }
  /// A packet came after a silence. Whatever comes may be as old, until somebody answers what was asked from `since` on.
  void doubt(std::uint64_t since) noexcept {
    doubted_ = true;
    since_ = since;
  }
  [[nodiscard]] bool doubted() const noexcept { return doubted_; }
  /// The packet of this number answers what was asked at `asked`: those before it may be old, those after it are not.
  void answered(std::uint64_t key, std::uint64_t sequence, std::uint64_t asked) noexcept {
    if (!doubted_ || asked < since_ || (key != newest_.key && key != before_.key)) return;
    doubted_ = false;
    (key == newest_.key ? newest_ : before_).least = sequence;
    if (key == newest_.key) before_.least = kAll;
  }
  /// May it be out of date: from a time of doubt, or because a higher number than this one was here for `after` already?
  [[nodiscard]] bool is_late(std::uint64_t key, std::uint64_t sequence, std::uint64_t after,
                             std::uint64_t now) const noexcept {
    if (doubted_) return true;
    if (key != newest_.key && key != before_.key) return false;
    const auto& marks = key == newest_.key ? newest_ : before_;
    if (sequence < marks.least) return true;
    if (marks.count == 0 || sequence + 1 >= marks.next[marks.last]) return false;
    for (std::size_t i = 0; i < marks.count; ++i) {
      const auto at = (marks.last + kSteps - i) % kSteps;
      if ((marks.steps[at] + 1) * kStep + after <= now) return sequence + 1 < marks.next[at];
    }
    return false;
  }

 private:
  static constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();
  struct Marks {
    std::uint64_t key = 0;
    std::uint64_t least = 0;  // lower numbers are from a time of doubt
    std::array<std::uint64_t, kSteps> steps{}, next{};
    std::size_t last = 0, count = 0;
  };

  Marks newest_, before_;
  bool doubted_ = false;
  std::uint64_t since_ = 0;
};

}  // namespace pqcmav
