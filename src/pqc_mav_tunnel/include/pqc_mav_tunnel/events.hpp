// SPDX-License-Identifier: Apache-2.0
// What an engine reports to its host: state changes, finished handshakes, log lines. A bounded queue; the packet path
// does not use it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pqc_mav_tunnel/handshake_outcome.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

enum class LogLevel : std::uint8_t { debug, info, warning, error };
std::string_view to_string(LogLevel level) noexcept;
std::optional<LogLevel> log_level_of(std::string_view name) noexcept;

struct StateEvent {
  LinkState before, after;
  std::string reason;
};

struct HandshakeEvent {
  bool ok = false;
  HandshakeError error = HandshakeError::none;
  std::string reason;  // sentence, "" when ok
  std::string suite;
  bool hybrid = false, drone_side = false;
  HandshakeKind kind = HandshakeKind::first;
  std::uint8_t epoch = 0;
  std::string peer;
  std::uint64_t duration_ns = 0;
  HandshakeTimes times;
};

struct LogEvent {
  LogLevel level;
  std::string text;
};

struct Event {
  std::uint64_t monotonic_ns = 0;
  std::string drone_id;  // "" = the engine
  std::variant<StateEvent, HandshakeEvent, LogEvent> what;
};

/// Keeps the newest kCapacity events for a host that is slow or absent. Any thread.
class EventQueue {
 public:
  static constexpr std::size_t kCapacity = 1024;
  explicit EventQueue(LogLevel least) : least_(least) {}
  void push(Event event);
  /// Sees every event as it comes, besides the host; called in the thread where it happened, so it must be quick. To be
  /// set before there are events.
  void also_tell(std::function<void(const Event&)> listener) { listener_ = std::move(listener); }
  void log(LogLevel level, const std::string& drone_id, std::string text);
  [[nodiscard]] LogLevel least() const noexcept { return least_; }
  void set_least(LogLevel level) noexcept { least_ = level; }
  /// Up to `most` events, waiting up to `timeout` for the first.
  std::vector<Event> wait(std::chrono::nanoseconds timeout, std::size_t most);
  /// Wakes waiters; they return what there is.
  void close();
  [[nodiscard]] bool closed();

 private:
  std::atomic<LogLevel> least_;
  std::function<void(const Event&)> listener_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Event> events_;
  bool closed_ = false;
};

}  // namespace pqcmav
