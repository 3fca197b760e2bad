// SPDX-License-Identifier: Apache-2.0
// What a receiver can say of a link from arrivals and sequence numbers: rates, gaps, silence, jitter, loss, blackouts
// over a sliding window.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "constants.hpp"
#include "session/control_frame.hpp"

namespace pqcmav {

/// One thread. Times are monotonic nanoseconds. Memory grows with the rate up to a limit, and stays.
///
/// The window is kept in slots of 100 ms in which something came, the newest of which is still filling: it covers the last
/// 4.9-5.0 s, and the report says how much (less after the first packet). What the figures mean:
///  * gap: time between one packet and the next, counted when it ends. p95 is the nearest rank out of a log-spaced
///  histogram (within 10 % or 4 us).
///  * longest silence: the longest gap that ended in the window, or the one now under way.
///  * jitter: mean absolute difference of successive gaps.
///  * loss: sequence numbers skipped within the range a key has shown, less those that came late while their gap was
///    still in the window, over all that were due. Ranges are per key, and the key before the current one is still
///    followed, so that neither a new key nor its overlap with the old one counts as loss.
///  * blackout: a silence longer than kBlackout, ended in the window or under way. Three fit into a window at most.
/// docs/protocol.md section 6 defines them.
class LinkEstimator {
 public:
  LinkEstimator() noexcept = default;
  /// What a packet said of those before it: so many were skipped, or it was skipped itself and came late.
  struct Arrival {
    std::uint64_t skipped = 0;
    bool late = false;
  };
  /// One genuine packet. `key_tag` tells keys apart (any number that changes with session or epoch). A sequence must
  /// not be given twice.
  Arrival on_packet(std::uint64_t now_ns, std::uint64_t key_tag, std::uint64_t sequence) noexcept;
  /// A packet came that the peer sent to this address alone; and the peer says that there were so many. Those that went to
  /// other addresses were never due here.
  void on_aside(std::uint64_t key_tag) noexcept;
  void on_aside_told(std::uint64_t now_ns, std::uint64_t key_tag, std::uint64_t count) noexcept;
  /// Whether a sequence that came before is one of the last 100-200 ms: what comes twice by then was doubled by the
  /// network, or somebody repeats at once what he hears.
  [[nodiscard]] bool lately(std::uint64_t now_ns, std::uint64_t key_tag, std::uint64_t sequence) const noexcept;
  /// The report for the window that ends now; `drops` is left to the caller.
  [[nodiscard]] LinkReport report(std::uint64_t now_ns) const noexcept;

 private:
  static constexpr std::size_t kSlots = 50;
  static constexpr std::size_t kBuckets = 128;
  /// The sequence numbers that one key advanced over during one slot, so that a late packet finds the slot its gap was
  /// charged to.
  struct Range {
    std::uint64_t first, last;
  };
  /// The buckets of the first gaps, and a histogram from when there are more of them. In that a bucket is a byte: when
  /// one is full all are halved, and from then on only one gap in two, in four, ... is counted, as that many.
  struct Gaps {
    using Histogram = std::array<std::uint8_t, kBuckets>;
    std::unique_ptr<Histogram> counts;
    std::uint32_t came = 0;
    std::uint8_t shift = 0;
    std::array<std::uint8_t, 11> first{};
    void add(std::size_t bucket) noexcept;
    void clear() noexcept;
    /// Calls with each bucket that has some, and how many.
    template <typename Each>
    void for_each(Each each) const {
      if (counts) {
        for (std::size_t b = 0; b < kBuckets; ++b) each(b, std::uint64_t{(*counts)[b]} << shift);
      } else {
        for (std::size_t i = 0; i < came; ++i) each(std::size_t{first[i]}, std::uint64_t{1});
      }
    }

   private:
    void count(std::size_t bucket) noexcept;
  };
  /// Up to fifty of them are most of what a drone takes, so nothing is wider than it has to be.
  struct Slot {
    std::uint64_t index = 0;
    std::uint64_t missing = 0, longest_gap_ns = 0, jitter_sum_ns = 0;
    std::array<Range, 2> ranges{};
    std::array<std::uint32_t, 2> range_keys{};  // Key::number of each; 0: none
    std::uint32_t packets = 0, jitter_samples = 0;
    std::uint8_t blackouts = 0;
    Gaps gaps;
  };
  struct Key {
    std::uint64_t tag, lowest, highest;
    std::uint32_t number;  // of each new one another; 0: none
    std::uint64_t aside_heard, aside_forgiven;
  };

  Slot& slot_at(std::uint64_t now_ns) noexcept;
  [[nodiscard]] bool live(const Slot& slot, std::uint64_t now_ns) const noexcept;
  Arrival on_sequence(Slot& slot, std::uint64_t now_ns, std::uint64_t key_tag, std::uint64_t sequence) noexcept;
  void on_late(std::uint64_t now_ns, std::size_t key, std::uint64_t sequence) noexcept;

  std::vector<Slot> slots_;      // in no order
  std::size_t newest_slot_ = 0;  // which of them was the last to be asked for
  std::array<Key, 2> keys_{};    // the newest key and the one before it, in no order
  std::size_t newest_key_ = 0;   // which of the two is the newest
  std::uint32_t last_number_ = 0;
  std::uint64_t first_arrival_ns_ = 0, last_arrival_ns_ = 0, last_gap_ns_ = 0, gaps_seen_ = 0;
  bool seen_ = false;
};

}  // namespace pqcmav
