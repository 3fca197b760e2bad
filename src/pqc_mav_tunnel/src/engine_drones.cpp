// SPDX-License-Identifier: Apache-2.0
// What may change while an engine runs: its drones, their plaintext, their keys.
#include <algorithm>
#include <optional>

#include "added_drone.hpp"
#include "engine_impl.hpp"

namespace pqcmav {
namespace {

constexpr const char* kOfTheGcs = "A drone's engine serves that drone alone; ask the gcs' engine.";

std::vector<std::string> drones_in(const EngineConfig& config, const FlatConfig& values) {
  if (config.role != Role::gcs) throw TunnelError(Errc::config_invalid, kOfTheGcs);
  return std::get<std::vector<std::string>>(values.at("drones"));
}

void refuse_another_end(const EngineConfig& shown, const EngineConfig& fresh) {
  if (fresh.role != shown.role || fresh.drone_id != shown.drone_id)
    throw TunnelError(Errc::config_invalid,
                      "The configuration is that of another end ('role' or 'drone_id'); nothing "
                      "was changed. Restart the engine to make it another one.");
}

/// A drone's own plaintext.
DroneEntry plain_entry(const EngineConfig& config) {
  return {config.drone_id, config.plain_bind, config.plain_peer, config.plain_endpoints, std::nullopt, {}};
}

/// May this key change while an engine runs?
bool is_of_drones(const EngineConfig& config, std::string_view key) {
  if (config.role == Role::gcs) return key == "drones" || key == "avoid" || key.starts_with("drone.");
  return key == "plain" || key == "plain_bind" || key == "plain_peer" || key == "plain_endpoints";
}

/// `from` has the word on what may change while an engine runs.
void take_values(const EngineConfig& config, FlatConfig& into, const FlatConfig& from) {
  std::erase_if(into, [&](const auto& each) { return is_of_drones(config, each.first); });
  for (const auto& [key, value] : from)
    if (is_of_drones(config, key)) into[key] = value;
}

/// Takes what may change from `fresh`, and returns the keys of what may not and yet is another.
std::vector<std::string> take_drones(EngineConfig& config, const EngineConfig& fresh) {
  std::vector<std::string> out;
  for (const auto& [key, value] : fresh.effective)
    if (const auto it = config.effective.find(key);
        !is_of_drones(config, key) && it != config.effective.end() && it->second != value)
      out.push_back(key);
  take_values(config, config.effective, fresh.effective);
  take_values(config, config.given, fresh.given);
  config.drones = fresh.drones;
  config.avoid = fresh.avoid;
  config.plain_bind = fresh.plain_bind;
  config.plain_peer = fresh.plain_peer;
  config.plain_endpoints = fresh.plain_endpoints;
  return out;
}

ConfigValue avoid_in(const FlatConfig& values) {
  const auto it = values.find("avoid");
  return it == values.end() ? ConfigValue(std::vector<std::string>{}) : it->second;
}

/// ` Added: uav1, uav2`, or nothing.
std::string list(const char* what, const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? what : ", ") + name;
  return out;
}

}  // namespace

std::pair<EngineConfig, std::vector<std::string>> Engine::Impl::with_kept(EngineConfig fresh) {
  const std::lock_guard lock(config_mutex);
  for (const auto& entry : fresh.drones) written.drones.insert(entry.id);
  std::vector<std::string> kept;
  for (const auto& entry : shown.drones)
    if (!written.drones.contains(entry.id)) kept.push_back(entry.id);
  if (fresh.role != Role::gcs) return {std::move(fresh), {}};
  const auto avoid = avoid_in(shown.given);
  const bool asked = avoid != avoid_in(written.values) && avoid_in(fresh.given) == avoid_in(written.values);
  if (kept.empty() && !asked) return {std::move(fresh), {}};
  auto values = fresh.given;
  if (asked) values["avoid"] = avoid;
  auto ids = std::get<std::vector<std::string>>(values.at("drones"));
  for (const auto& id : kept) {
    ids.push_back(id);
    const auto prefix = "drone." + id + ".";
    FlatConfig settings;
    for (const auto& [key, value] : shown.given)
      if (key.starts_with(prefix)) settings[key.substr(prefix.size())] = value;
    for (const auto& [key, value] : added_settings(fresh.given, id, std::move(settings))) values[prefix + key] = value;
  }
  values["drones"] = std::move(ids);
  return {EngineConfig::from_flat(values), std::move(kept)};
}

