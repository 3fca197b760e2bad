// SPDX-License-Identifier: Apache-2.0
#include "net/handshake_relay.hpp"

#include <utility>

#include "net/data_plane.hpp"
#include "net/data_plane_hold.hpp"

namespace pqcmav {
namespace {

/// Takes one of so many places; false when all are taken.
bool enter(std::atomic<std::size_t>& taken, std::size_t places) noexcept {
  if (taken.fetch_add(1, std::memory_order_relaxed) < places) return true;
  taken.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

}  // namespace

/// A frame belongs to the session that it came in: where another one runs when its turn has come, it is of no use.
void HandshakeRelay::on_session_frame(std::size_t link, ByteView value, std::uint64_t now) {
  const auto& current = own_.session(link).current();
  if (!current) return;
  if (!enter(frames_, kFrames)) return full_.add();
  const bool accepted =
      first_.post([this, link, now, session = current->id, bytes = Bytes(value.begin(), value.end())] {
        frames_.fetch_sub(1, std::memory_order_relaxed);
        if (link >= first_.links_.size() || !first_.links_[link]) return;
        const auto held = first_.hold(link);
        const auto& runs = first_.session(link).current();
        if (runs && runs->id == session) target_.on_session_frame(link, bytes, now);
      });
  if (!accepted) frames_.fetch_sub(1, std::memory_order_relaxed);
}

void HandshakeRelay::on_unknown_session(const SessionId& session, const SockAddr& source, std::uint64_t now) {
  if (!enter(strangers_, kStrangers)) return;
  const bool accepted = first_.post([this, session, source, now] {
    strangers_.fetch_sub(1, std::memory_order_relaxed);
    target_.on_unknown_session(session, source, now);
  });
  if (!accepted) strangers_.fetch_sub(1, std::memory_order_relaxed);
}

/// What the end itself finds out is never lost. The drone may have been removed when its turn comes.
void HandshakeRelay::tell(std::size_t link, std::function<void()> what) {
  (void)first_.post([this, link, what = std::move(what)] {
    if (link < first_.links_.size() && first_.links_[link]) what();
  });
}

void HandshakeRelay::on_session_ended(std::size_t link, std::uint64_t now) {
  tell(link, [this, link, now] { target_.on_session_ended(link, now); });
}

void HandshakeRelay::on_switched(std::size_t link, std::uint64_t now) {
  tell(link, [this, link, now] { target_.on_switched(link, now); });
}

void HandshakeRelay::on_grant_due(std::size_t link, std::uint64_t now) {
  tell(link, [this, link, now] { target_.on_grant_due(link, now); });
}

}  // namespace pqcmav
