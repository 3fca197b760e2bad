// SPDX-License-Identifier: Apache-2.0
// A fixed number of places for packets, each with room before and after the payload to seal it in place.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bytes.hpp"

namespace pqcmav {

class PacketPool {
 public:
  PacketPool(std::size_t places, std::size_t headroom, std::size_t capacity, std::size_t tailroom)
      : headroom_(headroom),
        capacity_(capacity),
        tailroom_(tailroom),
        stride_(headroom + capacity + tailroom),
        memory_(new std::uint8_t[places * stride_]) {  // not touched until used
    for (std::size_t i = places; i > 0; --i) free_.push_back(static_cast<std::uint16_t>(i - 1));
  }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// A free place. There must be one.
  std::uint16_t take() noexcept {
    const auto place = free_.back();
    free_.pop_back();
    return place;
  }
  /// Its bytes stay as they are until it is taken again.
  void give_back(std::uint16_t place) noexcept { free_.push_back(place); }
  [[nodiscard]] MutableBytes payload(std::uint16_t place, std::size_t size) noexcept {
    return {memory_.get() + place * stride_ + headroom_, size};
  }
  [[nodiscard]] MutableBytes with_room(std::uint16_t place, std::size_t size) noexcept {
    return {memory_.get() + place * stride_, headroom_ + size + tailroom_};
  }

 private:
  std::size_t headroom_, capacity_, tailroom_, stride_;
  std::unique_ptr<std::uint8_t[]> memory_;
  std::vector<std::uint16_t> free_;
};

}  // namespace pqcmav