KeyChanges Engine::reload_keys(bool dry_run) {
  (void)impl_->plane();
  const auto changes = impl_->drone ? impl_->drone->reload_keys(dry_run) : impl_->gcs->reload_keys(dry_run);
  if (dry_run) return changes;
  const auto said = list(" Renewed: ", changes.renewed) + list(" Without a key now: ", changes.removed) +
                    list(" Signing keys: ", changes.signing);
  impl_->events.log(LogLevel::info, "", "Read the keys again." + (said.empty() ? " Nothing has changed." : said + '.'));
  return changes;
}

KeyChanges Engine::end_session(const std::string& drone_id) {
  (void)impl_->plane();
  if (!impl_->gcs) throw TunnelError(Errc::config_invalid, kOfTheGcs);
  std::optional<std::size_t> place;
  impl_->plane().for_each_link([&](std::size_t i, const Link& link) {
    if (link.id == drone_id) place = i;
  });
  if (!place) throw TunnelError(Errc::config_invalid, "There is no drone '" + drone_id + "' here.");
  auto changes = reload_keys();
  impl_->gcs->end_session(*place);
  impl_->events.log(LogLevel::info, drone_id, "The session was ended; the drone is let in by its current key alone.");
  return changes;
}

void Engine::set_config_source(std::function<EngineConfig()> read, std::function<void()> taken,
                               std::vector<std::string> files) {
  const std::lock_guard lock(impl_->config_mutex);
  impl_->source = std::move(read);
  impl_->source_taken = std::move(taken);
  impl_->source_files = std::move(files);
}

std::vector<std::string> Engine::config_files() const {
  const std::lock_guard lock(impl_->config_mutex);
  return impl_->source_files;
}

Engine::Written Engine::written() const {
  const std::lock_guard lock(impl_->config_mutex);
  return impl_->written;
}

EngineConfig Engine::for_next(const EngineConfig& read) const {
  auto now = config();
  auto values = read.given;
  take_values(now, values, now.given);
  if (values == read.given) return read;
  try {
    return EngineConfig::from_flat(values);
  } catch (const TunnelError& error) {
    impl_->events.log(LogLevel::warning, "",
                      std::string("What was read does not go with the drones that were changed since, so the next "
                                  "start is with the configuration as it was until now: ") +
                          error.what());
    return now;
  }
}

ReloadOutcome Engine::reload(bool dry_run) {
  const std::lock_guard one_at_a_time(impl_->reload_mutex);
  std::function<EngineConfig()> source;
  std::function<void()> taken;
  {
    const std::lock_guard lock(impl_->config_mutex);
    source = impl_->source;
    taken = impl_->source_taken;
  }
  ReloadOutcome out;
  if (source) {
    (void)impl_->plane();
    out.configuration = true;
    const auto read = source();
    auto [fresh, kept] = impl_->with_kept(read);
    refuse_another_end(impl_->current_config(), fresh);
    // A key that is not good is found before the drones change.
    out.keys = impl_->drone ? impl_->drone->reload_keys(true) : impl_->gcs->reload_keys(true, &fresh.drones);
    out.drones = take(fresh, dry_run);
    out.drones.kept = std::move(kept);
    if (const std::lock_guard lock(impl_->config_mutex); !dry_run) impl_->written.values = read.given;
    if (taken && !dry_run) taken();
  }
  if (!dry_run || !source) out.keys = reload_keys(dry_run);
  return out;
}

