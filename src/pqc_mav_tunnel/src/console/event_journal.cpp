// SPDX-License-Identifier: Apache-2.0
#include "console/event_journal.hpp"

#include <sys/eventfd.h>

#include <algorithm>

#include "crypto/kdf.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

std::string new_boot() {
  ByteArray<16> chance;
  random_bytes(chance);
  return to_hex(chance);
}

}  // namespace

EventJournal::EventJournal() : boot_(new_boot()), bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void EventJournal::make_room(std::size_t drones) {
  const std::lock_guard lock(mutex_);
  room_ = std::max(room_, drones * kEventsOfDrone);
}

void EventJournal::take(const Event& event) {
  const auto kept = std::make_shared<const Event>(event);
  {
    const std::lock_guard lock(mutex_);
    if (events_.size() == room_) events_.pop_front();
    events_.push_back(kept);
    ++next_;
    if (const auto* handshake = std::get_if<HandshakeEvent>(&event.what)) {
      tally_.add(*handshake);
      if (handshakes_.size() == kEvents) handshakes_.pop_front();
      handshakes_.push_back(kept);
    }
  }
  ring(bell_);
}

EventJournal::Batch EventJournal::since(std::uint64_t number, std::size_t most) const {
  const std::lock_guard lock(mutex_);
  const auto oldest = next_ - events_.size();
  const auto first = std::clamp(number, oldest, next_);
  const auto count = std::min<std::uint64_t>(most, next_ - first);
  Batch out;
  out.next = first + count;
  const auto begin = events_.begin() + static_cast<std::ptrdiff_t>(first - oldest);
  out.events.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  return out;
}

std::uint64_t EventJournal::oldest() const {
  const std::lock_guard lock(mutex_);
  return next_ - events_.size();
}

std::uint64_t EventJournal::next() const {
  const std::lock_guard lock(mutex_);
  return next_;
}

std::vector<Event> EventJournal::handshakes(std::string_view drone_id, std::size_t most) const {
  const std::lock_guard lock(mutex_);
  std::vector<Event> out;
  for (auto it = handshakes_.rbegin(); it != handshakes_.rend() && out.size() < most; ++it)
    if (drone_id.empty() || (*it)->drone_id == drone_id) out.push_back(**it);
  std::reverse(out.begin(), out.end());
  return out;
}

HandshakeTally EventJournal::tally() const {
  const std::lock_guard lock(mutex_);
  return tally_;
}

}  // namespace pqcmav
