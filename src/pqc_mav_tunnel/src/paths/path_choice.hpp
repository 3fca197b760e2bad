// SPDX-License-Identifier: Apache-2.0
// Which of a drone's ways to its ground station its packets take: the decisions over time, without sockets, keys and
// clock (docs/paths.md).
//
// One path is *active*. Each is asked by PROBEs of its own, the active one all the time, another one seldom, or often
// while it may soon be needed. A PROBE is *answered* once its reply came, by whatever path, and something authentic came
// by its own path after it left: the first proves the way up, the second the way down. So what a ground station still
// sends to an address that the drone has left proves nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "nanoseconds.hpp"

namespace pqcmav {

/// Nanoseconds.
struct PathPace {
  std::uint64_t probe;   // between two PROBEs while it is the active one, or may soon be
  std::uint64_t silent;  // without an answer, and a round trip besides: it is dead
  std::uint64_t idle;    // between two PROBEs while it is not needed
};

class PathChoice {
 public:
  // A path that came back is good for so long before packets take it again; doubled each time that it fell silent soon
  // after it was taken.
  static constexpr std::uint64_t kHold = 2 * kS, kHoldMost = 8 * kS, kRelapse = 30 * kS;
  static constexpr std::uint64_t kDeadEvery = kS;      // PROBEs of one that may be needed and has been dead for kHold
  static constexpr std::uint64_t kDeadLong = 30 * kS;  // then as seldom as of an idle one, if it is not needed
  static constexpr std::uint64_t kRttMost = 2 * kS;    // a reply that comes later is none

  enum class State : std::uint8_t { off, unknown, dead, good, best };

  /// In order of preference.
  explicit PathChoice(const std::vector<PathPace>& paths);

  // What happened.
  /// A session began, with a handshake by this path.
  void begin(std::size_t path, std::uint64_t now) noexcept;
  void end() noexcept { active_.reset(); }
  /// A PROBE left by it.
  void probed(std::size_t path, std::uint64_t now) noexcept;
  /// The reply to the PROBE that left by it at `sent` came, by whatever path.
  void replied(std::size_t path, std::uint64_t sent, std::uint64_t now) noexcept;
  /// Something authentic came by it.
  void heard(std::size_t path, std::uint64_t now) noexcept;
  /// Packets take it from now on.
  void moved(std::size_t path, std::uint64_t now) noexcept;
  /// An operator's word. A path that is off is neither used nor asked; the last one cannot be off. With `first` it comes
  /// before all others, and is taken as soon as it lives.
  bool use(std::size_t path, bool on) noexcept;
  void prefer(std::size_t path) noexcept;

  // What to do.
  /// Another path that packets should take now.
  [[nodiscard]] std::optional<std::size_t> next(std::uint64_t now) const noexcept;
  /// By which path the other end's packets should come: the active one while that lives. Without an answer by any, one
  /// by which something was heard lately.
  [[nodiscard]] std::size_t down(std::uint64_t now) const noexcept;
  [[nodiscard]] bool probe_due(std::size_t path, std::uint64_t now) const noexcept;

  [[nodiscard]] std::optional<std::size_t> active() const noexcept { return active_; }
  [[nodiscard]] bool on(std::size_t path) const noexcept { return paths_[path].on; }
  [[nodiscard]] State state(std::size_t path, std::uint64_t now) const noexcept;
  /// How long it has not answered, ns; of the active one, for choosing and telling.
  [[nodiscard]] std::uint64_t silence(std::size_t path, std::uint64_t now) const noexcept;
  /// Is the active path silent for so long that another may soon be needed?
  [[nodiscard]] bool in_doubt(std::uint64_t now) const noexcept;
  /// Of the last PROBE that was answered. Of an idle path it goes up by that and may come down by the active one.
  [[nodiscard]] std::optional<std::uint64_t> rtt_ns(std::size_t path) const noexcept { return paths_[path].rtt; }
  /// Share of the last PROBEs, 32 at most, that were not answered before the next one left; nothing before the first.
  [[nodiscard]] std::optional<double> loss(std::size_t path) const noexcept;

 private:
  struct Path {
    PathPace pace{};
    bool on = true;
    std::uint64_t heard = 0, replied = 0;     // the latter: when the newest PROBE with a reply left
    std::uint64_t answered = 0, counted = 0;  // when an answer came last, and when what it answers left
    std::uint64_t probed = 0, asked = 0;      // the last PROBE, and the first one since the last answer
    std::uint64_t good_since = 0, taken = 0, hold = kHold;
    std::optional<std::uint64_t> rtt;
    std::uint32_t outcomes = 0;  // of PROBEs, the newest in the lowest bit
    unsigned settled = 0;
  };
  void look(std::size_t path, std::uint64_t now) noexcept;
  [[nodiscard]] bool silent(std::size_t path, std::uint64_t now) const noexcept;
  [[nodiscard]] bool lives(std::size_t path, std::uint64_t now) const noexcept;
  [[nodiscard]] bool is_replied(std::size_t path, std::uint64_t now) const noexcept;
  [[nodiscard]] bool is_heard(std::size_t path, std::uint64_t now) const noexcept;
  [[nodiscard]] std::uint64_t limit(const Path& path) const noexcept;
  [[nodiscard]] std::size_t rank(std::size_t path) const noexcept;

  std::vector<Path> paths_;
  std::vector<std::size_t> order_;  // of preference
  std::optional<std::size_t> active_;
  std::uint64_t active_since_ = 0;
};

}  // namespace pqcmav
