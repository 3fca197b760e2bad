// SPDX-License-Identifier: Apache-2.0
// Where a ground station sends what goes to a drone (docs/protocol.md section 14). Addresses, times and random challenges
// in, decisions out; no socket, no clock.
//
// A packet proves that the drone sent it, not where from: a copy with another source may have overtaken it. Nor does an
// answer say who gave it, but only that what goes there reaches the drone. So no address is believed without an answer,
// none that answers is preferred to another, and each of them gets everything: the drone takes what comes first.
//
// The answers of a drone with several paths say by which of them they came, and the drone says which one is to have
// everything (PATHS). The rule above then holds for the addresses of each path; those of others get a part.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bytes.hpp"
#include "constants.hpp"
#include "handshake/handshake.hpp"
#include "net/net.hpp"
#include "session/control_frame.hpp"

namespace pqcmav {

/// One drone's addresses. One thread only.
class PathValidator {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  explicit PathValidator(RandomSource random = random_bytes);
  /// A session that a first handshake made, with the addresses that answered in it: kPathsLiving at most. `numbered`: its
  /// answers say by which path they came.
  void reset(std::span<const SockAddr> answered, std::uint64_t now, bool numbered = false);
  /// An authentic packet under the newest keys, new or come again. `size`: bytes of UDP payload; `pto_ns`: rule 6's
  /// time-out with the round trips of this session.
  void on_packet(const SockAddr& from, std::size_t size, std::uint64_t now, std::uint64_t pto_ns);
  /// A PATH_RESPONSE, wherever it came from: it proves the address its challenge was sent to.
  void on_response(const ByteArray<8>& challenge, std::uint64_t now, std::uint8_t path = kNoPath);
  /// PATHS; an older word than the last one changes nothing.
  void on_told(const PathsTold& word, std::uint64_t now);

  struct Challenge {
    SockAddr to;
    ByteArray<8> value;
  };
  /// The next PATH_CHALLENGE to send. To be called until nullopt after every other call, and at deadline().
  std::optional<Challenge> poll(std::uint64_t now);
  [[nodiscard]] std::uint64_t deadline() const noexcept { return due_; }

  /// The oldest living address of the main path; empty before the first session.
  [[nodiscard]] const SockAddr& path() const noexcept { return entries_.empty() ? nowhere_ : entries_[first_].address; }
  /// Is that all there is?
  [[nodiscard]] bool alone() const noexcept { return entries_.size() <= 1; }
  /// Whether a packet that comes again from there could change anything.
  [[nodiscard]] bool wants_repeat(const SockAddr& from) const noexcept {
    return !entries_.empty() && !(alone() && from == path());
  }
  /// Does the drone get packets there?
  [[nodiscard]] bool lives(const SockAddr& address) const noexcept {
    return std::ranges::any_of(entries_, [&](const Entry& each) { return each.living && each.address == address; });
  }
  /// Is it known as one of another path than the main one?
  [[nodiscard]] bool is_of_other_path(const SockAddr& address) const noexcept {
    return std::ranges::any_of(
        entries_, [&](const Entry& each) { return each.living && !is_main(each) && each.address == address; });
  }
  /// Where a packet of `bytes` goes besides path(): each living address of that path, and those that do not live within
  /// their credit, which is spent.
  template <typename Visit>
  void for_each_other(std::size_t bytes, Visit visit) {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (i != first_ && (entries_[i].living ? is_main(entries_[i]) : spend_on_copy(entries_[i], bytes)))
        visit(entries_[i].address);
  }
  /// Where something that goes by several paths goes besides those.
  template <typename Visit>
  void for_each_of_other_paths(Visit visit) const {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (i != first_ && entries_[i].living && !is_main(entries_[i]) && (word_.others >> entries_[i].path & 1) != 0)
        visit(entries_[i].address);
  }
  /// What the drone says of its paths, once it has.
  [[nodiscard]] bool told() const noexcept { return told_; }
  [[nodiscard]] bool again() const noexcept { return told_ && word_.again; }
  [[nodiscard]] bool only_commands() const noexcept { return told_ && word_.only_commands; }
  /// All that live, the oldest first.
  template <typename Visit>
  void for_each_living(Visit visit) const {
    for (const auto& each : entries_)
      if (each.living) visit(each.address);
  }
  /// Another number whenever another address lives or one does no more.
  [[nodiscard]] std::uint64_t revision() const noexcept { return revision_; }

 private:
  struct Entry {
    SockAddr address;
    bool answered = false;     // a challenge that went there was answered, or its handshake was
    bool living = false;       // answered, and one of those who get something; these come first, the oldest first
    std::uint8_t path = 0;     // by which what goes there reaches the drone; numbered, but without an answer: kNoPath
    std::int64_t credit = 0;   // bytes, headers included, that may still go there while it does not live
    std::uint64_t heard = 0;   // the last packet from there, ns
    std::uint64_t joined = 0;  // ns
    std::uint64_t next = kNever;  // its next challenge, or its end
    std::uint64_t interval = 0, last_wait = 0;
    unsigned rounds = 0;      // challenges that were due before it answered
    unsigned unanswered = 0;  // in a row, since it answered
    std::array<ByteArray<8>, kPathChallenges> sent{};
    std::uint32_t sent_bits = 0;  // which of them wait for an answer
    unsigned sent_at = 0;
  };

  void hear_of(const SockAddr& from, std::size_t size, std::uint64_t now);
  void join(const SockAddr& from, std::size_t size, std::uint64_t now);
  bool spend_on_copy(Entry& entry, std::size_t bytes) noexcept;
  void answered(std::size_t index, std::uint64_t now, std::uint8_t path);
  void contest(std::size_t index, std::uint64_t now);
  void find_first() noexcept;
  [[nodiscard]] bool is_main(const Entry& entry) const noexcept {
    return !told_ || entry.path == word_.main || entry.path == kNoPath;
  }
  void enliven(std::size_t index, std::uint64_t now);
  void erase(std::size_t index) noexcept;
  void drop(std::size_t index, std::uint64_t now);
  [[nodiscard]] std::optional<Challenge> serve(std::size_t index, std::uint64_t now);
  [[nodiscard]] Challenge challenge(Entry& entry);
  [[nodiscard]] bool another_is_heard(const Entry& entry, std::uint64_t now) const noexcept;
  [[nodiscard]] std::size_t living() const noexcept;
  [[nodiscard]] std::size_t living_on(std::uint8_t path) const noexcept;
  [[nodiscard]] std::uint64_t random_below(std::uint64_t bound);

  RandomSource random_;
  std::vector<Entry> entries_;
  std::size_t first_ = 0;  // among them: that of path()
  bool numbered_ = false, told_ = false;
  PathsTold word_{};
  std::uint64_t due_ = kNever, pto_ = 0;
  // Addresses that are not among them wait for the end of a slot, of which a few at random join.
  std::uint64_t joined_ = 0, slot_end_ = kNever, slot_heard_ = 0;
  struct Kept {
    SockAddr from;
    std::size_t size = 0;
  };
  std::array<Kept, kPathsPerSlot> slot_kept_{};
  std::uint64_t revision_ = 0;
  inline static const SockAddr nowhere_{};
};

}  // namespace pqcmav
