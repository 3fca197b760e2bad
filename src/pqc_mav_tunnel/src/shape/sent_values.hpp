// SPDX-License-Identifier: Apache-2.0
// Of each stream, when the value had come that last left: how much newer the next one is decides whose turn it is. Of the
// streams heard lately, in memory that is taken at construction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pqcmav {

class SentValues {
 public:
  explicit SentValues(std::size_t streams) : capacity_(streams) { sent_.reserve(streams); }

  /// 0: none left, or so many others did since that it is forgotten.
  [[nodiscard]] std::uint64_t of(std::uint64_t stream) const noexcept {
    const auto at = std::find_if(sent_.begin(), sent_.end(), [&](const auto& each) { return each.stream == stream; });
    return at == sent_.end() ? 0 : at->taken;
  }
  void left(std::uint64_t stream, std::uint64_t taken) noexcept {
    auto at = std::find_if(sent_.begin(), sent_.end(), [&](const auto& each) { return each.stream == stream; });
    if (at == sent_.end() && sent_.size() < capacity_) {
      sent_.push_back({stream, taken});
      return;
    }
    if (at == sent_.end())
      at = std::min_element(sent_.begin(), sent_.end(), [](const auto& a, const auto& b) { return a.taken < b.taken; });
    *at = {stream, taken};
  }

 private:
  struct Sent {
    std::uint64_t stream, taken;
  };
  std::size_t capacity_;
  std::vector<Sent> sent_;
};

}  // namespace pqcmav
