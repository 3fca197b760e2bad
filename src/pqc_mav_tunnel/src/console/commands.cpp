// SPDX-License-Identifier: Apache-2.0
#include "console/commands.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "clock.hpp"
#include "console/request.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr int kConsoleVersion = 1;

}  // namespace

bool Following::wants(const Event& event) const noexcept {
  if (std::holds_alternative<StateEvent>(event.what)) return state;
  return std::holds_alternative<HandshakeEvent>(event.what) ? handshake : log;
}

std::string result_line(const Json& id, Json result) {
  return line_of({{"v", kConsoleVersion}, {"id", id}, {"ok", true}, {"result", std::move(result)}});
}

CommandAnswer answer_with(const Json& request, Json result) {
  return {result_line(request.value("id", Json(nullptr)), std::move(result)), {}, {}};
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

const std::array<Commands::Entry, 27>& Commands::table() {
  static const std::array<Entry, 27> entries = {{
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
      {"alarm", {"level", "kind", "from"}, &Commands::alarm},
      {"reload", {"dry_run"}, &Commands::reload},
      {"station", {"gcs_id"}, &Commands::station},
      {"avoid", {"families"}, &Commands::avoid},
      {"path", {"path", "use"}, &Commands::path},
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
    if (entry == entries.end())
      refuse("unknown_command", "There is no command '" + name + "'; there are " + listed(entries, &Entry::name) + ".");
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

}  // namespace pqcmav
