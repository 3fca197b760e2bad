// SPDX-License-Identifier: Apache-2.0
#include "console/commands.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "clock.hpp"
#include "console/request.hpp"
#include "dangers.hpp"
#include "peer_list.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/open_sockets.hpp"
#include "pqc_mav_tunnel/version.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr int kConsoleVersion = 1;
constexpr std::size_t kDangersMost = 16, kDangerMost = 1'000;
constexpr double kRekeyWaitMost = 300, kServiceWait = 60, kHandshakesUsual = 64, kNumberMost = 1e15;
constexpr double kPinUsual = 600;  // of a suite that is asked for by name
constexpr std::string_view kBusy = "Too many commands run already; try again when one has ended.";
constexpr std::array<std::string_view, 4> kParts = {"status", "stats", "link", "server"};

void require_owner(const Asker& who, const char* what) {
  if (who.uid != 0 && who.uid != ::geteuid())
    refuse("permission", std::string("Only the engine's user and root ") + what + ".");
}

CommandAnswer answer_with(const Json& request, Json result) {
  return {line_of({{"v", kConsoleVersion},
                   {"id", request.value("id", Json(nullptr))},
                   {"ok", true},
                   {"result", std::move(result)}}),
          {},
          {}};
}

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

bool Following::wants(const Event& event) const noexcept {
  if (std::holds_alternative<StateEvent>(event.what)) return state;
  return std::holds_alternative<HandshakeEvent>(event.what) ? handshake : log;
}

std::string refusal_line(const Json& id, std::string_view code, std::string_view text) {
  return line_of({{"v", kConsoleVersion}, {"id", id}, {"ok", false}, {"error", {{"code", code}, {"text", text}}}});
}

Json event_json(const Event& event, Number number, bool pictured) {
  Json out = {{"v", kConsoleVersion}};
  out.update(view_of(event, system_time_of(event.monotonic_ns)));
  if (number) out["number"] = *number;
  if (pictured && std::holds_alternative<HandshakeEvent>(event.what)) out["picture"] = picture_of(event);
  return out;
}

std::string event_line(const Event& event, Number number, bool pictured) {
  return line_of(event_json(event, number, pictured));
}

std::string lost_line(std::uint64_t count, Number number) {
  Json out = {{"v", kConsoleVersion}, {"event", "lost"}, {"count", count}};
  if (number) out["number"] = *number;
  return line_of(out);
}

struct Commands::Entry {
  std::string_view name;
  std::vector<std::string_view> fields;  // besides v, id and command
  CommandAnswer (Commands::*run)(const Json& request, const Asker& who);
};

const std::array<Commands::Entry, 24>& Commands::table() {
  static const std::array<Entry, 24> entries = {{
      {"status", {"drone"}, &Commands::status},
      {"stats", {"drone"}, &Commands::stats},
      {"link", {"drone"}, &Commands::link},
      {"handshakes", {"drone", "limit"}, &Commands::handshakes},
      {"suites", {"available"}, &Commands::suites},
      {"drones", {"action", "drone", "settings", "dry_run"}, &Commands::drones},
      {"rekey", {"drone", "suite", "kind", "reason", "timeout_s", "pin_for_s"}, &Commands::rekey},
      {"request_rekey", {"drone_id", "suite", "kind", "reason", "pin_for_s"}, &Commands::request_rekey},
      {"log_level", {"level"}, &Commands::log_level},
      {"sockets", {}, &Commands::sockets},
      {"dangers", {"lines"}, &Commands::dangers},
      {"reload", {"dry_run"}, &Commands::reload},
      {"station", {"gcs_id"}, &Commands::station},
      {"set", {"key", "value"}, &Commands::set},
      {"subscribe", {"events", "since", "boot", "pictures"}, &Commands::subscribe},
      {"picture", {"drone", "of"}, &Commands::picture},
      {"diagnosis", {}, &Commands::diagnosis},
      {"schema", {}, &Commands::schema},
      {"config", {}, &Commands::config},
      {"hello", {}, &Commands::hello},
      {"configure", {}, &Commands::configure},
      {"pause", {}, &Commands::pause},
      {"resume", {}, &Commands::resume},
      {kFromCounters, {}, &Commands::server_stats},
  }};
  return entries;
}

Commands::Commands(Steered& engine, const EventJournal& log) : engine_(engine), log_(log), began_ns_(now_ns()) {}

