// SPDX-License-Identifier: Apache-2.0
// When a drone of a fleet shakes hands, and how: the decisions are those of DroneControl, by the same classes.
#include <algorithm>

#include "control/features.hpp"
#include "control/rekey_plan.hpp"
#include "fleet_drone.hpp"
#include "net/handshake_port.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav::fleet {

using Act = StationChoice::Act;

void FleetDrone::on_handshake(ByteView datagram, const SockAddr& source, std::uint64_t now) {
  const auto type = datagram.empty() ? std::uint8_t{0} : datagram[0];
  if (type != kFromGcsType && type != kRetryType && type != kRestartType) {
    ++tally_.drops[static_cast<std::size_t>(Drop::malformed)];
    return;
  }
  ++tally_.handshakes[static_cast<std::size_t>(judge(datagram, source, now))];
}

HandshakeDrop FleetDrone::judge(ByteView datagram, const SockAddr& source, std::uint64_t now) {
  if (datagram[0] == kRestartType) {
    const auto judged = tokens_.judge(datagram, now);
    const auto& current = link_.session.current();
    if (judged.restarted && current && current->id == *judged.restarted) {
      const auto round_trip = link_.probes.rtt_ns().value_or(0);
      choice_.restarted(0, std::max(2 * (round_trip + round_trip / 4), to_ns(kRestartWait)), now, now);
      restarted_ = true;
      decide(now);
    }
    return judged.outcome;
  }
  if (!talk_ || talk_->attempt.in_session()) return HandshakeDrop::unknown;
  const auto outcome = talk_->attempt.on_datagram(datagram, source, now);
  go_on(now);
  return outcome;
}

/// Keeps account of whether the drone is connected, and says when that changes.
void FleetDrone::watch(std::uint64_t now) {
  const bool before = std::exchange(connected_, link_.session.can_send() && !choice_.in_trouble(now));
  if (before == connected_) return;
  if (connected_) {  // by the session that there was
    restarted_ = false;
    return world_.happened(who_.number, {DroneEvent::What::heard, "", 0, now - lost_ns_}, now);
  }
  lost_ns_ = now;
  const auto* why = restarted_ ? "restart" : link_.session.can_send() ? "silence" : "closed";
  world_.happened(who_.number, {DroneEvent::What::lost, why}, now);
}

void FleetDrone::decide(std::uint64_t now) {
  if (choice_.active() && choice_.has_session(0)) {
    if (link_.session.can_send())
      choice_.heard(0, link_.session.heard_ns(), link_.probes.answered_ns());
    else
      choice_.ended(0, now);
  }
  if (talk_ && !talk_->attempt.silent()) choice_.answered();
  const auto step = choice_.next(now);
  watch(now);
  const bool first = talk_ && talk_->kind == HandshakeKind::first;
  // What answers first wins: the running session, or the handshake that would replace it. One inside a session that is
  // in trouble gives way to that handshake.
  if (first ? step.act != Act::connect : talk_ && choice_.in_trouble(now)) fail(HandshakeError::cancelled, 0, now);
  if (talk_) return;
  if (step.act == Act::connect)
    begin_first(step, now);
  else if (connected_ && rekey_due(now))
    begin_rekey(now);
}

const Suite* FleetDrone::draw_suite() {
  return rules_.suites.empty() ? rules_.config.suite : rules_.suites[random_() % rules_.suites.size()];
}

InitiatorParams FleetDrone::parameters(const Suite* suite) const {
  InitiatorParams out;
  out.suite = suite;
  out.drone_id = who_.id;
  out.gcs_id = rules_.config.peers.front().gcs_id;
  out.hybrid = rules_.config.hybrid;
  out.psk = who_.psk.clone();
  out.gcs_public_key = rules_.gcs_public_key;
  if (who_.own_secret) out.own_secret = SecretBytes(who_.own_secret->view());
  out.features = features_of(rules_.config);
  return out;
}

void FleetDrone::begin_first(const StationChoice::Step& step, std::uint64_t now) {
  choice_.begin(step, now);
  auto params = parameters(draw_suite());
  if (ticket_) params.ticket = ticket_->clone();
  begin(std::make_unique<Talk>(std::move(params), std::vector{rules_.gcs}, HandshakeKind::first, now), now);
}

bool FleetDrone::rekey_due(std::uint64_t now) const noexcept {
  return rules_.config.rekey_interval_s > 0 && now >= next_rekey_ns_;
}

void FleetDrone::begin_rekey(std::uint64_t now) {
  auto running = link_.running();
  if (!running) return;
  auto facts = facts_of(*link_.session.current(), link_.key_old, now, boot_ns());
  facts.interval = to_ns(rules_.config.rekey_interval_s);
  facts.key_limit = to_ns(rules_.config.key_limit_s);
  facts.late_failures = late_failures_;
  const auto* suite = draw_suite();
  // Another suite needs a whole handshake.
  const auto kind = suite == link_.session.current()->suite ? next_rekey(facts) : HandshakeKind::rekey;
  if (kind == HandshakeKind::rekey) {
    auto params = parameters(suite);
    params.prev_session = running->id;
    params.epoch = static_cast<std::uint8_t>(running->epoch + 1);
    params.chain_prev = std::move(running->chain);
    return begin(std::make_unique<Talk>(std::move(params), std::vector<SockAddr>{}, kind, now), now);
  }
  RatchetParams params;
  params.session = std::move(*running);
  params.psk = who_.psk.clone();
  params.fresh = kind == HandshakeKind::ratchet;
  params.key_old = link_.key_old;
  begin(std::make_unique<Talk>(std::move(params), kind, now), now);
}

