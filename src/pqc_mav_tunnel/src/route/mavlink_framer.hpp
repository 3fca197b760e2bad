// SPDX-License-Identifier: Apache-2.0
// MAVLink messages, versions 1 and 2, out of a stream of bytes: a serial line or a TCP connection.
//
// No message is known here, so a frame is what looks like one: a start marker, flags that exist, as many bytes as its
// length says, and a checksum that some CRC_EXTRA could have made. What does not look like one is skipped byte by byte
// and counted, so a false start in noise costs no byte of a real frame. It can hold the frames behind it up until its
// supposed length has arrived, 280 bytes at most, or until the line has been silent for a while. Frames that their reader
// knows for sure do not wait for that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "bytes.hpp"

namespace pqcmav {

class MavlinkFramer {
 public:
  static constexpr std::size_t kFrameMax = 12 + 255 + 13;
  // Longer than the pauses within a frame that drivers of serial ports make (FTDI: 16 ms).
  static constexpr std::uint64_t kSilenceNs = 100'000'000;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  /// Whether the bytes begin with a whole frame that is one beyond doubt.
  using Sure = bool (*)(ByteView bytes) noexcept;

  explicit MavlinkFramer(std::uint64_t silence_ns = kSilenceNs, Sure sure = nullptr) noexcept
      : silence_ns_(silence_ns), sure_(sure) {}

  /// Visits each frame that `bytes` complete, in order. A view is good during the visit.
  template <typename Visit>
  void feed(ByteView bytes, std::uint64_t now, Visit visit) {
    if (!bytes.empty()) heard_ns_ = now;
    while (!bytes.empty()) {
      // A sure frame comes out with its last byte, whatever the pieces that the bytes came in.
      const auto size = sure_ != nullptr ? 1 : std::min(bytes.size(), buffer_.size() - end_);
      std::memcpy(buffer_.data() + end_, bytes.data(), size);
      end_ += size;
      bytes = bytes.subspan(size);
      scan(visit);
    }
  }
  /// When poll() is to be called: after a silence that leaves a frame unfinished.
  [[nodiscard]] std::uint64_t due() const noexcept { return end_ == 0 ? kNever : heard_ns_ + silence_ns_; }
  /// Gives up what has not been finished; real frames behind a false start come out.
  template <typename Visit>
  void poll(std::uint64_t now, Visit visit) {
    while (due() <= now) {
      skip();
      scan(visit);
    }
  }
  /// Forgets what has begun: the line was cut.
  void reset() noexcept {
    skipped_ += end_;
    begin_ = end_ = 0;
  }
  /// Bytes so far that were no part of a frame.
  [[nodiscard]] std::uint64_t skipped() const noexcept { return skipped_; }

 private:
  /// How long the frame at the beginning is: 0 = it is none, kMore = that cannot be said yet.
  static constexpr std::size_t kMore = ~std::size_t{0};
  [[nodiscard]] static std::size_t measure(ByteView bytes) noexcept;
  void skip() noexcept;
  [[nodiscard]] bool skip_to_sure() noexcept;
  void compact() noexcept;

  template <typename Visit>
  void scan(Visit& visit) {
    while (begin_ < end_) {
      const auto size = measure(ByteView(buffer_).subspan(begin_, end_ - begin_));
      if (size == kMore) {
        if (!skip_to_sure()) break;
        continue;
      }
      if (size == 0) {
        skip();
        continue;
      }
      visit(ByteView(buffer_).subspan(begin_, size));
      begin_ += size;
    }
    compact();
  }

  const std::uint64_t silence_ns_;
  const Sure sure_;
  ByteArray<4 * kFrameMax> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t heard_ns_ = 0, skipped_ = 0;
};

}  // namespace pqcmav