DroneChanges Engine::reconfigure(const EngineConfig& fresh, bool dry_run) {
  auto out = take(fresh, dry_run);
  const std::lock_guard lock(impl_->config_mutex);
  if (!dry_run) impl_->written.values = fresh.given;
  return out;
}

DroneChanges Engine::take(const EngineConfig& fresh, bool dry_run) {
  const std::lock_guard one_at_a_time(impl_->change_mutex);
  auto& data = impl_->plane();
  if (!impl_->running) throw TunnelError(Errc::state, "The engine is shutting down; nothing was changed.");
  auto shown = impl_->current_config();
  refuse_another_end(shown, fresh);
  DroneChanges out;
  if (impl_->gcs) {
    out = impl_->gcs->set_drones(fresh.drones, dry_run);
  } else if (const auto before = plain_entry(shown), wanted = plain_entry(fresh);
             before.plain_bind != wanted.plain_bind || before.plain_peer != wanted.plain_peer ||
             before.plain_endpoints != wanted.plain_endpoints) {
    if (!shown.plain_tap.empty())
      throw TunnelError(Errc::config_invalid,
                        "With 'plain_tap' the plaintext cannot change while the engine runs; "
                        "nothing was changed. Restart it.");
    if (!dry_run) data.replace_plain(0, before, wanted);
    out.changed.push_back(shown.drone_id);
  }
  if (impl_->gcs && fresh.avoid != shown.avoid) out.avoid = fresh.avoid.text();
  out.restart = take_drones(shown, fresh);
  if (dry_run) return out;
  if (impl_->gcs) impl_->gcs->avoid(fresh.avoid);
  {
    const std::lock_guard lock(impl_->config_mutex);
    impl_->shown = std::move(shown);
  }
  const auto said = list(" Added: ", out.added) + list(" Removed: ", out.removed) + list(" Changed: ", out.changed) +
                    list(" Only a restart takes: ", out.restart);
  if (!said.empty()) impl_->events.log(LogLevel::info, "", "The configuration has changed." + said + '.');
  return out;
}

DroneChanges Engine::add_drone(const std::string& id, const FlatConfig& settings, bool dry_run) {
  const std::lock_guard one_at_a_time(impl_->reload_mutex);
  auto values = config().given;
  auto ids = drones_in(impl_->config, values);
  const auto file = [&] {
    const std::lock_guard lock(impl_->config_mutex);
    return impl_->written.values;
  }();
  if (std::ranges::find(ids, id) != ids.end())
    throw TunnelError(Errc::config_invalid, "There is a drone '" + id + "' here already; remove it first.");
  ids.push_back(id);
  values["drones"] = std::move(ids);
  for (const auto& [key, value] : added_settings(file, id, settings)) values["drone." + id + "." + key] = value;
  auto out = take(EngineConfig::from_flat(values), dry_run);
  const std::lock_guard lock(impl_->config_mutex);
  if (!dry_run) impl_->written.drones.erase(id);
  return out;
}

void Engine::avoid(const std::vector<std::string>& families) {
  const std::lock_guard one_at_a_time(impl_->reload_mutex);
  if (!impl_->gcs) throw TunnelError(Errc::config_invalid, "A ground station avoids families of algorithms; ask that.");
  auto values = config().given;
  values["avoid"] = families;
  (void)take(EngineConfig::from_flat(values));
}

DroneChanges Engine::remove_drone(const std::string& id) {
  const std::lock_guard one_at_a_time(impl_->reload_mutex);
  auto values = config().given;
  auto ids = drones_in(impl_->config, values);
  if (std::erase(ids, id) == 0) throw TunnelError(Errc::config_invalid, "There is no drone '" + id + "' here.");
  if (ids.empty())
    throw TunnelError(Errc::config_invalid,
                      "'" + id + "' is the only drone here; a gcs needs one. Stop the engine instead.");
  values["drones"] = std::move(ids);
  std::erase_if(values, [&](const auto& each) { return each.first.starts_with("drone." + id + "."); });
  return take(EngineConfig::from_flat(values));
}

}  // namespace pqcmav
