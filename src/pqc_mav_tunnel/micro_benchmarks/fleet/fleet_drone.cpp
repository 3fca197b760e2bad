// SPDX-License-Identifier: Apache-2.0
// The drone's session: packets and upkeep. Its handshakes are in fleet_drone_handshakes.cpp.
#include "fleet_drone.hpp"

#include <algorithm>
#include <cstring>

#include "mavlink_messages.hpp"
#include "session/bundle.hpp"
#include "text.hpp"

namespace pqcmav::fleet {
namespace {

constexpr std::uint64_t kTickNs = 100'000'000, kSoonestNs = 1'000'000;  // as the engine

StationTimers station_timers(const EngineConfig& config) {
  return {to_ns(config.reconnect_after_s), to_ns(config.failback_s), to_ns(kStandbyLost), to_ns(kStandbyRetry)};
}

}  // namespace

std::string_view to_string(DroneEvent::What what) noexcept {
  return name_in<DroneEvent::What::rekey_failed>({"connected", "lost", "heard", "failed", "rekeyed", "rekey_failed"},
                                                 what, "");
}

/// Engines that were started at different times do nothing in step: reports and ticks are spread here as there.
FleetDrone::FleetDrone(const DroneRules& rules, DroneTally& tally, DroneWorld& world, DroneIdentity who,
                       std::uint64_t seed, std::uint64_t now)
    : rules_(rules),
      tally_(tally),
      world_(world),
      who_(std::move(who)),
      link_(who_.id, true, session_timers(rules.config), rules.config.replay_window),
      choice_(1, false, station_timers(rules.config), 0),
      backoff_(seed),
      rekey_backoff_(seed + 1, kRekeyRetryFirst, kRekeyRetryMost),
      random_(static_cast<std::minstd_rand::result_type>(seed + 2)),
      phase_ns_(random_() % kTickNs),
      next_tick_ns_(now),
      lost_ns_(now) {
  link_.next_report_ns = now + to_ns(kReportEvery) * (random_() % 1000) / 1000;
}

void FleetDrone::on_datagram(MutableBytes datagram, const SockAddr& source, std::uint64_t now) {
  ++tally_.received;
  const auto header = parse_header(datagram);
  header ? on_packet(*header, datagram, now) : on_handshake(datagram, source, now);
}

void FleetDrone::on_packet(const Header& header, MutableBytes datagram, std::uint64_t now) {
  const auto refuse = [this](Drop drop) {
    ++tally_.drops[static_cast<std::size_t>(drop)];
    link_.counters.drops[static_cast<std::size_t>(drop)].add();
  };
  const auto opened = link_.session.open(header, datagram, now);
  if (opened.drop) return refuse(*opened.drop);
  link_.counters.enc_rx_packets.add();
  bool first = false;
  if (opened.current) {
    const auto key = key_of(header.session_id);
    const auto arrival = link_.estimator.on_packet(now, key, header.sequence);
    tally_.skipped += arrival.skipped;
    tally_.late += arrival.late ? 1 : 0;
    first = link_.note_arrival(key, header.sequence, datagram.size(), now);
  } else {
    link_.bytes_arrived += datagram.size() + Shaper::kUdpIp;
  }
  if (first) {
    std::array<std::uint8_t, 96> tlvs{};
    if (const auto used = append_seen(link_, tlvs, 0); used != 0) send_control(ByteView(tlvs).first(used), now);
  }
  if (opened.type == FrameType::data) {
    ++tally_.delivered;
    take_message(opened.payload);
  } else if (opened.type == FrameType::bundle) {
    BundleParts parts;
    if (!parse_bundle(opened.payload, parts)) return refuse(Drop::decrypt_fail);
    ++tally_.delivered;
    for (std::size_t i = 0; i < parts.count; ++i) take_message(parts.items[i]);
  } else {
    ControlList controls;
    if (!parse_controls(opened.payload, controls)) return refuse(Drop::decrypt_fail);
    ++tally_.control;
    on_control(controls, opened.current, now);
  }
}

void FleetDrone::take_message(ByteView message) {
  ++tally_.messages_received;
  if (const auto drone = read_answer(message); drone && *drone != who_.number) ++tally_.messages_mixed_up;
}

void FleetDrone::on_control(const ControlList& controls, bool current, std::uint64_t now) {
  for (std::size_t i = 0; i < controls.count; ++i) {
    const auto& control = controls.items[i];
    if (const auto* probe = std::get_if<Probe>(&control)) {
      std::array<std::uint8_t, 96> tlvs{};
      send_control(ByteView(tlvs).first(append_probe_reply(link_, *probe, tlvs, now)), now);
    } else if (const auto* reply = std::get_if<ProbeReply>(&control)) {
      link_.probes.on_reply(*reply, now);
    } else if (const auto* report = std::get_if<LinkReport>(&control)) {
      link_.remote = *report;
      link_.remote_at_ns = now;
    } else if (!current) {
      continue;  // under old keys it belongs to a session that is over
    } else if (const auto* part = std::get_if<HandshakePart>(&control)) {
      if (talk_ && talk_->attempt.on_session_part(part->value, now)) go_on(now);
    } else if (const auto* aside = std::get_if<Aside>(&control)) {
      link_.estimator.on_aside_told(now, key_of(link_.session.current()->id), aside->count);
    } else if (const auto* challenge = std::get_if<PathChallenge>(&control)) {
      link_.estimator.on_aside(key_of(link_.session.current()->id));
      send_control(OneControl(PathResponse{challenge->random}), now);
    } else if (const auto* grant = std::get_if<ReturnGrant>(&control)) {
      ticket_ = ticket_of(*grant);
      acknowledge(control, now);
    } else if (const auto* token = std::get_if<RestartToken>(&control)) {
      tokens_.know(link_.session.current()->id, *token);
      acknowledge(control, now);
    } else if (std::holds_alternative<Close>(control)) {
      link_.session.close(now);
      decide(now);
      return;
    }
    // What came of a handshake may have put other keys in place.
    if (!link_.session.current()) return;
  }
}

void FleetDrone::acknowledge(const Control& control, std::uint64_t now) {
  send_control(OneControl(got_for(control).value()), now);
}

void FleetDrone::say(ByteView message, std::uint64_t now) {
  std::array<std::uint8_t, kOverhead + kDefaultMaxPayload> packet;
  if (message.size() > kDefaultMaxPayload) return;
  std::memcpy(packet.data() + kHeaderSize, message.data(), message.size());
  const auto sealed = link_.session.seal(FrameType::data, MutableBytes(packet).first(kOverhead + message.size()), now);
  ++(sealed ? tally_.messages_sent : tally_.messages_unsent);
  if (sealed) send_packet(*sealed);
}

void FleetDrone::send_control(ByteView tlvs, std::uint64_t now, bool long_form) {
  std::array<std::uint8_t, kOverhead + kControlFrameMax> packet;
  std::memcpy(packet.data() + kHeaderSize, tlvs.data(), tlvs.size());
  const auto whole = MutableBytes(packet).first(kOverhead + tlvs.size());
  if (const auto sealed = link_.session.seal(FrameType::control, whole, now, long_form)) send_packet(*sealed);
}

void FleetDrone::send_packet(ByteView packet) {
  ++tally_.packets_sent;
  link_.counters.enc_tx_packets.add();
  link_.counters.enc_tx_bytes.add(packet.size());
  world_.send(who_.number, packet);
}

void FleetDrone::run(std::uint64_t now) {
  if (talk_ && now >= talk_->attempt.deadline()) {
    if (talk_->attempt.over(now)) {
      const auto error = talk_->attempt.ended_by();
      fail(error, error == HandshakeError::rejected ? static_cast<std::uint8_t>(Reject::busy) : 0, now);
    } else {
      flush(now);
    }
  }
  if (now >= next_tick_ns_) tick(now);
}

void FleetDrone::tick(std::uint64_t now) {
  (void)link_.session.tick(now);
  if (const auto& current = link_.session.current())
    link_.key_old = boot_ns() - current->full_boot_ns >= to_ns(rules_.config.key_limit_s);
  std::array<std::uint8_t, 256> tlvs{};
  const UpkeepRules rules{true, to_ns(rules_.config.keepalive_s), to_ns(kProbeSilence)};
  if (const auto word = append_upkeep(link_, rules, tlvs, now); word.used != 0)
    send_control(ByteView(tlvs).first(word.used), now, word.names_session);
  decide(now);
  schedule_tick(now);
}

/// The engine looks ten times a second, and when the ground station becomes silent. While nothing can be due at most of
/// these looks, they are left out.
void FleetDrone::schedule_tick(std::uint64_t now) {
  next_tick_ns_ = now + kTickNs - (now - phase_ns_) % kTickNs;
  if (talk_ || !connected_) return;
  const auto keepalive = link_.session.last_sent_ns() + to_ns(rules_.config.keepalive_s);
  const auto due = std::min({link_.next_report_ns, link_.next_probe_ns, keepalive});
  if (due > next_tick_ns_) next_tick_ns_ += (due - next_tick_ns_ + kTickNs - 1) / kTickNs * kTickNs;
  next_tick_ns_ = std::min(next_tick_ns_, std::max(choice_.deadline(), now + kSoonestNs));
}

std::uint64_t FleetDrone::deadline() const noexcept {
  return talk_ ? std::min(next_tick_ns_, talk_->attempt.deadline()) : next_tick_ns_;
}

}  // namespace pqcmav::fleet
