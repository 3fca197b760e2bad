// SPDX-License-Identifier: Apache-2.0
// Several datagrams as the content of one frame (docs/protocol.md section 10): each with its length before it.
#pragma once

#include <array>
#include <cstddef>

#include "bytes.hpp"

namespace pqcmav {

inline constexpr std::size_t kBundleMost = 64;  // datagrams
inline constexpr std::size_t kBundleLongest = 0x7fff, kBundleShort = 0x7f;

/// Bytes of the length in front of a datagram.
[[nodiscard]] constexpr std::size_t bundle_prefix(std::size_t size) noexcept { return size <= kBundleShort ? 1 : 2; }
/// Writes it; `size` is at most kBundleLongest.
void write_bundle_prefix(std::size_t size, std::uint8_t* out) noexcept;

/// The datagrams of one bundle, as views into it.
struct BundleParts {
  std::array<MutableBytes, kBundleMost> items;
  std::size_t count = 0;
};
/// False when the content is malformed: then nothing of it is to be delivered, and `out` is empty.
bool parse_bundle(MutableBytes content, BundleParts& out) noexcept;

}  // namespace pqcmav
