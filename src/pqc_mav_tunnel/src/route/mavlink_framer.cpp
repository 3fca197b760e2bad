// SPDX-License-Identifier: Apache-2.0
#include "route/mavlink_framer.hpp"

#include "route/x25.hpp"

namespace pqcmav {
namespace {

constexpr std::uint8_t kFrameMarker1 = 0xfe, kFrameMarker2 = 0xfd;
constexpr std::size_t kFrameHead1 = 6, kFrameHead2 = 10, kFrameSum = 2, kFrameSignature = 13;
constexpr std::uint8_t kFrameSigned = 1;  // the one incompatibility flag there is

}  // namespace

std::size_t MavlinkFramer::measure(ByteView bytes) noexcept {
  const bool second = bytes[0] == kFrameMarker2;
  if (!second && bytes[0] != kFrameMarker1) return 0;
  if (bytes.size() < (second ? 3 : 2)) return kMore;
  if (second && (bytes[2] & ~kFrameSigned) != 0) return 0;
  const auto checked = (second ? kFrameHead2 : kFrameHead1) + bytes[1];
  const auto size = checked + kFrameSum + (second && bytes[2] == kFrameSigned ? kFrameSignature : 0);
  if (bytes.size() < size) return kMore;
  const auto checksum = static_cast<std::uint16_t>(bytes[checked] | bytes[checked + 1] << 8);
  return x25_reachable(x25(bytes.subspan(1, checked - 1)), checksum) ? size : 0;
}

/// Leaves out the byte at the beginning and all up to the next one with which a frame may begin.
void MavlinkFramer::skip() noexcept {
  do {
    ++begin_;
    ++skipped_;
  } while (begin_ < end_ && buffer_[begin_] != kFrameMarker1 && buffer_[begin_] != kFrameMarker2);
  if (begin_ == end_) begin_ = end_ = 0;
}

/// Leaves an unfinished frame out if a sure one follows: its own end was lost.
bool MavlinkFramer::skip_to_sure() noexcept {
  for (auto at = begin_ + 1; sure_ != nullptr && at < end_; ++at) {
    if (!sure_(ByteView(buffer_).subspan(at, end_ - at))) continue;
    skipped_ += at - begin_;
    begin_ = at;
    return true;
  }
  return false;
}

/// Makes room behind what remains, which is less than a frame.
void MavlinkFramer::compact() noexcept {
  if (begin_ == 0) return;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
}

}  // namespace pqcmav
