// SPDX-License-Identifier: Apache-2.0
// The newest events and handshakes of an engine, numbered, for whoever asks later, and a bell for whoever follows them.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "console/handshake_tally.hpp"
#include "fd.hpp"
#include "pqc_mav_tunnel/events.hpp"

namespace pqcmav {

class EventJournal {
 public:
  /// Room for the handshakes of 1,000 drones that come back together, and for what else is told of them.
  static constexpr std::size_t kEvents = 1024, kEventsOfDrone = 4;
  EventJournal();

  /// Of this journal: numbers of events mean nothing to another one.
  [[nodiscard]] const std::string& boot() const noexcept { return boot_; }
  /// Keeps more than kEvents where so many drones may have so much to tell.
  void make_room(std::size_t drones);
  /// Any thread; copies the event and rings.
  void take(const Event& event);
  /// Rung for every event; readable until `drain`.
  [[nodiscard]] const Fd& bell() const noexcept { return bell_; }

  struct Batch {
    std::vector<std::shared_ptr<const Event>> events;
    std::uint64_t next = 0;  // number of the next one to ask for
  };
  /// The events with this number and later ones, the oldest first; the first of all has number 0.
  [[nodiscard]] Batch since(std::uint64_t number, std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  /// Numbers of the oldest event that is kept, and of the next to come.
  [[nodiscard]] std::uint64_t oldest() const;
  [[nodiscard]] std::uint64_t next() const;
  /// The newest of them, oldest first; "" = of every drone.
  [[nodiscard]] std::vector<Event> handshakes(std::string_view drone_id, std::size_t most) const;
  /// All of them since the start, counted.
  [[nodiscard]] HandshakeTally tally() const;

 private:
  const std::string boot_;
  Fd bell_;
  mutable std::mutex mutex_;
  std::size_t room_ = kEvents;
  std::deque<std::shared_ptr<const Event>> events_, handshakes_;
  std::uint64_t next_ = 0;
  HandshakeTally tally_;
};

}  // namespace pqcmav
