// SPDX-License-Identifier: Apache-2.0
#include "control/handshake_client.hpp"

#include <algorithm>
#include <type_traits>

#include "handshake/retry_cookie.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

constexpr std::chrono::milliseconds kAskEvery{50};

}  // namespace

HandshakeClient::HandshakeClient(DataPlane& data, std::size_t stations, std::function<void(const SessionId&)> restarted)
    : data_(data), restarted_(std::move(restarted)), tickets_(stations) {}

// --- control thread -------------------------------------------------------------------------------------------------

ClientOutcome HandshakeClient::run(InitiatorParams params, std::vector<SockAddr> targets,
                                   const std::function<std::optional<std::string>()>& give_up) {
  ClientOutcome out;
  if (!targets.empty()) out.gcs = targets.front();
  try {
    auto attempt = std::make_shared<ClientAttempt>(params, std::move(targets), now_ns());
    HandshakeInitiator initiator(std::move(params));
    converse(initiator, std::move(attempt), give_up, out);
  } catch (const TunnelError& error) {
    out.error = HandshakeError::crypto;
    out.reason = error.what();
  }
  return out;
}

ClientOutcome HandshakeClient::run(RatchetParams params, const std::function<std::optional<std::string>()>& give_up) {
  ClientOutcome out;
  try {
    auto attempt = std::make_shared<ClientAttempt>();
    RatchetInitiator initiator(std::move(params));
    converse(initiator, std::move(attempt), give_up, out);
  } catch (const TunnelError& error) {
    out.error = error.code() == Errc::state ? HandshakeError::cancelled : HandshakeError::crypto;
    out.reason = error.what();
  }
  return out;
}

template <typename Initiator>
void HandshakeClient::converse(Initiator& initiator, std::shared_ptr<ClientAttempt> attempt,
                               const std::function<std::optional<std::string>()>& give_up, ClientOutcome& out) {
  const auto began = now_ns();
  const auto fail = [&](HandshakeError error, std::string reason) {
    out.error = error;
    out.reason = std::move(reason);
  };
  constexpr bool full = std::is_same_v<Initiator, HandshakeInitiator>;
  const auto sentence = [](HandshakeError error, std::uint8_t code) {
    return full ? describe(error, code, true) : describe_ratchet(error, code, true);
  };
  try {
    auto hello = initiator.start(now_ns());
    {
      const std::lock_guard lock(mutex_);
      letters_.clear();
    }
    if (!data_.post([this, attempt, hello = std::move(hello), answers = initiator.expecting()]() mutable {
          begin(attempt, std::move(hello), std::move(answers));
        }))
      return fail(HandshakeError::cancelled, "The proxy is shutting down.");
    attempt.reset();
    if constexpr (full) initiator.prepare();
    for (;;) {
      std::string reason;
      auto letter = next_letter(give_up, reason);
      if (!letter) {
        fail(HandshakeError::cancelled, std::move(reason));
        break;
      }
      if (letter->ended) {
        // Of refusals only that of a busy gcs ends here: all others come as a message.
        if (*letter->ended == HandshakeError::rejected) out.reject_code = static_cast<std::uint8_t>(Reject::busy);
        fail(*letter->ended, sentence(*letter->ended, out.reject_code));
        break;
      }
      if (!letter->from.empty()) out.gcs = letter->from;
      auto step = initiator.on_data(letter->message, now_ns());
      if (step.status == HandshakeStatus::done) {
        out.keys = initiator.take_keys();
        break;
      }
      if (step.status == HandshakeStatus::failed) {
        out.reject_code = initiator.reject_code();
        out.avoided = initiator.avoided();
        fail(initiator.error(), initiator.reason());
        break;
      }
      if (step.busy_ms)
        data_.post([this, ms = *step.busy_ms] { ask_again(ms); });
      else
        data_.post([this, frame = std::move(step.send), expecting = initiator.expecting()]() mutable {
          reply(std::move(frame), std::move(expecting));
        });
    }
    out.times = initiator.times();
  } catch (const TunnelError& error) {
    fail(HandshakeError::crypto, error.what());
  }
  data_.post([this] { finish(); });
  out.duration_ns = now_ns() - began;
}

std::optional<HandshakeClient::Letter> HandshakeClient::next_letter(
    const std::function<std::optional<std::string>()>& give_up, std::string& reason) {
  for (;;) {
    if (auto why = give_up()) {
      reason = std::move(*why);
      return std::nullopt;
    }
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, kAskEvery, [&] { return nudged_ || !letters_.empty(); });
    nudged_ = false;
    if (letters_.empty()) continue;
    auto letter = std::move(letters_.front());
    letters_.pop_front();
    return letter;
  }
}

void HandshakeClient::nudge() {
  {
    const std::lock_guard lock(mutex_);
    nudged_ = true;
  }
  ready_.notify_all();
}

std::optional<ReturnTicket> HandshakeClient::ticket(std::size_t station) {
  const std::lock_guard lock(mutex_);
  const auto& held = tickets_[station].ticket;
  return held ? std::optional(held->clone()) : std::nullopt;
}

std::optional<ReturnTicket> HandshakeClient::new_ticket(std::size_t station) {
  const std::lock_guard lock(mutex_);
  auto& held = tickets_[station];
  return std::exchange(held.is_new, false) ? std::optional(held.ticket->clone()) : std::nullopt;
}

void HandshakeClient::remember(std::size_t station, ReturnTicket ticket) {
  const std::lock_guard lock(mutex_);
  tickets_[station].ticket = std::move(ticket);
}

// --- data thread ----------------------------------------------------------------------------------------------------

