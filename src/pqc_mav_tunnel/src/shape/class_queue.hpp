// SPDX-License-Identifier: Apache-2.0
// The packets of one class that wait, first in, first out. A newer value of a stream takes the place of the queued one,
// so that streams go round robin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace pqcmav {

class ClassQueue {
 public:
  struct Waiting {
    std::uint16_t place = 0;  // in the pool
    std::size_t size = 0;
    std::optional<std::uint64_t> stream;
    std::uint64_t since = 0;  // of a stream: since its place is queued
    bool corrections = false;
  };

  explicit ClassQueue(std::size_t capacity) : capacity_(capacity) { waiting_.reserve(capacity); }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  [[nodiscard]] bool full() const noexcept { return waiting_.size() == capacity_; }
  [[nodiscard]] const Waiting& front() const noexcept { return waiting_.front(); }
  /// The queued one of a stream, or nullptr.
  Waiting* find(std::uint64_t stream) noexcept {
    const auto at =
        std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& each) { return each.stream == stream; });
    return at == waiting_.end() ? nullptr : &*at;
  }
  /// There must be room.
  void push(const Waiting& packet) noexcept { waiting_.push_back(packet); }
  Waiting pop() noexcept {
    const auto out = waiting_.front();
    waiting_.erase(waiting_.begin());
    return out;
  }
  /// Takes out and visits the satellite receiver's corrections that were queued before `since`.
  template <typename Visit>
  void expire_corrections(std::uint64_t since, Visit visit) noexcept {
    std::erase_if(waiting_, [&](const Waiting& each) {
      const bool old = each.corrections && each.since < since;
      if (old) visit(each);
      return old;
    });
  }

 private:
  std::size_t capacity_;
  std::vector<Waiting> waiting_;
};

}  // namespace pqcmav
