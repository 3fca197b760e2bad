// SPDX-License-Identifier: Apache-2.0
#include "control/handshake_client.hpp"

#include <algorithm>
#include <type_traits>

#include "control/admission.hpp"
#include "handshake/restart_key.hpp"
#include "handshake/retry_cookie.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

constexpr std::chrono::milliseconds kAskEvery{50};
constexpr std::uint64_t kNextTargetNs =
    1'000'000'000;                        // a name with several addresses: the next one is tried after this
constexpr std::size_t kPerFragment = 30;  // overhead of a datagram around a fragment
constexpr std::size_t kTokensKept = 4;    // two for each of two sessions
constexpr std::uint64_t kRestartEchoNs = 30'000'000'000;
constexpr std::size_t kRestartSize = 1 + kSessionIdSize + kRestartTokenSize;

}  // namespace

HandshakeClient::HandshakeClient(DataPlane& data, std::size_t stations, std::function<void(const SessionId&)> restarted)
    : data_(data), restarted_(std::move(restarted)), tickets_(stations) {}

// --- control thread -------------------------------------------------------------------------------------------------

ClientOutcome HandshakeClient::run(InitiatorParams params, std::vector<SockAddr> targets,
                                   const std::function<std::optional<std::string>()>& give_up) {
  ClientOutcome out;
  if (!targets.empty()) out.gcs = targets.front();
  try {
    auto attempt = std::make_shared<Attempt>();
    random_bytes(attempt->name);
    attempt->keys = derive_fragment_keys(params.psk, attempt->name);
    attempt->options.attempt = attempt->name;
    attempt->options.in_session = targets.empty();
    attempt->options.datagram_limit = params.max_datagram;
    attempt->targets = std::move(targets);
    attempt->proven = params.ticket.has_value();
    const auto longest = longest_server_hello(*params.suite, params.hybrid);
    const std::size_t fragments = longest / (params.max_datagram - 50) + 1;
    attempt->need = longest + kPerFragment * fragments;
    attempt->limit_ns = now_ns() + to_ns(kHandshakeLimit) + longest / 1024 * to_ns(seconds(1));
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
    auto attempt = std::make_shared<Attempt>();
    random_bytes(attempt->name);
    attempt->options.attempt = attempt->name;
    attempt->options.in_session = true;
    attempt->limit_ns = now_ns() + to_ns(kHandshakeLimit);
    RatchetInitiator initiator(std::move(params));
    converse(initiator, std::move(attempt), give_up, out);
  } catch (const TunnelError& error) {
    out.error = error.code() == Errc::state ? HandshakeError::cancelled : HandshakeError::crypto;
    out.reason = error.what();
  }
  return out;
}

