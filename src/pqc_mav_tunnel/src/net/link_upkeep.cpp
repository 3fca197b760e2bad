// SPDX-License-Identifier: Apache-2.0
#include "net/link_upkeep.hpp"

#include <algorithm>

namespace pqcmav {

namespace {

/// With each report while it lasts, and once that it is over: without a word it ends by itself.
std::size_t append_alarm(Link& link, MutableBytes tlvs, std::size_t used) noexcept {
  const bool now = link.alarm.level > 0;
  if (!now && !link.alarm_said) return used;
  link.alarm_said = now;
  return append_control(tlvs, used, AlarmTold{link.alarm.level, link.alarm.kind}).value_or(used);
}

}  // namespace

UpkeepWord append_upkeep(Link& link, const UpkeepRules& rules, MutableBytes tlvs, std::uint64_t now) noexcept {
  UpkeepWord out;
  auto& used = out.used;
  // What the drone says twice a second names its session, so that a gcs which does not hold it can say so.
  const bool drone = rules.drone;
  out.names_session = drone;
  const bool doubts = link.late && link.late->doubted();
  const bool silent = drone && (doubts || link.session.silence(now) >= rules.probe_silence_ns);
  if (now >= link.next_report_ns) {
    link.next_report_ns = now + to_ns(kReportEvery);
    link.next_probe_ns = now + to_ns(silent ? kProbeSilentEvery : kProbeAfterReport);
    if (link.report_due(drone, silent, now)) {
      used = append_seen(link, tlvs, *append_control(tlvs, used, link.local));
      used = append_alarm(link, tlvs, used);
      if (link.aside > 0) used = append_control(tlvs, used, Aside{link.aside}).value_or(used);
      if (link.pace.seldom() && !silent) used = append_probe(link, tlvs, used, now);
    }
  } else if (now >= link.next_probe_ns) {
    // Half-way to the next report, so that even an idle link is heard twice a second. A drone that hears nothing probes
    // more often: an answer says that the session lives, and ends the handshake that would replace it.
    link.next_probe_ns = silent ? now + to_ns(kProbeSilentEvery) : link.next_report_ns + to_ns(kProbeAfterReport);
    if (link.probe_due(drone, silent, now)) used = append_probe(link, tlvs, used, now);
  }
  if (used == 0 && now - link.session.last_sent_ns() >= rules.keepalive_ns) {
    used = *append_control(tlvs, used, Keepalive{});
    out.names_session = false;
  }
  if (used != 0) used = link.announcements.append_to(tlvs, used);
  return out;
}

std::size_t append_seen(const Link& link, MutableBytes tlvs, std::size_t used) noexcept {
  if (const auto highest = link.session.seen()) used = append_control(tlvs, used, Seen{*highest}).value_or(used);
  const auto& current = link.session.current();
  const auto& came = link.arrived;
  if (came.at == 0 || !current || came.key != key_of(current->id)) return used;
  return append_control(tlvs, used, Arrived{came.highest, came.at, link.bytes_arrived}).value_or(used);
}

std::size_t append_probe_reply(const Link& link, const Probe& probe, MutableBytes tlvs, std::uint64_t now) noexcept {
  return append_seen(link, tlvs, *append_control(tlvs, 0, ProbeReply{probe.id, probe.t1, now, now_ns()}));
}

std::size_t append_probe(Link& link, MutableBytes tlvs, std::size_t used, std::uint64_t now) noexcept {
  link.last_probe_ns = now;
  return append_control(tlvs, used, link.probes.ask(now_ns())).value_or(used);
}

std::size_t append_switched(MutableBytes tlvs, std::uint8_t epoch) noexcept {
  return *append_control(tlvs, *append_control(tlvs, 0, Switched{epoch}), Keepalive{});
}

std::uint64_t turn_ns(const Link& link) noexcept {
  const auto round_trip = link.probes.rtt_ns().value_or(0);
  return std::min(round_trip + round_trip / 2, to_ns(kTurnMost));
}

}  // namespace pqcmav
