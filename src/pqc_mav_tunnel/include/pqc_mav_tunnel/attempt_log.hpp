// SPDX-License-Identifier: Apache-2.0
// What of a drone's attempts to connect is worth a line in the log of whoever hosts an engine. One that waits for its
// network tries every few seconds.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <variant>

#include "pqc_mav_tunnel/events.hpp"

namespace pqcmav {

/// One for each engine; not for several threads at a time.
class AttemptLog {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kAgain{60};

  /// Whether to say this event: a failure's reason and a warning once, and again every minute; not the to and fro of
  /// attempts whose failure was said.
  bool worth_saying(const Event& event, Clock::time_point now) {
    if (const auto* state = std::get_if<StateEvent>(&event.what))
      return !failures_.contains(event.drone_id) || !connecting(state->before) || !connecting(state->after);
    if (const auto* log = std::get_if<LogEvent>(&event.what)) {
      if (log->level != LogLevel::warning) return true;
      std::erase_if(warnings_, [now](const auto& entry) { return now - entry.second >= kAgain; });
      return warnings_.emplace(log->text, now).second;
    }
    const auto& handshake = std::get<HandshakeEvent>(event.what);
    if (handshake.ok) failures_.erase(event.drone_id);
    if (handshake.ok || handshake.kind != HandshakeKind::first) return true;
    auto& said = failures_[event.drone_id];
    if (said.reason == handshake.reason && now - said.at < kAgain) return false;
    said = {handshake.reason, now};
    return true;
  }

 private:
  struct Said {
    std::string reason;
    Clock::time_point at;
  };

  static bool connecting(LinkState state) { return state == LinkState::down || state == LinkState::handshaking; }

  std::map<std::string, Said> failures_;               // by drone
  std::map<std::string, Clock::time_point> warnings_;  // by text
};

}  // namespace pqcmav
