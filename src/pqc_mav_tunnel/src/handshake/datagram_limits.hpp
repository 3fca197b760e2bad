// SPDX-License-Identifier: Apache-2.0
// Which handshake datagrams are looked at when there are too many (docs/protocol.md section 13): addresses of running
// attempts and sessions first, then an equal share for each network. In fixed memory, whatever the number of sources.
//
// Time is cut into windows. In each window the datagrams of each source (hashed into buckets, with a new hash in each
// window) are counted; when a window had more than its budget, the equal share is what each bucket may have had so that
// the budget would have sufficed. A source that is above the share is thinned at random, so that who is behind the same
// address as a flood keeps his chance; all others pass.
#pragma once

#include <cstdint>
#include <vector>

#include "bytes.hpp"
#include "constants.hpp"

namespace pqcmav {

class DatagramLimits {
 public:
  explicit DatagramLimits(std::uint64_t seed, std::uint32_t per_second = kHandshakeDatagramsPerS);
  /// May this datagram be looked at? `source` is IPv6 or IPv4-mapped; `known`: the address of a running attempt or
  /// session. Never more than `per_second` a second.
  [[nodiscard]] bool admit(const ByteArray<16>& source, bool known, std::uint64_t now_ns);

 private:
  static constexpr std::size_t kBuckets = 4096;
  static constexpr std::uint64_t kWindowNs = 100'000'000;
  struct Table {
    std::vector<std::uint32_t> counts = std::vector<std::uint32_t>(kBuckets);
    std::uint64_t seed = 0;
    std::uint32_t total = 0;
    [[nodiscard]] std::uint32_t& of(std::uint64_t network) noexcept;
    void clear(std::uint64_t new_seed) noexcept;
  };
  /// One of the two priorities.
  struct Sources {
    Table now, before;
    double share = 0;            // datagrams of one bucket in a window
    std::uint32_t admitted = 0;  // in this window
  };

  void next_window(std::uint64_t now_ns);
  void set_share(Sources& sources, std::uint32_t budget) const;
  std::uint64_t random() noexcept;

  std::uint32_t budget_;    // datagrams in a window
  std::uint32_t reserved_;  // of these, what each priority has for itself
  std::uint32_t strangers_budget_;
  std::uint64_t state_, window_end_ns_ = 0;
  Sources known_, strangers_;
};

}  // namespace pqcmav
