// SPDX-License-Identifier: Apache-2.0
#include "console/diagnoser.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "console/numbers.hpp"

namespace pqcmav {
namespace {

enum Level : std::uint8_t { kOk, kWarn, kError };  // as in DiagnosticStatus

constexpr std::array<std::string_view, 3> kServerFigures{"other_version", "restarts_told", "keygens"};
constexpr std::array<std::string_view, 4> kFurtherFigures{"drop_unknown", "drop_seq_old", "delivered", "roams"};
constexpr std::array<std::string_view, kShapeClasses> kShapeClassNames{"commands", "transfers", "streams", "rest",
                                                                       "rekey"};
constexpr std::string_view kUnsent = "plain_dropped_no_session";
constexpr std::string_view kMoreRoom = "; this machine is busy or flooded, or 'socket_buffer_kib' is too small";
constexpr std::string_view kSetBack = "; see 'set_back' in docs/troubleshooting.md";
constexpr std::string_view kKeyOld = "KEY_OLD";  // how last_error begins while the keys are too old

Json entry(std::string_view name, Level level, std::string message) {
  return {{"level", level}, {"name", name}, {"message", std::move(message)}, {"values", Json::array()}};
}

void add(Json& to, std::string_view key, std::string value) {
  to["values"].push_back({{"key", key}, {"value", std::move(value)}});
}

/// Of several ground stations.
std::string part_of(const LinkStatus& status) {
  if (status.role == "standby") return ", standby: the drone hears another ground station";
  return status.stations.empty() ? "" : ", ground station " + status.station;
}

std::pair<Level, std::string> judge(const LinkStatus& status) {
  const auto state = status.state;
  const auto& error = status.last_error;
  const bool up = state == LinkState::up || state == LinkState::rekeying;
  const auto says = [&](std::string_view what) { return error.find(what) != std::string::npos; };
  if ((error.starts_with(kKeyOld) || says(kPlainDown) || says(kRadioDown)) && (up || state == LinkState::degraded))
    return {kWarn, error};
  if (up)
    return {kOk, "up with " + short_code(status.suite) + ", epoch " + std::to_string(status.epoch) +
                     (state == LinkState::rekeying ? ", renewing its keys" : "") + part_of(status)};
  if (state == LinkState::degraded)
    return {kWarn, "nothing heard from the peer for " + fixed(status.silence_s, 1) + " s"};
  if (state == LinkState::handshaking)
    return {kWarn, error.empty() ? "connecting" : "connecting (last failure: " + error + ")"};
  if (!error.empty()) return {kError, error};
  return status.drone_side ? std::pair{kError, std::string("no session")}
                           : std::pair{kWarn, std::string("the drone has not connected yet")};
}

std::string shape_line(const ShapeCount& count) {
  return "taken " + std::to_string(count.taken) + " sent " + std::to_string(count.sent) + " replaced " +
         std::to_string(count.replaced) + " dropped " + std::to_string(count.dropped) + " oldest_ms " +
         std::to_string(count.oldest_ms);
}

}  // namespace

Json Diagnoser::diagnose(const std::vector<LinkStatus>& statuses, const std::vector<LinkStats>& stats,
                         const std::vector<LinkQualityView>& links, const NamedCounters& totals) {
  const std::lock_guard lock(mutex_);
  Json out = Json::array();
  now_.clear();
  for (const auto& status : statuses) {
    const auto counted = std::ranges::find(stats, status.drone_id, &LinkStats::drone_id);
    if (counted == stats.end()) continue;  // drones come and go between two questions
    const auto link = std::ranges::find(links, status.drone_id, &LinkQualityView::drone_id);
    out.push_back(tunnel(status, *counted, link == links.end() ? nullptr : &*link));
  }
  out.push_back(part("data port", totals, watched_of_socket(), "the kernel had room for all datagrams",
                     "since the last report: ", kMoreRoom));
  out.push_back(part("snapshots", totals, watched_of_snapshots(), "neither end was set back to a snapshot",
                     "since the last report: ", kSetBack));
  if (statuses.empty() || !statuses.front().drone_side) {
    out.push_back(part("handshake server", totals, watched_of_server(), "no unwanted handshakes",
                       "refused since the last report: ", {}));
    out.back()["values"] = Json::array();
    for (const auto& [name, value] : totals)
      if (name.starts_with("hs_") || std::ranges::find(kServerFigures, name) != kServerFigures.end())
        add(out.back(), name, std::to_string(value));
  }
  last_.swap(now_);
  return out;
}

Json Diagnoser::tunnel(const LinkStatus& status, const LinkStats& stats, const LinkQualityView* link) {
  const auto name = "tunnel " + status.drone_id;
  auto [level, message] = judge(status);
  // What the ground software says to a standby is left out on purpose.
  const auto grew =
      grown(name, stats.counters, watched_of_link(), status.role == "standby" ? kUnsent : std::string_view());
  if (!grew.empty() && level == kOk) {
    level = kWarn;
    message += "; dropped since the last report: " + grew;
  }
  auto out = entry(name, level, message);
  add(out, "state", std::string(to_string(status.state)));
  add(out, "suite", status.suite);
  add(out, "epoch", std::to_string(status.epoch));
  add(out, "peer", status.peer);
  add(out, "key_age_s", number_text(status.key_age_s));
  add(out, "silence_s", number_text(status.silence_s));
  add(out, "shape_kbit", std::to_string(status.shape_kbit));
  add(out, "station", status.station);
  add(out, "station_role", status.role);
  add(out, "term", std::to_string(status.term));
  add(out, "key_old", status.last_error.starts_with(kKeyOld) ? "True" : "False");
  const auto add_count = [&](std::string_view counter) {
    add(out, counter, std::to_string(count_of(stats.counters, counter)));
  };
  for (const auto& each : watched_of_link()) add_count(each.name);
  for (const auto each : kFurtherFigures) add_count(each);
  for (std::size_t i = 0; status.shape_kbit != 0 && i < kShapeClassNames.size(); ++i)
    add(out, "shape_" + std::string(kShapeClassNames[i]), shape_line(stats.shaping[i]));
  for (const auto& each : stats.endpoints) add(out, "endpoint " + each.name, each.text());
  if (link != nullptr && link->rtt_ms) add(out, "rtt_ms", fixed(*link->rtt_ms, 3));
  return out;
}

Json Diagnoser::part(std::string_view name, const NamedCounters& totals, Watched watched, std::string_view quiet,
                     std::string_view before, std::string_view cure) {
  const auto grew = grown(std::string(name), totals, watched);
  auto out = grew.empty() ? entry(name, kOk, std::string(quiet))
                          : entry(name, kWarn, std::string(before) + grew + std::string(cure));
  for (const auto& each : watched) add(out, each.name, std::to_string(count_of(totals, each.name)));
  return out;
}

std::string Diagnoser::grown(const std::string& part, const NamedCounters& counters, Watched watched,
                             std::string_view except) {
  const auto before = last_.find(part);
  auto& now = now_[part];
  std::string out;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    now.push_back(count_of(counters, watched[i].name));
    const auto more = before == last_.end() ? 0 : now[i] - before->second[i];
    if (more == 0 || more > now[i] || watched[i].name == except) continue;  // a drone that came back counts anew
    out += (out.empty() ? "" : ", ") + std::to_string(more) + " " + std::string(watched[i].meaning);
  }
  return out;
}

}  // namespace pqcmav
