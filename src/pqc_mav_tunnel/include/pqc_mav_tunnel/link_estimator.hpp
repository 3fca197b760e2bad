// What a receiver can say of a link from arrivals and sequence numbers: rates, gaps, silence, jitter, loss, blackouts over a sliding window.
#pragma once

#include <array>
#include <cstdint>

#include "pqc_mav_tunnel/constants.hpp"
#include "pqc_mav_tunnel/control.hpp"

namespace pqcmav {

/// Fixed memory, no allocation after construction; one thread. Times are monotonic nanoseconds. The window (5 s) is kept in slots of 100 ms;
/// gaps in a log-spaced histogram (relative error <= 10 %). A blackout is a silence longer than 1 s. A change of key (new session or epoch) must not count as loss.
class LinkEstimator {
 public:
  LinkEstimator() noexcept;
  /// One genuine packet. `key_tag` tells keys apart (any number that changes with session or epoch).
  void on_packet(std::uint64_t now_ns, std::uint64_t key_tag, std::uint64_t sequence) noexcept;
  /// The report for the window that ends now; `drops` is left to the caller.
  [[nodiscard]] LinkReport report(std::uint64_t now_ns) noexcept;

 private:
  static constexpr std::size_t kSlots = 50;
  static constexpr std::size_t kBuckets = 128;
  struct Slot {
    std::uint64_t index = ~std::uint64_t{0};
    std::uint32_t packets = 0, expected = 0, blackouts = 0;
    std::uint64_t longest_gap_ns = 0, jitter_sum_ns = 0;
    std::array<std::uint16_t, kBuckets> gaps{};
  };
  Slot& slot_at(std::uint64_t now_ns) noexcept;
  std::array<Slot, kSlots> slots_{};
  std::uint64_t last_arrival_ns_ = 0, last_gap_ns_ = 0, key_tag_ = 0, highest_ = 0;
  bool seen_ = false;
};

}  // namespace pqcmav
