// SPDX-License-Identifier: Apache-2.0
// Which handshake datagrams are looked at when there are too many (docs/protocol.md section 13): addresses of running
// attempts and sessions first, then an equal share for each network. In fixed memory, whatever the number of sources.
//
// Time is cut into windows, sources are hashed into buckets, with a new hash in each window. Two rules:
// * A bucket may have at most as much of a window's budget as is still left: n floods get 1/(n+1) each, from their first
//   datagram on, and as much stays for the quiet.
// * Sources that sent more than their share of the last window are thinned at random over the whole of this one, so
//   that who is behind the same address as a flood has the same chance as the flood.
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
  struct Bucket {
    std::uint32_t came = 0, admitted = 0;
  };
  struct Window {
    std::vector<Bucket> buckets = std::vector<Bucket>(kBuckets);
    std::uint64_t seed = 0;
    std::uint32_t came = 0, admitted = 0;
    [[nodiscard]] Bucket& of(std::uint64_t network) noexcept;
    void clear(std::uint64_t new_seed) noexcept;
  };
  /// One of the two priorities.
  struct Sources {
    Window now, before;
    std::uint32_t budget = 0;
    double share = 0;  // datagrams of one bucket in a window
  };

  void next_window(std::uint64_t now_ns);
  void set_share(Sources& sources) const;
  std::uint64_t random() noexcept;

  std::uint32_t budget_;    // datagrams in a window
  std::uint32_t reserved_;  // of these, what each priority has for itself
  std::uint64_t state_, window_end_ns_ = 0;
  Sources known_, strangers_;
};

}  // namespace pqcmav
