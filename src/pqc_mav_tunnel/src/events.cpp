// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/events.hpp"

#include "clock.hpp"
#include "text.hpp"

namespace pqcmav {

std::string_view to_string(LogLevel level) noexcept {
  return name_in<LogLevel::error>({"debug", "info", "warning", "error"}, level, "?");
}

std::optional<LogLevel> log_level_of(std::string_view name) noexcept {
  for (const auto level : {LogLevel::debug, LogLevel::info, LogLevel::warning, LogLevel::error})
    if (to_string(level) == name) return level;
  return std::nullopt;
}

// Here all lines are made. Somebody else chose some of what they say: a reason or a name in a request, a file's name.
void EventQueue::push(Event event) {
  if (event.monotonic_ns == 0) event.monotonic_ns = now_ns();
  event.drone_id = one_line(event.drone_id);
  if (auto* state = std::get_if<StateEvent>(&event.what)) {
    state->reason = one_line(state->reason);
  } else if (auto* handshake = std::get_if<HandshakeEvent>(&event.what)) {
    for (auto* text : {&handshake->reason, &handshake->suite, &handshake->peer}) *text = one_line(*text);
  } else if (auto* log = std::get_if<LogEvent>(&event.what)) {
    log->text = one_line(log->text);
  }
  if (listener_) listener_(event);
  {
    const std::lock_guard lock(mutex_);
    if (events_.size() == kCapacity) events_.pop_front();
    events_.push_back(std::move(event));
  }
  ready_.notify_one();
}

void EventQueue::log(LogLevel level, const std::string& drone_id, std::string text) {
  if (level >= least_) push(Event{0, drone_id, LogEvent{level, std::move(text)}});
}

std::vector<Event> EventQueue::wait(std::chrono::nanoseconds timeout, std::size_t most) {
  std::unique_lock lock(mutex_);
  ready_.wait_for(lock, timeout, [&] { return !events_.empty() || closed_; });
  std::vector<Event> out;
  while (!events_.empty() && out.size() < most) {
    out.push_back(std::move(events_.front()));
    events_.pop_front();
  }
  return out;
}

void EventQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  ready_.notify_all();
}

bool EventQueue::closed() {
  const std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace pqcmav
