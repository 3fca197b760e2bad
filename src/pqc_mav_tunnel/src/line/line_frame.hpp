// SPDX-License-Identifier: Apache-2.0
// Datagrams on a serial line as frames between zeros: line || datagram || CRC-16 in COBS (docs/protocol.md, Over a
// serial line). After any damage the next delimiter is a new beginning.
#pragma once

#include <cstring>

#include "constants.hpp"
#include "line/cobs.hpp"

namespace pqcmav {

/// The byte `line`: which way a datagram goes, and which drone's it is.
struct LineAddress {
  bool to_drone = false;
  std::uint8_t radio_id = 0;  // 7 bits

  [[nodiscard]] constexpr std::uint8_t byte() const noexcept {
    return static_cast<std::uint8_t>(radio_id | (to_drone ? 0x80u : 0u));
  }
  static constexpr LineAddress of(std::uint8_t byte) noexcept {
    return {(byte & 0x80u) != 0, static_cast<std::uint8_t>(byte & 0x7fu)};
  }
  friend bool operator==(const LineAddress&, const LineAddress&) = default;
};

inline constexpr std::size_t kLineCrc = 2, kLineAround = 1 + kLineCrc;
/// The longest frame, without its delimiter.
inline constexpr std::size_t kLineFrameMost = cobs_most(kLineDatagramMost + kLineAround);

/// Writes a frame with its delimiter, and returns its length. A datagram has at most kLineDatagramMost bytes; `out` has
/// room for kLineFrameMost + 1.
std::size_t write_line_frame(LineAddress line, ByteView datagram, MutableBytes out) noexcept;

class LineFrameReader {
 public:
  /// Visits the datagram of each frame that `bytes` complete: visit(LineAddress, MutableBytes), good during the visit.
  template <typename Visit>
  void feed(ByteView bytes, Visit visit) {
    while (!bytes.empty()) {
      const auto* const zero = static_cast<const std::uint8_t*>(std::memchr(bytes.data(), 0, bytes.size()));
      const auto size = zero == nullptr ? bytes.size() : static_cast<std::size_t>(zero - bytes.data());
      keep(bytes.first(size));
      if (zero == nullptr) return;
      bytes = bytes.subspan(size + 1);
      if (const auto inside = finish(); !inside.empty()) visit(LineAddress::of(inside[0]), inside.subspan(1));
    }
  }
  /// The line was cut: what had begun is forgotten.
  void reset() noexcept {
    size_ = 0;
    too_long_ = false;
  }
  /// Frames that were damaged, or are none.
  [[nodiscard]] std::uint64_t errors() const noexcept { return errors_; }

 private:
  void keep(ByteView bytes) noexcept;
  /// line || datagram of the frame that ends here; empty if it is none.
  [[nodiscard]] MutableBytes finish() noexcept;

  ByteArray<kLineFrameMost> frame_;
  std::size_t size_ = 0;
  bool too_long_ = false;
  std::uint64_t errors_ = 0;
};

}  // namespace pqcmav
