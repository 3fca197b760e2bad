// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/engine.hpp"

#include <algorithm>
#include <exception>
#include <optional>

#include "clock.hpp"
#include "control/rekey_plan.hpp"
#include "crypto/self_test.hpp"
#include "engine_impl.hpp"
#include "handshake/ratchet.hpp"
#include "keys/key_folders.hpp"
#include "path_list.hpp"
#include "peer_list.hpp"
#include "picture/counters.hpp"
#include "pqc_mav_tunnel/version.hpp"
#include "thread.hpp"

namespace pqcmav {
namespace {

/// Where there are several: the active one of a drone; a gcs is its own.
std::string station_of(const LinkStatus& link, const EngineConfig& config) {
  if (config.role == Role::gcs) return link.role.empty() ? std::string{} : config.gcs_id;
  for (const auto& each : link.stations)
    if (each.role == "active") return each.gcs_id;
  return {};
}

/// A problem of an endpoint is told where people and programs look, after one with the keys.
void add_problem(LinkStatus& status, std::string_view what, const std::string& problem) {
  if (problem.empty()) return;
  const auto sentence = std::string(what) + ": " + problem;
  status.last_error = status.key_old ? status.last_error + " " + sentence
                                     : sentence + (status.last_error.empty() ? "" : " " + status.last_error);
}

void add_endpoints(LinkStatus& status, const PlainHub& hub) {
  status.plain_local = hub.text();
  add_problem(status, kPlainDown, hub.problem());
}

void add_radio(LinkStatus& status, const Wire& wire, const SockAddr& peer) {
  if (wire.is_at(peer)) status.peer = wire.radio().name();
  add_problem(status, kRadioDown, wire.radio().problem());
}

}  // namespace

std::string engine_version() { return PQC_MAV_TUNNEL_VERSION; }

Engine::Impl::Impl(EngineConfig given, EventQueue* of_host, std::optional<Written> before)
    : config(given.lean()),
      shown(std::move(given)),
      hosted(of_host != nullptr),
      own_events(log_level_of(config.log_level).value_or(LogLevel::info)),
      events(hosted ? *of_host : own_events) {
  if (before) {
    written = std::move(*before);
  } else {
    written.values = shown.given;
    for (const auto& entry : shown.drones) written.drones.insert(entry.id);
  }
  event_journal.make_room(shown.drones.size());
  own_events.also_tell([this](const Event& event) { event_journal.take(event); });
  if (config.role == Role::drone)
    drone = std::make_unique<DroneControl>(shown, events);
  else
    gcs = std::make_unique<GcsControl>(shown, events);
}

std::string Engine::Impl::self_test() const {
  SelfTestScope scope;
  const auto allow = [&](const std::vector<const Suite*>& suites) {
    for (const auto* suite : suites) scope.add(*suite);
  };
  if (config.role == Role::drone) {
    scope.add(*config.suite);
    scope.kems.insert(&ratchet_kem(*config.suite));
  } else if (config.allowed_suites.empty()) {
    const GcsKeys keys(config.keys);
    for (const auto& suite : all_suites())
      if (keys.has_sig_secret(*suite.sig)) scope.add(suite);
  }
  allow(config.allowed_suites);
  for (const auto& entry : shown.drones) allow(entry.allowed_suites);
  std::string said;
  std::exception_ptr failed;
  {
    const BigThread test([&] {
      try {
        said = pqcmav::self_test(scope, config.provider);
      } catch (...) {
        failed = std::current_exception();
      }
    });
  }
  if (failed) std::rethrow_exception(failed);
  return said;
}

void Engine::Impl::start(Engine& engine) {
  if (data)
    throw TunnelError(Errc::state,
                      running ? "The engine is already running."
                              : "A stopped engine cannot be started again (an engine runs once); make a new one.");
  ControlHooks hooks;
  if (drone) {
    hooks.rekey_requested = [this](std::size_t link, const RekeyRequest& request) {
      if (link != 0) return drone->refuse_request(link, request.request_id);
      drone->on_rekey_requested(request);
    };
    hooks.changed = [this](std::size_t) { drone->on_changed(); };
    hooks.term_told = [this](std::uint32_t term) { drone->on_term_told(term); };
  } else {
    hooks.rekey_answered = [this](std::size_t link, const RekeyResult& result) {
      gcs->on_rekey_answered(link, result);
    };
    hooks.changed = [this](std::size_t link) { gcs->on_changed(link); };
    hooks.set_back = [this] { gcs->on_set_back(); };
  }
  if (config.self_test) events.log(LogLevel::info, "", self_test());
  auto socket = hosted ? std::nullopt : open_local_socket(config, events);
  data = std::make_unique<DataPlane>(shown, events, std::move(hooks));
  try {
    // The data thread drives the handshakes: their handler is known before it runs.
    if (gcs) gcs->start(*data);
    if (drone) drone->attach(*data);
    data->start();
    if (config.relay_port != 0) relay = std::make_unique<DroneRelay>(config, events, [this] { return way(); });
    if (drone) drone->start();
  } catch (...) {
    relay.reset();
    data->stop();
    data.reset();
    throw;
  }
  running = true;
  if (!socket) return;
  console = std::make_unique<Console>(engine, event_journal, std::move(*socket));
  control_path = console->path().string();
  events.log(LogLevel::info, "", "Control socket: " + control_path + '.');
}

std::optional<RelayWay> Engine::Impl::way() const {
  const auto picture = data->picture_of(0);
  if (!picture || !picture->current || picture->peer.empty()) return std::nullopt;
  RelayWay out{picture->peer, config.bind, {}};
  if (const auto* paths = data->paths()) {
    const auto& entry = paths->entry(out.gcs.path);
    if (entry.radio || paths->only_commands(out.gcs.path)) return std::nullopt;
    if (is_ipv4(entry.via) || is_ipv6(entry.via)) {
      out.from = entry.via;
    } else if (!entry.via.empty()) {
      out.device = entry.via;
      out.from.clear();
    }
  }
  out.gcs.local = {};
  out.gcs.path = 0;
  return out;
}

void Engine::Impl::stop() {
  if (!running) return;
  running = false;
  relay.reset();
  if (drone) drone->stop();
  if (gcs) gcs->stop();
  console.reset();  // rekeys that were asked there have their answer now
  data->stop();
  own_events.close();
}

Engine::Engine(EngineConfig config, std::optional<Written> written)
    : impl_(std::make_unique<Impl>(std::move(config), nullptr, std::move(written))) {}
Engine::Engine(EngineConfig config, EventQueue& of_host, std::optional<Written> written)
    : impl_(std::make_unique<Impl>(std::move(config), &of_host, std::move(written))) {}
Engine::~Engine() = default;
void Engine::start() { impl_->start(*this); }
void Engine::stop() { impl_->stop(); }
EngineConfig Engine::config() const { return impl_->current_config(); }
EventQueue& Engine::events() noexcept { return impl_->events; }
const EventJournal& Engine::journal() const noexcept { return impl_->event_journal; }
std::uint64_t Engine::heartbeat() const { return impl_->plane().totals().ticks.get(); }

EnginePorts Engine::ports() const {
  const auto& data = impl_->plane();
  EnginePorts out;
  out.data = data.data_port();
  if (const auto* paths = data.paths()) {
    out.more = paths->ports();
    if (!out.more.empty()) out.data = out.more.front();
  }
  if (impl_->relay) out.more.push_back(impl_->config.relay_port);
  data.for_each_link(
      [&](std::size_t, const Link& link) { out.plain.emplace_back(link.id, link.picture().plain_local.port()); });
  return out;
}

std::vector<LinkStatus> Engine::status() const {
  auto& data = impl_->plane();
  const auto& alarms = data.alarms();
  const auto now = now_ns();
  std::vector<LinkStatus> out;
  data.for_each_link([&](std::size_t i, const Link& link) {
    const auto ledger = impl_->ledger(i);
    if (!ledger) return;
    const auto picture = link.picture();
    out.push_back(ledger->status(picture));
    if (const auto& key = picture.current)
      out.back().ratchet_for_s =
          static_cast<double>(ratchets_for(key->features, key->ratchets, boot_ns() - key->full_boot_ns,
                                           to_ns(impl_->config.key_limit_s))) /
          1e9;
    out.back().peer_alarm = alarms.heard(link.id, now);
    if (const auto hub = link.endpoints()) add_endpoints(out.back(), *hub);
    if (const auto wire = link.air()) add_radio(out.back(), *wire, picture.peer);
  });
  if (impl_->drone) {
    out.front().stations = impl_->drone->stations();
    out.front().blacklisted_suites = impl_->drone->blacklist();
    impl_->drone->add_pin(out.front());
    if (const auto* paths = data.paths()) out.front().paths = paths->statuses();
  }
  for (auto& link : out) {
    link.station = station_of(link, impl_->config);
    link.drone_side = impl_->config.role == Role::drone;
  }
  return out;
}

std::vector<LinkStats> Engine::stats() const {
  const auto& data = impl_->plane();
  std::vector<LinkStats> out;
  data.for_each_link([&](std::size_t, const Link& link) {
    const auto& c = link.counters;
    LinkStats stats{link.id, {}, c.seal_time.average_ns(), c.open_time.average_ns(), {}, link.picture().shaping,
                    {},      {}};
    std::ranges::transform(c.window_depth, stats.window_depth.begin(), &Counter::get);
    add_named(stats.counters, link_counters(), c);
    if (const auto hub = link.endpoints()) stats.endpoints = hub->endpoints();
    if (const auto wire = link.air()) stats.endpoints.push_back(wire->radio().status());
    out.push_back(std::move(stats));
  });
  impl_->rates.measure(out, now_ns());
  return out;
}

NamedCounters Engine::totals() const {
  NamedCounters out;
  add_named(out, process_counters(), impl_->plane().totals());
  if (impl_->gcs) {
    auto counters = impl_->gcs->counters();
    counters.busy.add(impl_->plane().handover_full());
    add_named(out, server_counters(), counters);
  }
  if (impl_->relay) add_named(out, relay_counters(), impl_->relay->counters());
  return out;
}

ServerView Engine::server() const {
  ServerView out{totals(), refused_from(), {}, {}};
  impl_->plane().for_each_link([&](std::size_t, const Link& link) {
    out.drone_ids.push_back(link.id);
    out.opened.push_back(link.counters.delivered.get() + link.counters.control.get());
  });
  return out;
}

std::optional<RefusedShare> Engine::refused_from() const { return impl_->plane().refused_from(); }

std::vector<LinkQualityView> Engine::links() const {
  const auto& data = impl_->plane();
  const auto now = now_ns();
  std::vector<LinkQualityView> out;
  data.for_each_link([&](std::size_t, const Link& link) {
    const auto picture = link.picture();
    LinkQualityView view;
    view.drone_id = link.id;
    view.local = picture.local;
    view.peer = picture.remote;
    if (picture.remote) view.peer_age_s = static_cast<double>(now - picture.remote_at_ns) / 1e9;
    if (picture.rtt_ns) view.rtt_ms = static_cast<double>(*picture.rtt_ns) / 1e6;
    if (picture.rtt_min_ns) view.rtt_min_ms = static_cast<double>(*picture.rtt_min_ns) / 1e6;
    if (picture.clock_offset_ns) view.clock_offset_ms = static_cast<double>(*picture.clock_offset_ns) / 1e6;
    if (const auto wire = link.air()) view.radio = wire->radio().quality();
    out.push_back(std::move(view));
  });
  return out;
}

RekeyOutcome Engine::request_rekey(const std::string& drone_id, const std::string& suite, const std::string& reason,
                                   std::chrono::nanoseconds timeout, const std::string& kind, double pin_for_s) {
  const bool ratchet = kind == to_string(HandshakeKind::ratchet);
  if (!ratchet && !kind.empty() && kind != to_string(HandshakeKind::rekey))
    return {false, suite, 0, 0, "The kind of rekey is '" + kind + "'; ask for 'rekey' or 'ratchet'."};
  if (!(pin_for_s >= 0 && pin_for_s <= kPinMost))
    return {false, suite, 0, 0, "A suite is pinned for 0 to 604800 s; 'suite' in the configuration is for longer."};
  const auto pin_s = static_cast<std::uint32_t>(pin_for_s);
  std::vector<std::pair<std::string, std::size_t>> drones;
  impl_->plane().for_each_link([&](std::size_t i, const Link& link) { drones.emplace_back(link.id, i); });
  for (const auto& [id, i] : drones) {
    if (id != drone_id && !(drone_id.empty() && drones.size() == 1)) continue;
    return impl_->drone ? impl_->drone->request_rekey(suite, reason, timeout, ratchet, pin_s)
                        : impl_->gcs->request_rekey(i, suite, reason, timeout, ratchet, pin_s);
  }
  return {false, suite, 0, 0, "There is no drone '" + drone_id + "' here."};
}

std::string Engine::control_socket() const { return impl_->control_path; }

void Engine::set_dangers(std::vector<std::string> dangers) { impl_->dangers.tell(std::move(dangers), now_ns()); }

std::vector<std::string> Engine::dangers() const { return impl_->dangers.at(now_ns()); }

void Engine::set_alarm(const std::string& from, Alarm alarm) {
  impl_->plane().alarms().tell(from, std::move(alarm), now_ns());
}

Alarm Engine::alarm(const std::string& from) const { return impl_->plane().alarms().told(from, now_ns()); }

bool Engine::use_station(const std::string& gcs_id) {
  (void)impl_->plane();
  if (const auto problem = problem_of_station(impl_->config, gcs_id); impl_->drone && !problem.empty())
    throw TunnelError(Errc::config_invalid, problem);
  return impl_->drone && impl_->running && impl_->drone->use_station(gcs_id);
}

bool Engine::use_path(const std::string& path, const std::string& word) {
  auto& data = impl_->plane();
  if (!impl_->drone) return false;
  if (const auto problem = problem_of_path(impl_->config, path); !problem.empty())
    throw TunnelError(Errc::config_invalid, problem);
  if (word != "on" && word != "off" && word != "first")
    throw TunnelError(Errc::config_invalid, "A path is 'on', 'off' or 'first'.");
  if (!impl_->running) return false;
  const auto& paths = impl_->config.paths;
  const auto at = static_cast<std::size_t>(std::ranges::find(paths, path, &PathEntry::name) - paths.begin());
  if (data.use_path(at, word == "on" ? PathWord::on : word == "off" ? PathWord::off : PathWord::first)) return true;
  if (word == "off")
    throw TunnelError(Errc::state, "'" + path + "' is the last path that is on; switch another one on first.");
  return false;
}

bool Engine::set_shape_kbit(std::int64_t kbit) {
  auto& data = impl_->plane();
  if (kbit < kShapeAuto || kbit > kShapeKbitMax)
    throw TunnelError(Errc::config_invalid, "'shape_kbit' is " + std::to_string(kbit) +
                                                "; it must be between -1 (auto) and " + std::to_string(kShapeKbitMax) +
                                                " kbit/s.");
  return data.set_shaping(static_cast<std::uint32_t>(std::max<std::int64_t>(kbit, 0)), kbit == kShapeAuto);
}

}  // namespace pqcmav
