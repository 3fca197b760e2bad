// SPDX-License-Identifier: Apache-2.0
#include "console/views.hpp"

#include <chrono>
#include <set>

#include "clock.hpp"
#include "picture/counters.hpp"
#include "picture/fields.hpp"

namespace pqcmav {
namespace {

template <typename Of, typename Rows>
void at_door(Json& out, const Rows& rows, const Of& of) {
  project(out, rows, of, kInDoor);
}

void describe_event(Json& out, const StateEvent& event) {
  out["event"] = "state";
  out["old"] = to_string(event.before);
  out["new"] = to_string(event.after);
  out["reason"] = event.reason;
}

void describe_event(Json& out, const LogEvent& event) {
  out["event"] = "log";
  out["level"] = to_string(event.level);
  out["text"] = event.text;
}

void describe_event(Json& out, const HandshakeEvent& event) {
  out["event"] = "handshake";
  at_door(out, handshake_rows(), event);
  at_door(out, times_rows(), event.times);
}

/// Counters that version 1 does not have.
const std::set<std::string_view>& unknown_to_door() {
  static const auto names = [] {
    std::set<std::string_view> out;
    for (const auto& row : link_counters())
      if ((row.field.in & kInDoor) == 0) out.insert(row.field.name);
    return out;
  }();
  return names;
}

}  // namespace

Json view_of(const LinkStatus& status) {
  Json out;
  at_door(out, status_rows(), status);
  if (status.paths.empty()) out.erase("paths");  // as ever
  return out;
}

Json view_of(const NamedCounters& counters) {
  Json out = Json::object();
  project(out, counters);
  return out;
}

Json view_of(const HandshakeTally& tally) {
  Json out = {{"le_ms", kHandshakeBuckets}};
  for (std::size_t i = 0; i < kHandshakeKinds; ++i) {
    const auto kind = static_cast<HandshakeKind>(i);
    const auto& one = tally.of(kind);
    Json failed = Json::object();
    // Those that never were, too: a program that watches for the first one must have seen 0 before.
    for (std::size_t error = 1; error < kHandshakeErrors; ++error)
      failed[std::string(to_string(static_cast<HandshakeError>(error)))] = one.failed[error];
    out[std::string(to_string(kind))] = {
        {"counts", one.counts}, {"sum_ms", static_cast<double>(one.sum_ns) / 1e6}, {"failed", std::move(failed)}};
  }
  return out;
}

Json view_of(const LinkStats& stats) {
  Json out;
  at_door(out, stats_head_rows(), stats);
  for (const auto& [name, value] : stats.counters)
    if (!unknown_to_door().contains(name)) out[std::string(name)] = value;
  at_door(out, stats_rows(), stats);
  if (stats.rates) at_door(out, rate_rows(), *stats.rates);
  return out;
}

Json view_of(const LinkQualityView& link) {
  Json out = {{"drone_id", link.drone_id}, {"local", nullptr}, {"peer", nullptr}, {"age_s", nullptr}};
  at_door(out["local"], report_rows(), link.local);
  if (link.peer) {
    at_door(out["peer"], report_rows(), *link.peer);
    out["age_s"] = link.peer_age_s;
  }
  at_door(out, link_rows(), link);
  if (link.radio) at_door(out["radio"], radio_rows(), link);
  return out;
}

Json view_of(const Suite& suite) {
  Json out;
  at_door(out, suite_rows(), suite);
  return out;
}

Json view_of(const OpenSocket& socket) {
  return {{"protocol", socket.udp ? "UDP" : "TCP"},
          {"host", socket.host},
          {"port", socket.port},
          {"inode", socket.inode},
          {"use", to_string(socket.use)}};
}

Json view_of(const DroneChanges& changes) {
  return {{"added", changes.added},     {"removed", changes.removed},
          {"changed", changes.changed}, {"restart", changes.restart},
          {"kept", changes.kept},       {"avoid", changes.avoid ? Json(*changes.avoid) : Json()}};
}

Json view_of(const KeyChanges& changes) {
  return {{"renewed", changes.renewed}, {"removed", changes.removed}, {"signing", changes.signing}};
}

Json view_of(const ReloadOutcome& outcome) {
  auto out = view_of(outcome.keys);
  out["configuration"] = outcome.configuration;
  out["drones"] = view_of(outcome.drones);
  return out;
}

Json view_of(const Event& event, double time) {
  Json out;
  std::visit([&](const auto& what) { describe_event(out, what); }, event.what);
  out["drone_id"] = event.drone_id;
  out["time"] = time;
  return out;
}

std::string line_of(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'; }

double system_time_of(std::uint64_t monotonic_ns) {
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return now - static_cast<double>(now_ns() - monotonic_ns) / 1e9;
}

}  // namespace pqcmav
