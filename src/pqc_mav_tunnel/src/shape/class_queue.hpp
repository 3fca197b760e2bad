// SPDX-License-Identifier: Apache-2.0
// The packets of one class that wait, first in, first out unless another one is picked. A newer value of a stream takes
// the place of the queued one.
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
    std::optional<std::uint64_t> stream = std::nullopt;
    std::uint64_t since = 0;  // of a stream: since its place is queued
    bool corrections = false;
    std::uint64_t taken = 0;   // when its newest value came
    std::uint64_t before = 0;  // and when the one that last left had come; 0: none did
    std::optional<std::uint32_t> signer = std::nullopt;
    std::uint64_t order = 0;  // in which its newest value came, among those of all classes
    bool twice = false;       // as in Treatment
    bool file = false;        // likewise
    /// What it brings: how much newer it is than what the other end has.
    [[nodiscard]] std::uint64_t news() const noexcept { return before == 0 ? ~std::uint64_t{0} : taken - before; }
  };

  explicit ClassQueue(std::size_t capacity) : capacity_(capacity) { waiting_.reserve(capacity); }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  [[nodiscard]] bool full() const noexcept { return waiting_.size() == capacity_; }
  [[nodiscard]] std::size_t free_percent() const noexcept { return 100 * (capacity_ - waiting_.size()) / capacity_; }
  /// The one that pop() gives.
  [[nodiscard]] const Waiting& front() const noexcept { return waiting_[picked_]; }
  [[nodiscard]] const Waiting& oldest() const noexcept { return waiting_.front(); }
  /// Until something is taken out: the one with the most news is next; the oldest where it was queued by `since`.
  void pick(std::uint64_t since) noexcept {
    const auto best = std::max_element(waiting_.begin(), waiting_.end(),
                                       [](const auto& a, const auto& b) { return a.news() < b.news(); });
    picked_ = oldest().since <= since ? 0 : static_cast<std::size_t>(best - waiting_.begin());
  }
  /// Likewise among those of at most `size` bytes whose order nobody checks; false if there is none.
  bool pick_small(std::size_t size) noexcept {
    const Waiting* best = nullptr;
    for (const auto& each : waiting_)
      if (each.size <= size && !each.signer && (best == nullptr || each.news() > best->news())) best = &each;
    if (best != nullptr) pick(*best);
    return best != nullptr;
  }
  /// Again the oldest is next.
  void unpick() noexcept { picked_ = 0; }
  /// Of a signer's packets the one that came before all others; nullptr without any.
  [[nodiscard]] const Waiting* first_of(std::uint32_t signer) const noexcept {
    const Waiting* first = nullptr;
    for (const auto& each : waiting_)
      if (each.signer == signer && (first == nullptr || each.order < first->order)) first = &each;
    return first;
  }
  /// Until something is taken out it is next: a packet of this queue.
  void pick(const Waiting& packet) noexcept { picked_ = static_cast<std::size_t>(&packet - waiting_.data()); }
  /// The queued one of a stream, or nullptr.
  Waiting* find(std::uint64_t stream) noexcept {
    const auto at =
        std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& each) { return each.stream == stream; });
    return at == waiting_.end() ? nullptr : &*at;
  }
  [[nodiscard]] std::size_t files() const noexcept {
    return static_cast<std::size_t>(std::ranges::count(waiting_, true, &Waiting::file));
  }
  /// Takes out what a newer packet may push out of a full queue. Pieces of files and others have half of it for sure. Of
  /// a file the newest goes, which fills no gap; of the others the oldest. Nothing if the newer one is to go itself.
  std::optional<Waiting> make_room(bool for_file) noexcept {
    const auto of_files = 2 * files(), all = waiting_.size();
    if (for_file && of_files >= all) return std::nullopt;
    const auto found = of_files > all
                           ? std::ranges::find(waiting_.rbegin(), waiting_.rend(), true, &Waiting::file).base() - 1
                           : std::ranges::find(waiting_, false, &Waiting::file);
    pick(*found);
    return pop();
  }
  /// There must be room.
  void push(const Waiting& packet) noexcept { waiting_.push_back(packet); }
  Waiting pop() noexcept {
    const auto out = front();
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(picked_));
    picked_ = 0;
    return out;
  }
  /// Takes out and visits the satellite receiver's corrections that were queued before `since`.
  template <typename Visit>
  void expire_corrections(std::uint64_t since, Visit visit) noexcept {
    picked_ = 0;
    std::erase_if(waiting_, [&](const Waiting& each) {
      const bool old = each.corrections && each.since < since;
      if (old) visit(each);
      return old;
    });
  }

 private:
  std::size_t capacity_, picked_ = 0;
  std::vector<Waiting> waiting_;
};

}  // namespace pqcmav