void FleetDrone::begin(std::unique_ptr<Talk> talk, std::uint64_t now) {
  talk_ = std::move(talk);
  // The look that asks whether it is still wanted comes with the next tick, and ticks are seldom while all is well.
  schedule_tick(now);
  std::visit(
      [&](auto& initiator) {
        auto hello = initiator.start(now);
        talk_->attempt.begin(std::move(hello), initiator.expecting(), link_.known(), 0, now);
      },
      talk_->initiator);
  flush(now);
  if (auto* initiator = std::get_if<HandshakeInitiator>(&talk_->initiator)) initiator->prepare();
}

void FleetDrone::go_on(std::uint64_t now) {
  if (const auto whole = talk_->attempt.take_message()) answer(whole->message, now);
  if (talk_) flush(now);
}

void FleetDrone::answer(ByteView message, std::uint64_t now) {
  auto& attempt = talk_->attempt;
  std::optional<SessionKeys> keys;
  auto error = HandshakeError::none;
  std::uint8_t code = 0;
  try {
    std::visit(
        [&](auto& initiator) {
          auto step = initiator.on_data(message, now);
          if (step.status == HandshakeStatus::done) {
            keys = initiator.take_keys();
          } else if (step.status == HandshakeStatus::failed) {
            error = initiator.error();
            code = initiator.reject_code();
          } else if (step.busy_ms) {
            attempt.ask_again(*step.busy_ms, now);
          } else {
            attempt.reply(std::move(step.send), initiator.expecting(), now);
          }
        },
        talk_->initiator);
  } catch (const TunnelError&) {
    error = HandshakeError::crypto;
  }
  if (keys) return succeed(std::move(*keys), now);
  if (error == HandshakeError::none) return;
  fail(error, code, now);
  decide(now);
}

void FleetDrone::flush(std::uint64_t now) {
  while (const auto out = talk_->attempt.poll(now)) {
    if (!talk_->attempt.in_session()) {
      ++tally_.handshake_datagrams_sent;
      world_.send(who_.number, *out);
      continue;
    }
    std::array<std::uint8_t, kControlFrameMax> tlvs;
    if (const auto used = append_control(tlvs, 0, HandshakePart{*out})) send_control(ByteView(tlvs).first(*used), now);
  }
}

void FleetDrone::succeed(SessionKeys keys, std::uint64_t now) {
  const auto talk = std::move(talk_);
  const bool first = talk->kind == HandshakeKind::first;
  const auto took = now - talk->began_ns;
  link_.note_round_trip(talk->attempt.full_round_trip(), first ? talk->attempt.target() : SockAddr{});
  if (keys.ratchets == 0) keys.full_boot_ns = boot_ns();
  const auto epoch = keys.epoch;
  link_.session.install(std::move(keys), now, turn_ns(link_));
  if (first) {
    link_.peer = talk->attempt.target();
    link_.probes.forget_least();
    choice_.succeeded({Act::connect, 0}, now);
    backoff_.reset();
    restarted_ = false;
    connected_ = true;
  }
  std::array<std::uint8_t, 16> tlvs{};
  send_control(ByteView(tlvs).first(append_switched(tlvs, epoch)), now);
  late_failures_ = 0;
  rekey_backoff_.reset();
  plan_rekey((first ? first_rekey_ns : jittered_ns)(rules_.config.rekey_interval_s, random_), now);
  ++(first ? tally_.first : tally_.rekeys).done;
  if (first)
    world_.happened(who_.number, {DroneEvent::What::connected, "", took, now - lost_ns_}, now);
  else
    world_.happened(who_.number, {DroneEvent::What::rekeyed, "", took}, now);
}

void FleetDrone::fail(HandshakeError error, std::uint8_t reject_code, std::uint64_t now) {
  const auto talk = std::move(talk_);
  const bool first = talk->kind == HandshakeKind::first;
  const auto why = error == HandshakeError::rejected ? to_string(static_cast<Reject>(reject_code)) : to_string(error);
  if (first) {
    choice_.failed(wait_after(error, backoff_), now);
  } else if (const auto& current = link_.session.current()) {
    auto facts = facts_of(*current, link_.key_old, now, boot_ns());
    facts.interval = to_ns(rules_.config.rekey_interval_s);
    if (rekey_is_late(facts)) ++late_failures_;
    plan_rekey(std::min(rekey_backoff_.next_ns(), jittered_ns(rules_.config.rekey_interval_s, random_)), now);
  }
  ++(first ? tally_.first : tally_.rekeys).failed[why];
  const auto what = first ? DroneEvent::What::failed : DroneEvent::What::rekey_failed;
  world_.happened(who_.number, {what, why, now - talk->began_ns}, now);
}

}  // namespace pqcmav::fleet