template <typename Initiator>
void HandshakeClient::converse(Initiator& initiator, std::shared_ptr<Attempt> attempt,
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
    attempt->m1 = initiator.start(now_ns());
    attempt->answers = initiator.expecting();
    {
      const std::lock_guard lock(mutex_);
      letters_.clear();
    }
    if (!data_.post([this, attempt] { begin(attempt); }))
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

void HandshakeClient::begin(std::shared_ptr<Attempt> attempt) {
  attempt_ = std::move(attempt);
  silent_ = true;
  // Of the way to another station nothing is known.
  const auto& targets = attempt_->targets;
  const auto& link = data_.link(0);
  if (targets.empty() || std::ranges::find(targets, link.peer) != targets.end()) attempt_->options.known = link.known();
  auto& options = attempt_->options;
  options.wire_ns = targets.empty() ? options.known.wire_ns : data_.wire_ns(targets.front());
  if (options.wire_ns != 0) options.datagram_limit = kDatagramSmall;
  attempt_->transport.emplace(options, attempt_->keys.clone());
  const auto now = now_ns();
  attempt_->next_target_ns = now + kNextTargetNs;
  say_hello(now);
}

void HandshakeClient::say_hello(std::uint64_t now) {
  auto& attempt = *attempt_;
  attempt.transport->expect(attempt.answers);
  if (attempt.targets.empty())
    attempt.transport->start(attempt.m1, now);
  else
    attempt.transport->start_hello(attempt.m1, attempt.need, attempt.proven, now);
  send_due(now);
}

void HandshakeClient::ask_again(std::uint16_t after_ms) {
  if (!attempt_) return;
  const auto wait = std::clamp<std::uint64_t>(after_ms, kBusyRetryMin.count(), kBusyRetryMax.count());
  attempt_->transport->expect(attempt_->answers);  // an M2 is welcome even so
  const auto now = now_ns();
  attempt_->held_until_ns = now + wait * 1'000'000;
  attempt_->transport->hold_hello(attempt_->held_until_ns);
  attempt_->busy = true;
  // Inside a session there is nothing to lose by waiting: its keys go on working.
  if (attempt_->targets.empty()) attempt_->limit_ns = std::max(attempt_->limit_ns, now + to_ns(kHandshakeLimit));
  reschedule();
}

void HandshakeClient::reply(Bytes frame, std::vector<FrameLimits> expecting) {
  if (!attempt_) return;
  const auto now = now_ns();
  attempt_->transport->expect(std::move(expecting));
  attempt_->transport->start(std::move(frame), now);
  send_due(now);
}

void HandshakeClient::finish() {
  if (attempt_) {
    const auto& targets = attempt_->targets;
    const auto with = targets.empty() ? SockAddr{} : targets[attempt_->target];
    if (tickets_.size() == 1 || with.empty() || with == data_.link(0).peer || data_.link(0).peer.empty())
      data_.note_round_trip(0, attempt_->transport->full_round_trip(), with);
    data_.rekey_over(0);
    if (!targets.empty()) ended_ = {attempt_->name, attempt_->keys.clone(), now_ns() + kRestartEchoNs};
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
    if (datagram.size() != kRestartSize) return HandshakeDrop::malformed;
    const auto session = datagram.subspan(1, kSessionIdSize);
    const auto token =
        std::ranges::find_if(tokens_, [&](const Token& each) { return std::ranges::equal(each.session, session); });
    if (token == tokens_.end()) return HandshakeDrop::unknown;
    if (!constant_time_equal(sha256({datagram.subspan(1 + kSessionIdSize)}), token->hash)) return HandshakeDrop::tag;
    // Once per session. Until it has another one, its packets draw more of them, which are no stranger's.
    if (token->taken_ns != 0)
      return now - token->taken_ns <= kRestartEchoNs ? HandshakeDrop::repeated : HandshakeDrop::unknown;
    token->taken_ns = now;
    restarted_(SessionId(token->session));
    return HandshakeDrop::taken;
  }
  if (answers_ended(datagram, now)) return HandshakeDrop::repeated;
  if (!attempt_ || attempt_->targets.empty()) return HandshakeDrop::unknown;
  auto& attempt = *attempt_;
  if (std::find(attempt.targets.begin(), attempt.targets.end(), source) == attempt.targets.end())
    return HandshakeDrop::unknown;
  if (datagram[0] == kRetryType) {
    const auto cookie = open_retry(datagram, attempt.name, attempt.keys.from_gcs);
    if (!cookie) return HandshakeDrop::tag;
    silent_ = false;
    attempt.transport->set_cookie(*cookie, now);
    send_due(now);
    return HandshakeDrop::taken;
  }
  const auto header = parse_handshake_header(datagram);
  if (!header || header->from != HandshakeSide::gcs) return HandshakeDrop::malformed;
  if (header->attempt != attempt.name) return HandshakeDrop::unknown;
  if (!tag_good(attempt.keys.from_gcs, datagram)) return HandshakeDrop::tag;
  auto outcome = HandshakeDrop::taken;
  take(datagram, source, now, outcome);
  return outcome;
}

void HandshakeClient::on_session_frame(std::size_t link, ByteView value, std::uint64_t now) {
  if (link != 0 || !attempt_ || !attempt_->targets.empty() || value.size() < kAttemptSize) return;
  if (!std::equal(attempt_->name.begin(), attempt_->name.end(), value.begin())) return;
  auto outcome = HandshakeDrop::taken;
  take(value, SockAddr{}, now, outcome);
}

void HandshakeClient::take(ByteView datagram, const SockAddr& source, std::uint64_t now, HandshakeDrop& outcome) {
  auto& attempt = *attempt_;
  silent_ = false;
  const auto took = attempt.transport->on_datagram(datagram, 0, now);
  outcome = took == Transport::Took::taken      ? HandshakeDrop::taken
            : took == Transport::Took::repeated ? HandshakeDrop::repeated
                                                : HandshakeDrop::malformed;
  // The address that answers is the gcs: the others are tried no more.
  if (attempt.transport->arriving() && attempt.targets.size() > 1) {
    attempt.targets = {source};
    attempt.target = 0;
  }
  if (auto message = attempt.transport->take_message()) {
    attempt.busy = false;
    post_letter({std::nullopt, std::move(*message), source});
  }
  send_due(now);
}

void HandshakeClient::send_due(std::uint64_t now) {
  auto& attempt = *attempt_;
  const auto send = [&] {
    while (auto out = attempt.transport->poll(now)) {
      if (attempt.targets.empty())
        data_.send_handshake_part(0, out->datagram, now);
      else
        data_.send_datagram(out->datagram, attempt.targets[attempt.target]);
    }
  };
  send();
  if (attempt.targets.empty() && data_.make_room(0, attempt.transport->stalls(), now)) {
    attempt.transport->widen();
    send();
  }
  reschedule();
}

void HandshakeClient::run(std::uint64_t now) {
  if (ended_ && now > ended_->until_ns) ended_.reset();  // its keys are wiped
  if (!attempt_) return reschedule();
  auto& attempt = *attempt_;
  if (now >= std::min(attempt.limit_ns, attempt.gives_up_ns())) {
    const bool busy = attempt.busy;
    finish();
    return post_letter({busy ? HandshakeError::rejected : HandshakeError::timeout, {}, {}});
  }
  if (attempt.targets.size() > 1 && now >= attempt.next_target_ns) {
    attempt.target = (attempt.target + 1) % attempt.targets.size();
    attempt.next_target_ns = now + kNextTargetNs;
  }
  send_due(now);
}

void HandshakeClient::reschedule() noexcept {
  deadline_ = ended_ ? ended_->until_ns + 1 : Transport::kNever;
  if (!attempt_) return;
  const auto& attempt = *attempt_;
  deadline_ = std::min({deadline_, attempt.transport->deadline(), attempt.limit_ns, attempt.gives_up_ns()});
  if (attempt.targets.size() > 1) deadline_ = std::min(deadline_, attempt.next_target_ns);
}

void HandshakeClient::on_session_ended(std::size_t link, std::uint64_t) {
  if (link != 0 || !attempt_ || !attempt_->targets.empty()) return;
  finish();
  post_letter({HandshakeError::cancelled, {}, {}});
}

void HandshakeClient::on_return(const ReturnGrant& grant, std::size_t link) {
  ReturnTicket ticket;
  ticket.prefix = return_proof_prefix(grant.serial, grant.address_tag);
  ticket.key = Secret<32>(grant.return_key.first<32>());
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
  const auto& current = data_.session(link).current();
  if (!current) return;
  std::erase_if(tokens_, [&](const Token& each) { return each.session == current->id; });
  if (tokens_.size() == kTokensKept) tokens_.erase(tokens_.begin());
  tokens_.push_back({current->id, sha256({token.token})});
}

}  // namespace pqcmav