CommandAnswer Commands::answer(std::string_view line, const Asker& who) {
  const auto request = Json::parse(line, nullptr, false);
  Json id = nullptr;
  try {
    if (!request.is_object()) refuse("bad_json", "A request is one JSON object in one line.");
    id = id_in(request);
    const auto version = request.find("v");
    if (version == request.end() || *version != kConsoleVersion)
      refuse("version", "This engine speaks version 1 of the control socket: begin with \"v\": 1.");
    const auto name = text_in(request, "command");
    const auto& entries = table();
    const auto entry =
        std::find_if(entries.begin(), entries.end(), [&](const auto& each) { return each.name == name; });
    if (entry == entries.end()) {
      std::string known;
      for (const auto& each : entries) known += (known.empty() ? "" : ", ") + std::string(each.name);
      refuse("unknown_command", "There is no command '" + name + "'; there are " + known + ".");
    }
    for (const auto& [field, value] : request.items())
      if (field != "v" && field != "id" && field != "command" &&
          std::find(entry->fields.begin(), entry->fields.end(), field) == entry->fields.end())
        refuse("bad_request", "'" + name + "' has no '" + field.substr(0, kIdMost) + "'.");
    return (this->*entry->run)(request, who);
  } catch (const Refused& refused) {
    return {refusal_line(id, refused.code, refused.text), {}, {}};
  } catch (const TunnelError& error) {
    return {refusal_line(id, to_string(error.code()), error.what()), {}, {}};
  }
}

/// The drone that a request names, "" where it names none.
std::string Commands::drone_of(const Json& request) const {
  auto name = text_in(request, "drone");
  if (name.empty()) return name;
  const auto ports = engine_.ports();
  if (std::none_of(ports.plain.begin(), ports.plain.end(), [&](const auto& each) { return each.first == name; }))
    refuse("unknown_drone", "There is no drone '" + name + "' here.");
  return name;
}

void Commands::note(const Asker& who, const std::string& drone_id, const std::string& what) {
  if (who.host) return;
  engine_.note(drone_id, "Asked through the control socket by uid " + std::to_string(who.uid) + ", gid " +
                             std::to_string(who.gid) + ", pid " + std::to_string(who.pid) + ": " + what + ".");
}

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
  const auto* system = std::getenv(kSystemVariable);
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
                               {"nonce", system ? system : ""},
                               {"network_namespace", known ? Json(network.st_ino) : Json()},
                               {"version", engine_version()},
                               {"next", log_.next()}});
}

