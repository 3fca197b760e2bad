// SPDX-License-Identifier: Apache-2.0
// How a message of some length is cut into fragments, and which of them are parity (docs/protocol.md section 5).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "handshake/handshake_datagram.hpp"

namespace pqcmav {

/// Fragments 0..count-1 are the message, count..all()-1 the XOR of one group of four each.
struct FragmentLayout {
  static constexpr std::uint32_t kGroup = 4, kParityMost = 16;

  std::uint32_t total = 0, size = 0, count = 0, groups = 0;

  /// nullopt for a size that the protocol does not have.
  static std::optional<FragmentLayout> of(std::uint32_t total, std::uint32_t size) noexcept {
    if (total == 0 || size == 0) return std::nullopt;
    if (total <= size) return FragmentLayout{total, size, 1, 0};
    if (size < kFragmentSizeLeast || size > kFragmentSizeMost) return std::nullopt;
    const auto count = (total + size - 1) / size;
    // A group of one would only be sent twice.
    const auto groups = count <= kParityMost ? count / kGroup + (count % kGroup >= 2 ? 1 : 0) : 0;
    return FragmentLayout{total, size, count, groups};
  }

  [[nodiscard]] std::uint32_t all() const noexcept { return count + groups; }
  [[nodiscard]] bool is_parity(std::uint32_t index) const noexcept { return index >= count; }
  [[nodiscard]] std::uint32_t offset(std::uint32_t index) const noexcept { return index * size; }
  /// In bytes; `index` below all().
  [[nodiscard]] std::uint32_t length(std::uint32_t index) const noexcept {
    return is_parity(index) ? size : std::min(size, total - offset(index));
  }
  [[nodiscard]] std::uint32_t group_begin(std::uint32_t group) const noexcept { return group * kGroup; }
  [[nodiscard]] std::uint32_t group_end(std::uint32_t group) const noexcept {
    return std::min(count, (group + 1) * kGroup);
  }
  /// The order of first sending: each group's parity follows the group.
  [[nodiscard]] std::uint32_t nth(std::uint32_t position) const noexcept {
    if (groups == 0) return position;
    const auto group = position / (kGroup + 1), within = position % (kGroup + 1);
    const auto begin = group_begin(group);
    return group < groups && begin + within >= group_end(group) ? count + group : begin + within;
  }
};

}  // namespace pqcmav
