// SPDX-License-Identifier: Apache-2.0
#include "diagnoser.hpp"

#include <algorithm>
#include <array>

#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

constexpr std::array<std::string_view, 3> kServerFigures{"other_version", "restarts_told", "keygens"};
constexpr std::array<std::string_view, 4> kFurtherFigures{"drop_unknown", "drop_seq_old", "delivered", "roams"};
constexpr std::array<std::string_view, pqcmav::kShapeClasses> kShapeClassNames{"commands", "transfers", "streams",
                                                                               "rest", "rekey"};
constexpr std::string_view kUnsent = "plain_dropped_no_session";
constexpr std::string_view kMoreRoom = "this machine is busy or flooded, or 'socket_buffer_kib' is too small";
constexpr std::string_view kKeyOld = "KEY_OLD";  // how last_error begins while the keys are too old

/// Of several ground stations.
std::string part_of(const pqcmav::LinkStatus& status) {
  if (status.role == "standby") return ", standby: the drone hears another ground station";
  return status.stations.empty() ? "" : ", ground station " + status.station;
}

std::pair<Level, std::string> judge(const pqcmav::LinkStatus& status, const std::string& role) {
  using pqcmav::LinkState;
  const auto state = status.state;
  const auto& error = status.last_error;
  const bool up = state == LinkState::up || state == LinkState::rekeying;
  const bool plain_down = error.find(pqcmav::kPlainDown) != std::string::npos;
  if ((error.starts_with(kKeyOld) || plain_down) && (up || state == LinkState::degraded)) return {Level::warn, error};
  if (up)
    return {Level::ok, "up with " + short_code(status.suite) + ", epoch " + std::to_string(status.epoch) +
                           (state == LinkState::rekeying ? ", renewing its keys" : "") + part_of(status)};
  if (state == LinkState::degraded)
    return {Level::warn, "nothing heard from the peer for " + fixed(status.silence_s, 1) + " s"};
  if (state == LinkState::handshaking)
    return {Level::warn, error.empty() ? "connecting" : "connecting (last failure: " + error + ")"};
  if (!error.empty()) return {Level::error, error};
  if (role == "gcs") return {Level::warn, "the drone has not connected yet"};
  return {Level::error, "no session"};
}

std::string shape_line(const pqcmav::ShapeCount& count) {
  return "taken " + std::to_string(count.taken) + " sent " + std::to_string(count.sent) + " replaced " +
         std::to_string(count.replaced) + " dropped " + std::to_string(count.dropped) + " oldest_ms " +
         std::to_string(count.oldest_ms);
}

}  // namespace

Diagnostic Diagnoser::tunnel(const pqcmav::LinkStatus& status, const pqcmav::LinkStats& stats,
                             const pqcmav::LinkQualityView* link) {
  auto [level, message] = judge(status, role_);
  // What the ground software says to a standby is left out on purpose.
  const auto grew = grown("tunnel " + status.drone_id, stats.counters, pqcmav::watched_of_link(),
                          status.role == "standby" ? kUnsent : std::string_view());
  if (!grew.empty() && level == Level::ok) {
    level = Level::warn;
    message += "; dropped since the last report: " + grew;
  }
  Diagnostic out{"tunnel " + status.drone_id, level, message, {}};
  out.values = {{"state", std::string(to_string(status.state))},
                {"suite", status.suite},
                {"epoch", std::to_string(status.epoch)},
                {"peer", status.peer},
                {"key_age_s", number_text(status.key_age_s)},
                {"silence_s", number_text(status.silence_s)},
                {"shape_kbit", std::to_string(status.shape_kbit)},
                {"station", status.station},
                {"station_role", status.role},
                {"term", std::to_string(status.term)},
                {"key_old", status.last_error.starts_with(kKeyOld) ? "True" : "False"}};
  const auto add = [&](std::string_view name) {
    out.values.emplace_back(name, std::to_string(pqcmav::count_of(stats.counters, name)));
  };
  for (const auto& [name, meaning] : pqcmav::watched_of_link()) add(name);
  for (const auto name : kFurtherFigures) add(name);
  for (std::size_t i = 0; status.shape_kbit != 0 && i < kShapeClassNames.size(); ++i)
    out.values.emplace_back("shape_" + std::string(kShapeClassNames[i]), shape_line(stats.shaping[i]));
  for (const auto& each : stats.endpoints) out.values.emplace_back("endpoint " + each.name, each.text());
  if (link && link->rtt_ms) out.values.emplace_back("rtt_ms", fixed(*link->rtt_ms, 3));
  return out;
}

Diagnostic Diagnoser::handshake_server(const pqcmav::NamedCounters& totals) {
  const auto grew = grown("server", totals, pqcmav::watched_of_server());
  Diagnostic out{"handshake server",
                 grew.empty() ? Level::ok : Level::warn,
                 grew.empty() ? "no unwanted handshakes" : "refused since the last report: " + grew,
                 {}};
  for (const auto& [name, value] : totals)
    if (name.starts_with("hs_") || std::ranges::find(kServerFigures, name) != kServerFigures.end())
      out.values.emplace_back(name, std::to_string(value));
  return out;
}

Diagnostic Diagnoser::data_port(const pqcmav::NamedCounters& totals) {
  const auto grew = grown("data port", totals, pqcmav::watched_of_socket());
  Diagnostic out{"data port",
                 grew.empty() ? Level::ok : Level::warn,
                 grew.empty() ? "the kernel had room for all datagrams"
                              : "since the last report: " + grew + "; " + std::string(kMoreRoom),
                 {}};
  for (const auto& [name, meaning] : pqcmav::watched_of_socket())
    out.values.emplace_back(name, std::to_string(pqcmav::count_of(totals, name)));
  return out;
}

std::string Diagnoser::grown(const std::string& owner, const pqcmav::NamedCounters& counters, Watched watched,
                             std::string_view except) {
  const auto [place, first] = last_.try_emplace(owner);
  std::vector<std::string> texts;
  for (const auto& [name, meaning] : watched) {
    const auto now = pqcmav::count_of(counters, name);
    const auto before = first ? now : place->second[name];
    if (now > before && name != except) texts.push_back(std::to_string(now - before) + " " + std::string(meaning));
    place->second[name] = now;
  }
  return join(texts, ", ");
}

}  // namespace pqc_mav_proxy_cpp