void HandshakeClient::post_letter(Letter letter) {
  {
    const std::lock_guard lock(mutex_);
    letters_.push_back(std::move(letter));
  }
  ready_.notify_all();
}

void HandshakeClient::begin(std::shared_ptr<ClientAttempt> attempt, Bytes hello, std::vector<FrameLimits> answers) {
  attempt_ = std::move(attempt);
  silent_ = true;
  // Of the way to another station nothing is known.
  const auto& targets = attempt_->targets();
  const auto& link = data_.link(0);
  const bool same = targets.empty() || std::ranges::find(targets, link.peer) != targets.end();
  const auto known = same ? link.known() : KnownLink{};
  const auto wire_ns = targets.empty() ? known.wire_ns : data_.wire_ns(targets.front());
  const auto now = now_ns();
  attempt_->begin(std::move(hello), std::move(answers), known, wire_ns, now);
  send_due(now);
}

void HandshakeClient::ask_again(std::uint16_t after_ms) {
  if (!attempt_) return;
  attempt_->ask_again(after_ms, now_ns());
  reschedule();
}

void HandshakeClient::reply(Bytes frame, std::vector<FrameLimits> expecting) {
  if (!attempt_) return;
  const auto now = now_ns();
  attempt_->reply(std::move(frame), std::move(expecting), now);
  send_due(now);
}

void HandshakeClient::finish() {
  if (attempt_) {
    const auto with = attempt_->in_session() ? SockAddr{} : attempt_->target();
    if (tickets_.size() == 1 || with.empty() || with == data_.link(0).peer || data_.link(0).peer.empty())
      data_.note_round_trip(0, attempt_->full_round_trip(), with);
    data_.rekey_over(0);
    if (!attempt_->in_session()) ended_ = {attempt_->name(), attempt_->keys().clone(), now_ns() + kEndedEchoNs};
  }
  attempt_.reset();
  reschedule();
}

bool HandshakeClient::answers_ended(ByteView datagram, std::uint64_t now) const {
  if (!ended_ || now > ended_->until_ns) return false;
  if (datagram[0] == kRetryType) return open_retry(datagram, ended_->name, ended_->keys.from_gcs).has_value();
  const auto header = parse_handshake_header(datagram);
  return header && header->from == HandshakeSide::gcs && header->attempt == ended_->name &&
         tag_good(ended_->keys.from_gcs, datagram);
}

HandshakeDrop HandshakeClient::on_datagram(ByteView datagram, const SockAddr& source, std::uint64_t now) {
  if (datagram[0] == kRestartType) {
    const auto judged = tokens_.judge(datagram, now);
    if (judged.restarted) restarted_(*judged.restarted);
    return judged.outcome;
  }
  if (answers_ended(datagram, now)) return HandshakeDrop::repeated;
  if (!attempt_ || attempt_->in_session()) return HandshakeDrop::unknown;
  const auto outcome = attempt_->on_datagram(datagram, source, now);
  if (outcome != HandshakeDrop::unknown && outcome != HandshakeDrop::tag) go_on(now);  // a stranger's moves nothing
  return outcome;
}

void HandshakeClient::on_session_frame(std::size_t link, ByteView value, std::uint64_t now) {
  if (link == 0 && attempt_ && attempt_->on_session_part(value, now)) go_on(now);
}

/// Something may have come of it.
void HandshakeClient::go_on(std::uint64_t now) {
  silent_ = attempt_->silent();
  if (auto whole = attempt_->take_message()) post_letter({std::nullopt, std::move(whole->message), whole->from});
  send_due(now);
}

void HandshakeClient::send_due(std::uint64_t now) {
  auto& attempt = *attempt_;
  const auto send = [&] {
    while (auto out = attempt.poll(now)) {
      if (attempt.in_session())
        data_.send_handshake_part(0, *out, now);
      else
        data_.send_datagram(*out, attempt.target());
    }
  };
  send();
  if (attempt.in_session() && data_.make_room(0, attempt.stalls(), now)) {
    attempt.widen();
    send();
  }
  reschedule();
}

void HandshakeClient::run(std::uint64_t now) {
  if (ended_ && now > ended_->until_ns) ended_.reset();  // its keys are wiped
  if (!attempt_) return reschedule();
  if (attempt_->over(now)) {
    const auto error = attempt_->ended_by();
    finish();
    return post_letter({error, {}, {}});
  }
  send_due(now);
}

void HandshakeClient::reschedule() noexcept {
  deadline_ = ended_ ? ended_->until_ns + 1 : Transport::kNever;
  if (attempt_) deadline_ = std::min(deadline_, attempt_->deadline());
}

void HandshakeClient::on_session_ended(std::size_t link, std::uint64_t) {
  if (link != 0 || !attempt_ || !attempt_->in_session()) return;
  finish();
  post_letter({HandshakeError::cancelled, {}, {}});
}

void HandshakeClient::on_return(const ReturnGrant& grant, std::size_t link) {
  auto ticket = ticket_of(grant);
  const auto station = data_.link(link).station;
  const std::lock_guard lock(mutex_);
  if (station >= tickets_.size()) return;
  auto& held = tickets_[station];
  // It comes again until the gcs knows that it arrived, and within the hour with each rekey.
  if (held.ticket && held.ticket->prefix == ticket.prefix &&
      constant_time_equal(held.ticket->key.view(), ticket.key.view()))
    return;
  held.ticket = std::move(ticket);
  held.is_new = true;
}

void HandshakeClient::on_restart_token(const RestartToken& token, std::size_t link) {
  if (const auto& current = data_.session(link).current()) tokens_.know(current->id, token);
}

}  // namespace pqcmav
