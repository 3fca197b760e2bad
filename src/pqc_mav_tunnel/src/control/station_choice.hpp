// SPDX-License-Identifier: Apache-2.0
// Which of several ground stations a drone hears: the decisions over time, without sockets, keys and clock
// (docs/protocol.md section 14).
//
// The drone alone decides, so there is one answer at any time. One station is *active*: only from it are commands
// taken. With `standby` a second one holds a session and waits. The caller says what it heard and what ended, asks
// next() what to do, does it, and says how it went.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pqcmav {

struct StationTimers {         // nanoseconds
  std::uint64_t failover;      // silence of the active station after which another one is looked for
  std::uint64_t failback;      // health of an earlier station after which it becomes active again; 0 = not by itself
  std::uint64_t standby_lost;  // silence after which the standby's session is given up
  std::uint64_t retry;         // between two attempts to get a standby
  std::uint64_t renew = 0;     // age of the standby's keys at which it joins anew; 0 = never
};

class StationChoice {
 public:
  enum class Act : std::uint8_t {
    none,
    connect,    // a first handshake, after which this station is active
    join,       // one after which it is the standby
    take_over,  // the standby becomes active, by ROLE alone
    forget      // the standby is lost: its session ends
  };
  struct Step {
    Act act = Act::none;
    std::size_t station = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };

  /// `count` stations in order of preference. `term`: the highest one that is known to be in use.
  StationChoice(std::size_t count, bool standby, const StationTimers& timers, std::uint32_t term);

  /// Another term that is known to be in use.
  void know(std::uint32_t term) noexcept { term_ = term > term_ ? term : term_; }

  // What happened.
  /// An authentic packet of the session with that station came at `at`; the newest PROBE that it answered was sent
  /// `answered` (0: none).
  void heard(std::size_t station, std::uint64_t at, std::uint64_t answered = 0) noexcept;
  /// It showed the token of the session `at`: it was restarted, unless it answers a PROBE that was sent after that. Any
  /// other packet may be an old one that somebody held back: that makes another station wait only, from `wait` after
  /// `now` on. A packet from before may be told of later.
  void restarted(std::size_t station, std::uint64_t wait, std::uint64_t at, std::uint64_t now) noexcept;
  /// The session with it is over: closed by it, or wiped.
  void ended(std::size_t station, std::uint64_t now) noexcept;
  /// A gcs told the highest term that it knows. True when the drone's had to rise: both stations must hear of it.
  bool told(std::uint32_t term) noexcept;
  /// Somebody wants the drone to be there, at once and from now on; nullopt: the configured order again.
  void prefer(std::optional<std::size_t> station) noexcept;

  // What to do.
  /// Asked again and again, also while an attempt (connect, join) runs: another answer than that attempt ends it.
  [[nodiscard]] Step next(std::uint64_t now);
  /// The attempt of a step has begun; the other side has answered something; it failed, and the station is not to be
  /// tried again for `wait`.
  void begin(const Step& attempt, std::uint64_t now) noexcept;
  void answered() noexcept;
  void failed(std::uint64_t wait, std::uint64_t now) noexcept;
  /// The attempt of this step has made a session, even when next() had given it up a moment before.
  void succeeded(const Step& step, std::uint64_t now) noexcept;
  /// The standby is active from now on; the station before is the standby, if its session lives and it was not
  /// restarted.
  void took_over(std::uint64_t now) noexcept;

  /// The drone has other keys than before: whoever did not take the old ones is asked without the wait for that.
  void keys_changed() noexcept;

  /// The term under which a step makes a station active, or under which it joins.
  [[nodiscard]] std::uint32_t term_of(const Step& step) const noexcept;
  [[nodiscard]] std::uint32_t term() const noexcept { return term_; }
  [[nodiscard]] std::optional<std::size_t> active() const noexcept { return active_; }
  [[nodiscard]] std::optional<std::size_t> standby() const noexcept { return standby_; }
  [[nodiscard]] bool has_session(std::size_t station) const noexcept { return stations_[station].session; }
  [[nodiscard]] std::size_t count() const noexcept { return stations_.size(); }
  /// Is the active station silent, restarted or gone?
  [[nodiscard]] bool in_trouble(std::uint64_t now) const noexcept;
  /// When next() may answer otherwise without anything having happened.
  [[nodiscard]] std::uint64_t deadline() const noexcept;

 private:
  struct Station {
    bool session = false;
    bool well = false;                   // heard since it has had its present part
    std::uint64_t heard = 0, since = 0;  // since: it has had its present part
    std::uint64_t answered = 0;
    std::uint64_t fresh_since = 0;  // it has been heard without a pause
    std::uint64_t keys_since = 0;
    std::uint64_t token = 0, token_until = 0;
    std::uint64_t connect_after = 0, join_after = 0;
    std::uint64_t left_until = 0;  // it ended its session, and others are asked first
    bool tried = false;            // since this trouble began
  };
  struct Attempt {
    Step step;
    std::uint64_t began;
    bool in_trouble, answered;
  };
  [[nodiscard]] bool silent(std::size_t station, std::uint64_t now) const noexcept;
  [[nodiscard]] bool heard_within(std::size_t station, std::uint64_t time, std::uint64_t now) const noexcept;
  [[nodiscard]] bool answers(std::size_t station, std::uint64_t now) const noexcept;
  /// Whether others are asked first: it left, or is silent as well.
  [[nodiscard]] bool doubtful(std::size_t station, std::uint64_t now) const noexcept;
  [[nodiscard]] bool better(std::size_t one, std::size_t other) const noexcept;
  [[nodiscard]] Step in_trouble_step(std::uint64_t now);
  [[nodiscard]] Step calm_step(std::uint64_t now);
  [[nodiscard]] Step standby_step(std::uint64_t now) const noexcept;

  std::vector<Station> stations_;
  std::vector<std::size_t> order_;  // of preference
  bool with_standby_;
  StationTimers timers_;
  std::uint32_t term_;
  std::optional<std::size_t> active_, standby_, wanted_;
  std::optional<Attempt> attempt_;
  std::size_t cursor_ = 0;  // in order_: whom to try next
  bool looking_ = false;    // trouble has begun, and cursor_ was set for it
  std::uint64_t failback_from_ = 0;
};

}  // namespace pqcmav
