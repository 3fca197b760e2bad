// SPDX-License-Identifier: Apache-2.0
// How many datagrams of a message may be on their way, and how far apart they leave (docs/protocol.md section 5,
// rule 9).
#pragma once

#include <algorithm>
#include <cstdint>

#include "handshake/rtt_estimator.hpp"

namespace pqcmav {

class SendWindow {
 public:
  /// `next_packet` is the number the next datagram will have; `doubling`: it doubles in each round until it is crowded.
  SendWindow(std::uint32_t size, bool doubling, std::uint32_t next_packet) noexcept
      : size_(size), doubling_(doubling), round_end_(next_packet) {}
  void widen(std::uint32_t least) noexcept { size_ = std::max(size_, double(least)); }
  [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(size_); }
  /// ns from one datagram to the next.
  [[nodiscard]] std::uint64_t gap(const RttEstimator& rtt) const noexcept;

  void on_sent() noexcept { ++sent_; }
  void on_lost() noexcept { ++lost_; }
  void on_rtt(std::uint64_t rtt) noexcept;
  /// After all that an acknowledgement says was taken.
  void on_ack(std::uint32_t echo, std::uint32_t next_packet, const RttEstimator& rtt) noexcept;

 private:
  [[nodiscard]] bool crowded(const RttEstimator& rtt) noexcept;

  double size_, least_loss_ = 1.0;
  bool doubling_;
  std::uint32_t round_end_, sent_ = 0, lost_ = 0;
  std::uint64_t round_least_ = ~std::uint64_t{0};
};

}  // namespace pqcmav