/// Opens or closes the tunnel.
CommandAnswer Commands::change(const Json& request, const Asker& who, const std::string& what,
                               HostView (Steered::*to)()) {
  require_owner(who, "open and close the tunnel");
  note(who, "", what);
  const auto id = request.value("id", Json(nullptr));
  return {refusal_line(id, "busy", kBusy),
          [this, id, to] {
            try {
              const auto host = (engine_.*to)();
              return line_of({{"v", kConsoleVersion},
                              {"id", id},
                              {"ok", true},
                              {"result", {{"state", to_string(host.state)}, {"problem", host.problem}}}});
            } catch (const TunnelError& error) {
              return refusal_line(id, to_string(error.code()), error.what());
            }
          },
          {}};
}
CommandAnswer Commands::configure(const Json& request, const Asker& who) {
  return change(request, who, "read the configuration", &Steered::configure);
}
CommandAnswer Commands::pause(const Json& request, const Asker& who) {
  return change(request, who, "pause the tunnel", &Steered::pause);
}
CommandAnswer Commands::resume(const Json& request, const Asker& who) {
  return change(request, who, "resume the tunnel", &Steered::resume);
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

CommandAnswer Commands::drones(const Json& request, const Asker& who) {
  const auto action = text_in(request, "action"), drone = text_in(request, "drone");
  if (action == "add" || action == "remove" || action == "end") {
    if (drone.empty()) refuse("bad_request", "Name the drone with 'drone'.");
    const auto settings = settings_in(request);
    const bool dry_run = flag_in(request, "dry_run");
    if (action != "add" && (!settings.empty() || request.contains("dry_run")))
      refuse("bad_request", "'" + action + "' has no 'settings' and no 'dry_run'.");
    if (action != "add") (void)drone_of(request);
    if (!dry_run) note(who, drone, action == "end" ? "end the session of " + drone : action + " drone " + drone);
    if (action == "end") return answer_with(request, view_of(engine_.end_session(drone)));
    const auto changes = action == "add" ? engine_.add_drone(drone, settings, dry_run) : engine_.remove_drone(drone);
    return answer_with(request, view_of(changes));
  }
  if (!(action.empty() || action == "list")) refuse("bad_request", "'action' must be list, add, remove or end.");
  if (!drone.empty() || request.contains("settings") || request.contains("dry_run"))
    refuse("bad_request", "'drone', 'settings' and 'dry_run' belong to the other actions.");
  Json out = Json::array();
  for (const auto& [id, port] : engine_.ports().plain) out.push_back({{"drone_id", id}, {"plain_port", port}});
  return answer_with(request, {{"drones", std::move(out)}, {"files", engine_.config_files()}});
}

CommandAnswer Commands::rekey(const Json& request, const Asker& who) {
  auto drone = drone_of(request);
  const auto ports = engine_.ports();
  if (drone.empty() && ports.plain.size() == 1) drone = ports.plain.front().first;
  if (drone.empty())
    refuse("which_drone", "This gcs serves " + std::to_string(ports.plain.size()) + " drones; name one with 'drone'.");
  auto suite = text_in(request, "suite");
  if (!suite.empty()) suite = require_suite(suite).id;
  const auto reason = text_in(request, "reason"), kind = text_in(request, "kind");
  const auto wait = number_in(request, "timeout_s", 60, 0.1, kRekeyWaitMost);
  const auto pin = number_in(request, "pin_for_s", suite.empty() ? 0 : kPinUsual, 0, kPinMost);
  note(who, drone,
       (kind.empty() ? "rekey" : kind) + (suite.empty() ? "" : " to " + suite) +
           (reason.empty() ? "" : " (" + reason + ")"));
  return {refusal_line(request.value("id", Json(nullptr)), "busy", kBusy),
          [this, id = request.value("id", Json(nullptr)), drone, suite, reason, kind, wait, pin] {
            const std::chrono::nanoseconds timeout(to_ns(wait));
            const auto out = engine_.request_rekey(drone, suite, reason, timeout, kind, pin);
            if (!out.ok) return refusal_line(id, "refused", out.message);
            return line_of({{"v", kConsoleVersion},
                            {"id", id},
                            {"ok", true},
                            {"result",
                             {{"drone_id", drone},
                              {"suite", out.suite},
                              {"epoch", out.epoch},
                              {"rekey_ms", out.duration_ms},
                              {"pin_for_s", out.pin_for_s},
                              {"message", out.message}}}});
          },
          {}};
}

/// As `~/rekey` asks and answers.
CommandAnswer Commands::request_rekey(const Json& request, const Asker& who) {
  const auto text = [&](const char* field) {  // a bound of the service is the engine's business
    const auto it = request.find(field);
    if (it != request.end() && !it->is_string()) refuse("bad_request", std::string("'") + field + "' must be a text.");
    return it == request.end() ? std::string() : it->get<std::string>();
  };
  const auto drone = text("drone_id"), suite = text("suite"), kind = text("kind"), reason = text("reason");
  const auto it = request.find("pin_for_s");
  const auto pin = it == request.end() ? 0 : it->is_number() ? it->get<double>() : std::nan("");
  const auto id = request.value("id", Json(nullptr));
  if (!who.host) note(who, drone, "rekey" + (reason.empty() ? "" : " (" + reason.substr(0, kTextMost) + ")"));
  return {refusal_line(id, "busy", kBusy),
          [this, id, drone, suite, kind, reason, pin] {
            Json out = {{"ok", false}, {"suite", ""}, {"epoch", 0}, {"rekey_ms", 0}, {"pin_for_s", 0}, {"message", ""}};
            try {
              const auto ports = engine_.ports().plain;
              if (drone.empty() && ports.size() != 1) {
                std::string known;
                for (const auto& each : ports) known += (known.empty() ? "" : ", ") + each.first;
                refuse("which_drone", "This gcs serves " + std::to_string(ports.size()) +
                                          " drones: name one in drone_id (" + known + ").");
              }
              const auto asked = drone.empty() ? ports.front().first : drone;
              const std::chrono::nanoseconds timeout(to_ns(kServiceWait));
              const auto done = engine_.request_rekey(asked, suite, reason, timeout, kind, pin);
              out = {{"ok", done.ok},
                     {"suite", done.suite},
                     {"epoch", done.epoch},
                     {"rekey_ms", done.duration_ms},
                     {"pin_for_s", done.pin_for_s},
                     {"message", one_line(done.message)}};
              if (!done.ok) {  // the tunnel goes on as it is: what is in use, not what was asked for
                const auto links = engine_.status();
                const auto link = std::ranges::find(links, asked, &LinkStatus::drone_id);
                out["suite"] = link == links.end() ? "" : link->suite;
                out["epoch"] = link == links.end() ? 0 : link->epoch;
              }
            } catch (const Refused& refused) {
              out["message"] = refused.text;
            } catch (const TunnelError& error) {
              out["message"] = one_line(error.what());
            }
            return line_of({{"v", kConsoleVersion}, {"id", id}, {"ok", true}, {"result", std::move(out)}});
          },
          {}};
}

CommandAnswer Commands::log_level(const Json& request, const Asker& who) {
  if (const auto name = text_in(request, "level"); !name.empty()) {
    const auto level = log_level_of(name);
    if (!level) refuse("bad_request", "'level' must be debug, info, warning or error.");
    note(who, "", "log level " + name);
    engine_.set_log_level(*level);
  }
  return answer_with(request, {{"level", to_string(engine_.log_level())}});
}

/// For the guard, which may not look into this process.
CommandAnswer Commands::sockets(const Json& request, const Asker&) {
  Json out = Json::array();
  for (const auto& each : open_sockets(engine_.ports(), engine_.stats())) out.push_back(view_of(each));
  const auto* system = std::getenv(kSystemVariable);
  return answer_with(request, {{"system", system ? system : ""}, {"sockets", std::move(out)}});
}

/// Whoever else may ask could raise false alarms, or hide a true one.
CommandAnswer Commands::dangers(const Json& request, const Asker& who) {
  require_owner(who, "tell dangers");
  const auto lines = request.find("lines");
  if (lines == request.end() || !lines->is_array() || lines->size() > kDangersMost)
    refuse("bad_request", "'lines' must be a list of at most 16 texts.");
  std::vector<std::string> told;
  for (const auto& each : *lines) {
    if (!each.is_string() || each.get_ref<const std::string&>().size() > kDangerMost)
      refuse("bad_request", "'lines' must be texts of at most 1000 bytes.");
    told.push_back(one_line(each.get_ref<const std::string&>()));
  }
  const auto count = told.size();
  if (told != engine_.dangers()) note(who, "", "note ways around the tunnel, now " + std::to_string(count));
  engine_.set_dangers(std::move(told));
  return answer_with(request, {{"dangers", count}, {"for_s", kDangersLast_s}});
}

CommandAnswer Commands::reload(const Json& request, const Asker& who) {
  const bool dry_run = flag_in(request, "dry_run");
  if (!dry_run) note(who, "", "reload of configuration and keys");
  return answer_with(request, view_of(engine_.reload(dry_run)));
}

/// Where a drone with several ground stations is to go; it goes when that one answers.
CommandAnswer Commands::station(const Json& request, const Asker& who) {
  const auto gcs_id = text_in(request, "gcs_id");
  if (engine_.config().role == Role::gcs)
    refuse("refused", "A drone chooses its ground station; ask the drone's engine.");
  if (const auto problem = problem_of_station(engine_.config(), gcs_id); !problem.empty())
    refuse("bad_request", problem);
  note(who, engine_.config().drone_id,
       "go to " + (gcs_id.empty() ? "the first ground station" : "ground station " + gcs_id));
  if (!engine_.use_station(gcs_id)) refuse("refused", "The engine is shutting down.");
  return answer_with(request, {{"gcs_id", gcs_id}});
}

/// A key that counts at once, or, of a host, from its next `configure` on. Whoever else may ask could slow the link down
/// to nothing.
CommandAnswer Commands::set(const Json& request, const Asker& who) {
  require_owner(who, "set keys");
  const auto key = text_in(request, "key");
  const auto it = request.find("value");
  const auto value = it == request.end() ? Json(nullptr) : *it;
  const auto told = [&] { note(who, "", "set " + key + " to " + value.dump()); };
  // One that opens meanwhile takes what is kept (Host), or is open when this looks again.
  const auto set = [&](ConfigValue later, const auto& now) {
    const auto open = [this] { return engine_.host().state == HostState::active; };
    bool counts = open() && now();
    const bool kept = engine_.keep(key, std::move(later));
    counts = counts || (kept && open() && now());
    return answer_with(request, {{"now", counts}});
  };
  if (key == "shape_kbit" && value.is_number_integer()) {
    const auto kbit = value.get<std::int64_t>();
    told();
    return set(kbit, [&] { return engine_.set_shape_kbit(kbit); });
  }
  if (key == "station" && value.is_string()) {
    const auto station = text_in(request, "value");
    told();
    return set(station, [&] { return engine_.use_station(station); });
  }
  auto kept = plain_value(value);
  if (value.is_number_integer()) kept = value.get<std::int64_t>();
  if (value.is_number_float()) kept = value.get<double>();
  if (!kept || !engine_.keep(key, *std::move(kept)))
    refuse("bad_request", "Only 'shape_kbit' (a whole number) and 'station' (a text) count at once.");
  told();
  return answer_with(request, {{"now", false}});
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
