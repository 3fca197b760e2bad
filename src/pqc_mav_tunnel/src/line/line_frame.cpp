// SPDX-License-Identifier: Apache-2.0
#include "line/line_frame.hpp"

#include "route/x25.hpp"

namespace pqcmav {

std::size_t write_line_frame(LineAddress line, ByteView datagram, MutableBytes out) noexcept {
  ByteArray<kLineDatagramMost + kLineAround> inside;
  inside[0] = line.byte();
  if (!datagram.empty()) std::memcpy(inside.data() + 1, datagram.data(), datagram.size());
  const auto summed = 1 + datagram.size();
  store_be(inside.data() + summed, x25(ByteView(inside).first(summed)));
  const auto size = cobs_encode(ByteView(inside).first(summed + kLineCrc), out);
  out[size] = 0;
  return size + 1;
}

void LineFrameReader::keep(ByteView bytes) noexcept {
  if (bytes.empty()) return;
  too_long_ = too_long_ || bytes.size() > frame_.size() - size_;
  if (too_long_) return;
  std::memcpy(frame_.data() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
}

MutableBytes LineFrameReader::finish() noexcept {
  const auto encoded = MutableBytes(frame_).first(size_);
  const bool nothing = size_ == 0 && !too_long_;
  const auto size = too_long_ ? std::nullopt : cobs_decode(encoded);
  reset();
  if (size && *size >= kLineAround && *size <= kLineDatagramMost + kLineAround) {
    const auto inside = encoded.first(*size - kLineCrc);
    if (x25(inside) == load_be<std::uint16_t>(inside.data() + inside.size())) return inside;
  }
  if (!nothing) ++errors_;
  return {};
}

}  // namespace pqcmav
