// SPDX-License-Identifier: Apache-2.0
// Answers to commands go twice over a radio, whose losses come in bursts: the same sealed packet, a moment apart. The
// data thread hands it over twice in a row, which is the sign for it; the other end's port drops the one that comes
// second, so that no session sees a replay (docs/protocol.md, Over a serial line). No socket, no clock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "bytes.hpp"

namespace pqcmav {

/// A short packet of a session: a handshake's copies have a meaning of their own.
struct LinePacket {
  static constexpr std::size_t kMost = 200;
  std::size_t size = 0;
  std::uint64_t due = 0;
  ByteArray<kMost> bytes;

  [[nodiscard]] static bool fits(ByteView datagram) noexcept {
    return !datagram.empty() && datagram.size() <= kMost && (datagram[0] < 0x30 || datagram[0] >= 0x80);
  }
  [[nodiscard]] ByteView view() const noexcept { return ByteView(bytes).first(size); }
  void assign(ByteView datagram) noexcept {
    std::copy(datagram.begin(), datagram.end(), bytes.begin());
    size = datagram.size();
  }
};

/// Of one drone, towards the air.
class LineAgain {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  // ns: with the first packet that leaves after the one, alone after the other. A transmission of its own would take its
  // turn from the other end, for they share the air.
  static constexpr std::uint64_t kAfter = 200'000'000, kAfterMost = 400'000'000;
  static constexpr std::size_t kPlaces = 8;

  /// True for the packet that was taken just before: it goes again, if few others do.
  bool take(ByteView datagram, std::uint64_t now) noexcept {
    if (!LinePacket::fits(datagram) || !std::ranges::equal(last_.view(), datagram)) {
      last_.size = 0;
      if (LinePacket::fits(datagram)) last_.assign(datagram);
      return false;
    }
    if (count_ == kPlaces) return true;
    auto& place = places_[(first_ + count_++) % kPlaces];
    place.assign(datagram);
    place.due = now + kAfterMost;
    return true;
  }
  [[nodiscard]] std::uint64_t due() const noexcept { return count_ == 0 ? kNever : places_[first_].due; }
  /// The next one that is due; `company`: that may go with another packet. Good until the next call.
  std::optional<ByteView> next(std::uint64_t now, bool company) noexcept {
    if (count_ == 0 || due() - (company ? kAfterMost - kAfter : 0) > now) return std::nullopt;
    const auto& place = places_[first_];
    first_ = (first_ + 1) % kPlaces;
    --count_;
    return place.view();
  }
  void clear() noexcept { count_ = 0; }

 private:
  LinePacket last_;
  std::array<LinePacket, kPlaces> places_{};
  std::size_t first_ = 0, count_ = 0;
};

/// From the air: the last few short packets, by which a second copy is known.
class LineCopies {
 public:
  static constexpr std::size_t kPlaces = 64;  // more than come within LineAgain::kAfter and a radio's hiccup

  /// True if the same one came a moment ago.
  bool is_copy(ByteView datagram) noexcept {
    if (!LinePacket::fits(datagram)) return false;
    const auto same = [&](const LinePacket& each) { return std::ranges::equal(each.view(), datagram); };
    if (std::ranges::any_of(places_, same)) return true;
    places_[next_++ % kPlaces].assign(datagram);
    return false;
  }

 private:
  std::array<LinePacket, kPlaces> places_{};
  std::size_t next_ = 0;
};

}  // namespace pqcmav
