// SPDX-License-Identifier: Apache-2.0
// What was sent under which packet number: for round trips, and for the path that an echo proves.
#pragma once

#include <cstdint>
#include <deque>

namespace pqcmav {

class SentLog {
 public:
  static constexpr std::size_t kMost = 1024;  // four times the greatest window
  static constexpr std::uint32_t kNoFragment = ~std::uint32_t{0};

  struct Record {
    std::uint64_t at = 0;
    std::uint32_t fragment = kNoFragment;
    std::uint16_t size = 0;
    std::uint8_t path = 0;
    bool echoed = false;
  };

  explicit SentLog(std::uint32_t first_packet) noexcept : first_(first_packet) {}
  [[nodiscard]] std::uint32_t next_packet() const noexcept {
    return first_ + static_cast<std::uint32_t>(records_.size());
  }
  void add(const Record& record) {
    records_.push_back(record);
    if (records_.size() <= kMost) return;
    records_.pop_front();
    ++first_;
  }
  /// nullptr: never sent, or too long ago.
  [[nodiscard]] Record* find(std::uint32_t packet) noexcept {
    return packet >= first_ && packet < next_packet() ? &records_[packet - first_] : nullptr;
  }

 private:
  std::uint32_t first_;
  std::deque<Record> records_;
};

}  // namespace pqcmav
