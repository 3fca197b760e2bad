// SPDX-License-Identifier: Apache-2.0
// What fuzz targets share.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "bytes.hpp"

namespace pqcmav {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Gives `stream` to feed(ByteView) in pieces of so many bytes, each in memory of its own, so that the sanitizer sees its
/// end.
template <typename Feed>
void feed_in_pieces(ByteView stream, std::size_t piece, Feed feed) {
  while (!stream.empty()) {
    const auto size = std::min(piece, stream.size());
    const Bytes copy(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size));
    feed(copy);
    stream = stream.subspan(size);
  }
}

}  // namespace pqcmav
