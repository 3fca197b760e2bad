// SPDX-License-Identifier: Apache-2.0
#include "console/event_journal.hpp"

#include <sys/eventfd.h>

#include <algorithm>

namespace pqcmav {

EventJournal::EventJournal() : bell_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void EventJournal::take(const Event& event) {
  {
    const std::lock_guard lock(mutex_);
    if (events_.size() == kEvents) events_.pop_front();
    events_.push_back(event);
    ++next_;
    if (const auto* handshake = std::get_if<HandshakeEvent>(&event.what)) {
      tally_.add(*handshake);
      if (handshakes_.size() == kHandshakes) handshakes_.pop_front();
      handshakes_.push_back(event);
    }
  }
  ring(bell_);
}

EventJournal::Batch EventJournal::since(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto oldest = next_ - events_.size();
  Batch out;
  out.next = next_;
  if (number >= next_) return out;
  out.lost = number < oldest ? oldest - number : 0;
  const auto skipped = number < oldest ? 0 : number - oldest;
  out.events.assign(events_.begin() + static_cast<std::ptrdiff_t>(skipped), events_.end());
  return out;
}

std::uint64_t EventJournal::next() const {
  const std::lock_guard lock(mutex_);
  return next_;
}

std::vector<Event> EventJournal::handshakes(std::string_view drone_id, std::size_t most) const {
  const std::lock_guard lock(mutex_);
  std::vector<Event> out;
  for (auto it = handshakes_.rbegin(); it != handshakes_.rend() && out.size() < most; ++it)
    if (drone_id.empty() || it->drone_id == drone_id) out.push_back(*it);
  std::reverse(out.begin(), out.end());
  return out;
}

HandshakeTally EventJournal::tally() const {
  const std::lock_guard lock(mutex_);
  return tally_;
}

}  // namespace pqcmav
