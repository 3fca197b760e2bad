// SPDX-License-Identifier: Apache-2.0
// What a link carries, found from what the other end says arrived. Loss by itself says nothing here: a link is full when
// packets wait in it and fewer arrive than were sent. No socket and no clock: times are arguments, in ns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace pqcmav {

class RateFinder {
 public:
  /// The other end's word: the highest packet that it verified, when that came by its own clock, and how many bytes came
  /// in all, with their IP and UDP headers.
  struct Arrived {
    std::uint64_t highest, at, bytes;
  };

  static constexpr double kFloorPart = 8, kLeastKbit = 8;
  static constexpr std::size_t kSamplesMost = 512;
  static constexpr std::uint64_t kHold = 5'000'000'000;     // at what was measured, before more is tried
  static constexpr std::uint64_t kClosed = 60'000'000'000;  // after shaping in vain

  /// A packet left; `bytes` is what left in all.
  void on_sent(std::uint64_t sequence, std::uint64_t bytes, std::uint64_t now) noexcept;
  /// `waiting`: since the last word something waited for the rate.
  void on_arrived(const Arrived& word, bool waiting, std::uint64_t now) noexcept;
  /// Another session, or another path: nothing of what was seen holds. A rate that was found stays until it is known
  /// better.
  void forget() noexcept;
  /// What may leave now; 0: the link is not full, all of it.
  [[nodiscard]] std::uint32_t kbit(std::uint64_t now) noexcept;

 private:
  struct Sent {
    std::uint64_t sequence, bytes, at;
  };
  /// The lower parts of one, the time in 16 us: all are near the newest. Half of what a gcs keeps of a drone were these.
  struct Short {
    std::uint32_t sequence, bytes, at;
  };
  /// A word beside what was known of the packet that it is about.
  struct Seen {
    std::uint64_t sent_at, sent_bytes, arrived_at, arrived_bytes;
    double queue;  // ms
  };

  struct Carried {
    double carried, offered;  // kbit/s
  };

  void make_room(std::uint64_t now) noexcept;
  [[nodiscard]] Carried between(const Seen& from, const Seen& to) const noexcept;
  [[nodiscard]] Sent whole(const Short& each) const noexcept;
  [[nodiscard]] std::optional<Sent> find(std::uint64_t sequence) const noexcept;
  [[nodiscard]] double above_least(std::int64_t delay, std::uint64_t now) noexcept;
  void look_for_full(const Seen& seen, std::uint64_t now) noexcept;
  void follow(const Seen& seen, bool waiting, std::uint64_t now) noexcept;
  void measured(double kbit, std::uint64_t now) noexcept;
  void drain(const Seen* from, const Seen& seen, std::uint64_t now) noexcept;
  void still_high(const Seen& from, const Seen& seen, std::uint64_t now) noexcept;
  void raise(std::uint64_t now) noexcept;
  [[nodiscard]] bool of_another(std::uint64_t now) noexcept;

  std::vector<Short> sent_;  // a ring, which grows while its oldest is young
  Sent newest_{};            // of them
  std::size_t next_ = 0, count_ = 0;
  std::optional<Seen> mark_, before_;
  std::optional<std::int64_t> least_, least_before_;
  std::uint64_t least_since_ = 0;
  double loss_ = 0;   // share of what was sent, while nothing waited
  double noise_ = 0;  // ms; how much the delay differs from word to word while nothing waits
  double rate_ = 0, best_ = 0, when_full_ = 0, drain_rate_ = 0;  // kbit/s
  std::uint64_t drain_until_ = 0, best_at_ = 0, raised_at_ = 0, waited_at_ = 0, full_at_ = 0;
  std::uint64_t hold_ = kHold, closed_until_ = 0, closed_for_ = kClosed, clear_at_ = 0;
  double drained_from_ = 0;  // the queue before; 0: not draining
  unsigned raises_ = 0, in_vain_ = 0;
};

}  // namespace pqcmav
