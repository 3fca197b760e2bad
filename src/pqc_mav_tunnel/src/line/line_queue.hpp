// SPDX-License-Identifier: Apache-2.0
// Datagrams of one drone that wait for a serial line. When there are too many, or they are too old, the oldest goes: old
// telemetry is worth nothing, and a handshake repeats. All memory is taken at construction.
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "bytes.hpp"
#include "constants.hpp"

namespace pqcmav {

class LineQueue {
 public:
  static constexpr std::size_t kPlaces = 32;
  static constexpr std::uint64_t kAge = 1'000'000'000;  // ns

  /// `datagram` has at most kLineDatagramMost bytes. Returns how many were dropped for it.
  std::size_t push(ByteView datagram, std::uint64_t now) noexcept {
    const std::size_t dropped = count_ == kPlaces ? 1 : 0;
    if (dropped != 0) pop();
    auto& place = (*places_)[(first_ + count_++) % kPlaces];
    std::copy(datagram.begin(), datagram.end(), place.bytes.begin());
    place.size = datagram.size();
    place.since = now;
    bytes_ += place.size;
    return dropped;
  }
  /// Drops what is too old, and returns how many.
  std::size_t expire(std::uint64_t now) noexcept {
    std::size_t dropped = 0;
    for (; count_ != 0 && now - std::min(now, (*places_)[first_].since) > kAge; ++dropped) pop();
    return dropped;
  }
  std::size_t clear() noexcept {
    const auto dropped = count_;
    while (count_ != 0) pop();
    return dropped;
  }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] ByteView front() const noexcept {
    return ByteView((*places_)[first_].bytes).first((*places_)[first_].size);
  }
  void pop() noexcept {
    bytes_ -= (*places_)[first_].size;
    first_ = (first_ + 1) % kPlaces;
    --count_;
  }

 private:
  struct Place {
    std::size_t size = 0;
    std::uint64_t since = 0;
    ByteArray<kLineDatagramMost> bytes;
  };
  std::unique_ptr<std::array<Place, kPlaces>> places_ = std::make_unique<std::array<Place, kPlaces>>();
  std::size_t first_ = 0, count_ = 0, bytes_ = 0;
};

}  // namespace pqcmav
