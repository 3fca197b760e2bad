// SPDX-License-Identifier: Apache-2.0
// Consistent overhead byte stuffing (Cheshire and Baker, 1997): bytes without a zero among them, so that a zero can end
// a frame. It costs one byte, and one more for each 254 bytes without a zero.
#pragma once

#include <cstddef>
#include <optional>

#include "bytes.hpp"

namespace pqcmav {

/// What `size` bytes become at most.
constexpr std::size_t cobs_most(std::size_t size) noexcept { return size + size / 254 + 1; }

/// Writes the encoded bytes, and no delimiter. `out` has room for cobs_most(in.size()).
std::size_t cobs_encode(ByteView in, MutableBytes out) noexcept;
/// Decodes in place and returns the length; nullopt for what is no encoding of anything.
std::optional<std::size_t> cobs_decode(MutableBytes bytes) noexcept;

}  // namespace pqcmav
