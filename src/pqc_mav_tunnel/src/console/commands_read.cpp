// SPDX-License-Identifier: Apache-2.0
// The commands that say how things are, and change nothing.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "clock.hpp"
#include "console/commands.hpp"
#include "console/request.hpp"
#include "pqc_mav_tunnel/open_sockets.hpp"
#include "pqc_mav_tunnel/version.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr double kHandshakesUsual = 64, kNumberMost = 1e15;
constexpr std::array<std::string_view, 4> kParts = {"status", "stats", "link", "server"};

/// Those of the entries that are about a drone, or all for "", each as `show` has it.
template <typename Entries, typename Show>
Json shown_for(const Entries& entries, const std::string& drone_id, const Show& show) {
  Json out = Json::array();
  for (const auto& entry : entries)
    if (drone_id.empty() || entry.drone_id == drone_id) out.push_back(show(entry));
  return out;
}
constexpr auto kView = [](const auto& entry) { return view_of(entry); };
constexpr auto kPicture = [](const auto& entry) { return picture_of(entry); };

}  // namespace

CommandAnswer Commands::status(const Json& request, const Asker&) {
  const auto config = engine_.config();
  return answer_with(request, {{"role", to_string(config.role)},
                               {"gcs_id", config.gcs_id},
                               {"version", engine_version()},
                               {"pid", ::getpid()},
                               {"uptime_s", static_cast<double>(now_ns() - began_ns_) / 1e9},
                               {"key_limit_s", config.key_limit_s},
                               {"data_port", engine_.ports().data},
                               {"dangers", engine_.dangers()},
                               {"tunnels", shown_for(engine_.status(), drone_of(request), kView)}});
}

CommandAnswer Commands::stats(const Json& request, const Asker&) {
  return answer_with(request, {{"totals", view_of(engine_.totals())},
                               {"handshakes", view_of(log_.tally())},
                               {"tunnels", shown_for(engine_.stats(), drone_of(request), kView)}});
}

CommandAnswer Commands::link(const Json& request, const Asker&) {
  return answer_with(request, {{"tunnels", shown_for(engine_.links(), drone_of(request), kView)}});
}

CommandAnswer Commands::picture(const Json& request, const Asker&) {
  const auto drone = drone_of(request), of = text_in(request, "of");
  if (!of.empty() && std::ranges::find(kParts, of) == kParts.end())
    refuse("bad_request", "'of' must be status, stats, link or server.");
  Json out = Json::object();
  const auto wanted = [&](std::string_view part) { return of.empty() || of == part; };
  if (wanted("status")) out["status"] = shown_for(engine_.status(), drone, kPicture);
  if (wanted("stats")) out["stats"] = shown_for(engine_.stats(), drone, kPicture);
  if (wanted("link")) out["link"] = shown_for(engine_.links(), drone, kPicture);
  if (wanted("server")) out["server"] = picture_of(engine_.server());
  return answer_with(request, std::move(out));
}

CommandAnswer Commands::diagnosis(const Json& request, const Asker& who) {
  Diagnoser fresh;
  auto& diagnoser = who.diagnoser ? *who.diagnoser : fresh;
  return answer_with(
      request, {{"status", diagnoser.diagnose(engine_.status(), engine_.stats(), engine_.links(), engine_.totals())}});
}

CommandAnswer Commands::schema(const Json& request, const Asker&) { return answer_with(request, picture_schema()); }

/// As it counts now. Keys are in files, of which it has the paths.
CommandAnswer Commands::config(const Json& request, const Asker&) {
  Json out = Json::object();
  for (const auto& [key, value] : engine_.config().effective)
    out[key] = std::visit([](const auto& each) { return Json(each); }, value);
  return answer_with(request, {{"config", std::move(out)}});
}

/// Whose door this is. A client compares it with what the kernel says of the other end, and with what it started.
CommandAnswer Commands::hello(const Json& request, const Asker&) {
  const auto host = engine_.host();
  const bool known_end = host.state != HostState::unconfigured;
  const auto config = known_end ? engine_.config() : EngineConfig();
  struct stat network{};
  const bool known = ::stat("/proc/self/ns/net", &network) == 0;
  return answer_with(request, {{"boot", log_.boot()},
                               {"pid", ::getpid()},
                               {"uid", ::geteuid()},
                               {"state", to_string(host.state)},
                               {"problem", host.problem},
                               {"wanted", host.wanted},
                               {"starting", host.starting},
                               {"role", known_end ? to_string(config.role) : ""},
                               {"id", config.role == Role::drone ? config.drone_id : config.gcs_id},
                               {"nonce", environment(kSystemVariable)},
                               {"network_namespace", known ? Json(network.st_ino) : Json()},
                               {"version", engine_version()},
                               {"next", log_.next()}});
}

CommandAnswer Commands::server_stats(const Json& request, const Asker&) {
  const auto read_ns = now_ns();
  return answer_with(request, {{"monotonic_ns", read_ns}, {"server", picture_of(engine_.server())}});
}

CommandAnswer Commands::handshakes(const Json& request, const Asker&) {
  const auto limit = static_cast<std::size_t>(
      number_in(request, "limit", kHandshakesUsual, 1, static_cast<double>(EventJournal::kEvents)));
  Json out = Json::array();
  for (const auto& event : log_.handshakes(drone_of(request), limit))
    out.push_back(view_of(event, system_time_of(event.monotonic_ns)));
  return answer_with(request, {{"handshakes", std::move(out)}});
}

CommandAnswer Commands::suites(const Json& request, const Asker&) {
  const bool only = flag_in(request, "available");
  Json out = Json::array();
  for (const auto& suite : all_suites())
    if (!only || availability(suite).available) out.push_back(view_of(suite));
  return answer_with(request, {{"suites", std::move(out)}});
}

/// For the guard, which may not look into this process.
CommandAnswer Commands::sockets(const Json& request, const Asker&) {
  Json out = Json::array();
  for (const auto& each : open_sockets(engine_.ports(), engine_.stats())) out.push_back(view_of(each));
  return answer_with(request, {{"system", environment(kSystemVariable)}, {"sockets", std::move(out)}});
}

CommandAnswer Commands::subscribe(const Json& request, const Asker&) {
  Following kinds;
  if (const auto it = request.find("events"); it != request.end()) {
    kinds.state = kinds.handshake = kinds.log = false;
    if (!it->is_array()) refuse("bad_request", "'events' must be a list of state, handshake and log.");
    for (const auto& each : *it) {
      if (each == "state")
        kinds.state = true;
      else if (each == "handshake")
        kinds.handshake = true;
      else if (each == "log")
        kinds.log = true;
      else
        refuse("bad_request", "'events' must be a list of state, handshake and log.");
    }
  }
  kinds.pictured = flag_in(request, "pictures");
  kinds.next = log_.next();
  Json result = Json::object();
  if (request.contains("since") || request.contains("boot")) {
    const auto since = static_cast<std::uint64_t>(number_in(request, "since", 0, 0, kNumberMost));
    const auto boot = text_in(request, "boot");
    const bool other = (!boot.empty() && boot != log_.boot()) || since > kinds.next;
    const auto oldest = log_.oldest();
    kinds.numbered = true;
    kinds.next = other ? oldest : std::max(since, oldest);
    // With a gap the client has to fetch the picture and the handshakes.
    result = {{"boot", log_.boot()}, {"next", kinds.next}, {"gap", other || since < oldest}};
  }
  auto out = answer_with(request, std::move(result));
  out.follow = kinds;
  return out;
}

}  // namespace pqcmav
