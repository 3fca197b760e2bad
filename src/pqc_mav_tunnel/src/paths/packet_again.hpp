// SPDX-License-Identifier: Apache-2.0
// Sealed packets that go a second time, a moment later: losses come in bursts, and where one path alone lives no other one
// has what it lost. The receiver's window drops the one that comes second. No socket, no clock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "bytes.hpp"

namespace pqcmav {

class PacketAgain {
 public:
  static constexpr std::uint64_t kAfter = 200'000'000;  // ns; asked for ten times a second
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};
  static constexpr std::size_t kPlaces = 16, kMost = 400;

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// What is longer, or one too many, goes once.
  void keep(ByteView packet, std::uint64_t now) noexcept {
    if (packet.size() > kMost || count_ == kPlaces) return;
    auto& place = places_[(first_ + count_++) % kPlaces];
    std::ranges::copy(packet, place.bytes.begin());
    place.size = packet.size();
    place.due = now + kAfter;
  }
  /// Gives out what is due by then, the oldest first.
  template <typename Send>
  void send_due(std::uint64_t by, Send send) {
    for (; count_ > 0 && places_[first_].due <= by; first_ = (first_ + 1) % kPlaces, --count_)
      send(ByteView(places_[first_].bytes).first(places_[first_].size));
  }

 private:
  struct Place {
    std::uint64_t due = 0;
    std::size_t size = 0;
    ByteArray<kMost> bytes{};
  };
  std::array<Place, kPlaces> places_{};
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace pqcmav
