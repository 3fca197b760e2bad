// SPDX-License-Identifier: Apache-2.0
// One timer for each of many numbered things. What is set again leaves its former entry behind, which is passed over
// when its time comes: cheaper than finding it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

namespace pqcmav::fleet {

class TimerHeap {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  explicit TimerHeap(std::size_t count) : due_(count, kNever) {}

  /// From now on the timer of that number rings at `due`, or never.
  void set(std::size_t number, std::uint64_t due) {
    if (due_[number] == due) return;
    due_[number] = due;
    if (due != kNever) queue_.emplace(due, number);
  }
  /// The next one that has rung and when it was due; it is set no longer.
  std::optional<std::pair<std::uint64_t, std::size_t>> take(std::uint64_t now) {
    if (next() > now) return std::nullopt;
    const auto rung = queue_.top();
    queue_.pop();
    due_[rung.second] = kNever;
    return rung;
  }
  [[nodiscard]] std::uint64_t next() {
    while (!queue_.empty() && due_[queue_.top().second] != queue_.top().first) queue_.pop();
    return queue_.empty() ? kNever : queue_.top().first;
  }

 private:
  using Entry = std::pair<std::uint64_t, std::size_t>;
  std::vector<std::uint64_t> due_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

}  // namespace pqcmav::fleet
