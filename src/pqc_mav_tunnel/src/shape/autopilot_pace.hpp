// SPDX-License-Identifier: Apache-2.0
// Tells the autopilot how much room a thin link has left, as telemetry radios do: by RADIO_STATUS. Autopilots then hold parameters and files back, which the
// shaper would have to drop, and slow their streams. No clock: times are arguments, in ns.
#pragma once

#include <cstdint>

namespace pqcmav {

class AutopilotPace {
 public:
  /// Is it time for a status? Asked ten times a second. `free_percent`: room in the queues that would drop. One each
  /// second as long as the link is shaped or room is scarce, at once when that begins or ends, and for a minute after:
  /// ArduPilot takes back what it slowed by only while statuses say that there is room.
  [[nodiscard]] bool due(unsigned free_percent, bool shaped, std::uint64_t now) noexcept;

 private:
  bool scarce_ = false;
  std::uint64_t next_ns_ = 0, until_ns_ = 0;
};

}  // namespace pqcmav
