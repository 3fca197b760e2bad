// SPDX-License-Identifier: Apache-2.0
// The newest events and handshakes of an engine, for whoever asks later, and a bell for whoever follows them.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string_view>
#include <vector>

#include "console/handshake_tally.hpp"
#include "fd.hpp"
#include "pqc_mav_tunnel/events.hpp"

namespace pqcmav {

class EventJournal {
 public:
  static constexpr std::size_t kEvents = 256, kHandshakes = 64;
  EventJournal();

  /// Any thread; copies the event and rings.
  void take(const Event& event);
  /// Rung for every event; readable until `drain`.
  [[nodiscard]] const Fd& bell() const noexcept { return bell_; }

  struct Batch {
    std::vector<Event> events;
    std::uint64_t lost = 0;  // came since, and are gone
    std::uint64_t next = 0;  // number of the next one to ask for
  };
  /// The events with this number and later ones; the first has number 0.
  [[nodiscard]] Batch since(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t next() const;
  /// The newest of them, oldest first; "" = of every drone.
  [[nodiscard]] std::vector<Event> handshakes(std::string_view drone_id, std::size_t most) const;
  /// All of them since the start, counted.
  [[nodiscard]] HandshakeTally tally() const;

 private:
  Fd bell_;
  mutable std::mutex mutex_;
  std::deque<Event> events_, handshakes_;
  std::uint64_t next_ = 0;
  HandshakeTally tally_;
};

}  // namespace pqcmav
