// SPDX-License-Identifier: Apache-2.0
// The commands that change something: sessions, keys, settings, the tunnel itself.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "alarm_board.hpp"
#include "clock.hpp"
#include "console/commands.hpp"
#include "console/request.hpp"
#include "dangers.hpp"
#include "path_list.hpp"
#include "peer_list.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kFamiliesMost = 16;
constexpr std::size_t kDangersMost = 16, kDangerMost = 1'000;
constexpr double kRekeyWaitMost = 300, kServiceWait = 60;
constexpr double kPinUsual = 600;  // of a suite that is asked for by name
constexpr std::string_view kBusy = "Too many commands run already; try again when one has ended.";

void require_owner(const Asker& who, const char* what) {
  if (who.uid != 0 && who.uid != ::geteuid())
    refuse("permission", std::string("Only the engine's user and root ") + what + ".");
}

}  // namespace

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
              return result_line(id, {{"state", to_string(host.state)}, {"problem", host.problem}});
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
            return result_line(id, {{"drone_id", drone},
                                    {"suite", out.suite},
                                    {"epoch", out.epoch},
                                    {"rekey_ms", out.duration_ms},
                                    {"pin_for_s", out.pin_for_s},
                                    {"message", out.message}});
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
              if (drone.empty() && ports.size() != 1)
                refuse("which_drone", "This gcs serves " + std::to_string(ports.size()) +
                                          " drones: name one in drone_id (" +
                                          listed(ports, [](const auto& each) { return each.first; }) + ").");
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
            return result_line(id, std::move(out));
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

/// What a detector says, told again as long as it lasts; without a level, what it said. Whoever else may ask could raise
/// false alarms, or hide a true one.
CommandAnswer Commands::alarm(const Json& request, const Asker& who) {
  require_owner(who, "raise alarms");
  const auto kind = text_in(request, "kind"), from = text_in(request, "from");
  if (const auto given = request.find("level"); given == request.end() || given->is_null()) {
    const auto told = engine_.alarm(from);
    return answer_with(request, {{"level", told.level}, {"kind", told.kind}});
  }
  const auto level = number_in(request, "level", 0, 0, kAlarmAttack);
  if (level != std::floor(level)) refuse("bad_request", "'level' must be 0, 1 or 2.");
  if (kind.size() > kAlarmKindMost) refuse("bad_request", "'kind' has more than 24 characters.");
  engine_.set_alarm(from, {static_cast<std::uint8_t>(level), level > 0 ? kind : ""});
  return answer_with(request, {{"level", level}, {"for_s", kAlarmLasts_s}});
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

/// Without `families`: which are avoided.
CommandAnswer Commands::avoid(const Json& request, const Asker& who) {
  if (engine_.config().role != Role::gcs)
    refuse("refused", "A ground station says which families are avoided; ask its engine.");
  if (const auto given = request.find("families"); given != request.end()) {
    const bool texts = given->is_array() && given->size() <= kFamiliesMost &&
                       std::ranges::all_of(*given, [](const auto& each) { return each.is_string(); });
    if (!texts) refuse("bad_request", "'families' must be a list of at most 16 texts.");
    const auto families = given->get<std::vector<std::string>>();
    note(who, "", "avoid " + (families.empty() ? "no family" : Families::of(families).text()));
    engine_.avoid(families);
  }
  const auto avoided = engine_.config().avoid;
  Json on = Json::array();
  for (const auto& link : engine_.status())
    if (const auto* suite = find_suite(link.suite); suite != nullptr && avoided.has(*suite))
      on.push_back(link.drone_id);
  return answer_with(request, {{"avoid", avoided.text()}, {"still", std::move(on)}});
}

/// An operator's word about one of a drone's ways.
CommandAnswer Commands::path(const Json& request, const Asker& who) {
  const auto path = text_in(request, "path"), use = text_in(request, "use");
  const auto config = engine_.config();
  if (config.role == Role::gcs) refuse("refused", "A drone chooses its path; ask the drone's engine.");
  if (const auto problem = problem_of_path(config, path); !problem.empty()) refuse("bad_request", problem);
  if (use != "on" && use != "off" && use != "first") refuse("bad_request", "'use' must be on, off or first.");
  note(who, config.drone_id, "path " + path + " " + use);
  if (!engine_.use_path(path, use)) refuse("refused", "The engine is shutting down.");
  const auto message = use == "off"
                           ? "Nothing takes the path '" + path + "' any more, except while no other one answers."
                       : use == "on" ? "The path '" + path + "' may be taken again, in its own place."
                                     : "Packets take the path '" + path + "' as soon as it answers.";
  return answer_with(request, {{"path", path}, {"use", use}, {"message", message}});
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
  if (value.is_number_float()) kept = value.get<double>();
  if (!kept || !engine_.keep(key, *std::move(kept)))
    refuse("bad_request", "Only 'shape_kbit' (a whole number) and 'station' (a text) count at once.");
  told();
  return answer_with(request, {{"now", false}});
}

}  // namespace pqcmav
