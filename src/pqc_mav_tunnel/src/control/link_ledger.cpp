// SPDX-License-Identifier: Apache-2.0
#include "control/link_ledger.hpp"

#include "text.hpp"

namespace pqcmav {
namespace {

// Begins with the name of the state (docs/protocol.md section 12): programs look for it, people read on.
constexpr const char* kKeyOld =
    "KEY_OLD: the keys in use are older than key_limit_s, because handshakes fail. Find out what blocks them, ask for "
    "a "
    "rekey, or land; with key_limit_action 'stop' no MAVLink passes until one succeeds.";

std::string sentence_of(KeyEnd why) {
  switch (why) {
    case KeyEnd::none: break;
    case KeyEnd::spent: return "The keys carried as many packets as they may, because nothing renewed them.";
    case KeyEnd::forgeries: return "So many forged packets came that the keys are used no more.";
    case KeyEnd::used_twice:
      return "The other end used the number of a packet twice, as after a snapshot of its machine was restored.";
    case KeyEnd::set_back:
      return "This machine was set back to a snapshot, or copied: the keys from before are used no more.";
  }
  return {};
}

double to_s(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

void LinkLedger::running(int change, bool rekey) {
  const std::lock_guard lock(mutex_);
  (rekey ? rekeys_running_ : handshakes_running_) += change;
}

void LinkLedger::waiting_for(std::string sentence) {
  events_.log(LogLevel::warning, id_, sentence);
  const std::lock_guard lock(mutex_);
  last_error_ = std::move(sentence);
}

void LinkLedger::finished(HandshakeEvent event) {
  {
    const std::lock_guard lock(mutex_);
    if (event.ok) {
      ++(event.kind == HandshakeKind::first ? ok_ : rekeys_ok_);
      last_error_.clear();
    } else if (event.error != HandshakeError::cancelled) {
      ++failed_;
      last_error_ = event.reason;
    }
  }
  events_.push(Event{0, id_, std::move(event)});
}

LinkState LinkLedger::state_of(const LinkPicture& picture) const {
  if (!picture.current || !picture.can_send)
    return handshakes_running_ > 0 || picture.pending ? LinkState::handshaking : LinkState::down;
  if (picture.degraded) return LinkState::degraded;
  return rekeys_running_ > 0 ? LinkState::rekeying : LinkState::up;
}

std::string LinkLedger::reason_for(LinkState state, const LinkPicture& picture) const {
  switch (state) {
    case LinkState::down:
      if (picture.ended != KeyEnd::none) return sentence_of(picture.ended);
      if (picture.moved) return "The drone moved to another ground station.";
      return picture.closed_by_peer ? "The peer closed the session." : "No session.";
    case LinkState::handshaking: return "A handshake is running.";
    case LinkState::up:
      return "Session under " + picture.current->suite->short_code + ", epoch " +
             std::to_string(picture.current->epoch) + ".";
    case LinkState::degraded:
      return "Nothing heard from the peer for " + std::to_string(picture.heard_silence_ns / 1'000'000'000) + " s.";
    case LinkState::rekeying: return "A rekey is running alongside the session.";
  }
  return {};
}

void LinkLedger::refresh(const std::function<LinkPicture()>& newest) {
  const std::lock_guard lock(mutex_);
  const auto picture = newest();
  const auto now = state_of(picture);
  if (now == state_) return;
  if (now == LinkState::up && state_ != LinkState::rekeying)
    last_error_.clear();  // what kept the link from working is over
  events_.push(Event{0, id_, StateEvent{state_, now, reason_for(now, picture)}});
  state_ = now;
}

LinkStatus LinkLedger::status(const LinkPicture& picture) const {
  LinkStatus out;
  out.drone_id = id_;
  if (picture.current) {
    const auto& key = *picture.current;
    out.suite = key.suite->id;
    out.epoch = key.epoch;
    out.session_id = to_hex(key.id);
    out.key_age_s = to_s(now_ns() - key.installed_ns);
    out.hybrid = key.hybrid;
    out.drone_signed = key.drone_signed;
    out.ratchets = key.ratchets;
    out.compact = (key.features & features::kCompact) != 0;
    out.silence_s = to_s(picture.heard_silence_ns);
  }
  if (picture.current && picture.role != StationRole::none) {
    out.role = picture.role == StationRole::active ? "active" : "standby";
    out.term = picture.term;
  }
  out.shape_kbit = picture.shape_kbit;
  out.peer = picture.peer.text();
  out.plain_local = picture.plain_local.text();
  out.plain_peer = picture.plain_peer.text();
  const std::lock_guard lock(mutex_);
  out.state = state_of(picture);
  out.last_error = last_error_;
  out.key_old = picture.key_old;
  // Whatever the state is: a reader of the topic alone must see it.
  if (picture.key_old) out.last_error = kKeyOld + (last_error_.empty() ? "" : " Last failure: " + last_error_);
  out.handshakes_ok = ok_;
  out.handshakes_failed = failed_;
  out.rekeys_ok = rekeys_ok_;
  return out;
}

}  // namespace pqcmav
