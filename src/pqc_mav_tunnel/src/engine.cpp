// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/engine.hpp"

#include <algorithm>
#include <optional>

#include "clock.hpp"
#include "control/rekey_plan.hpp"
#include "engine_impl.hpp"
#include "peer_list.hpp"
#include "pqc_mav_tunnel/version.hpp"

namespace pqcmav {
namespace {

constexpr std::array<std::string_view, kDropKinds> kDropNames = {
    "drop_malformed", "drop_unknown", "drop_seq_old", "drop_replay", "drop_auth_fail", "drop_decrypt_fail"};

/// Where there are several: the active one of a drone; a gcs is its own.
std::string station_of(const LinkStatus& link, const EngineConfig& config) {
  if (config.role == Role::gcs) return link.role.empty() ? std::string{} : config.gcs_id;
  for (const auto& each : link.stations)
    if (each.role == "active") return each.gcs_id;
  return {};
}

template <typename Drops>
void add_drops(NamedCounters& out, const Drops& drops) {
  for (std::size_t i = 0; i < kDropKinds; ++i) out.emplace_back(kDropNames[i], drops[i].get());
}

/// A problem of an endpoint is told where people and programs look, after one with the keys.
void add_endpoints(LinkStatus& status, const PlainHub& hub) {
  status.plain_local = hub.text();
  const auto problem = hub.problem();
  if (problem.empty()) return;
  const auto sentence = std::string(kPlainDown) + ": " + problem;
  status.last_error = status.key_old ? status.last_error + " " + sentence
                                     : sentence + (status.last_error.empty() ? "" : " " + status.last_error);
}

/// Where the path is a guess, the tunnel does without.
std::optional<LocalSocket> open_control_socket(const EngineConfig& config, EventQueue& events) {
  if (config.control_socket == "off") return std::nullopt;
  try {
    return LocalSocket(config);
  } catch (const TunnelError& error) {
    if (config.control_socket != "auto") throw;
    events.log(LogLevel::info, "", error.what());
    return std::nullopt;
  }
}

}  // namespace

std::string engine_version() { return PQC_MAV_TUNNEL_VERSION; }

Engine::Impl::Impl(EngineConfig given)
    : config(given.lean()), shown(std::move(given)), events(log_level_of(config.log_level).value_or(LogLevel::info)) {
  for (const auto& entry : shown.drones) named.insert(entry.id);
  if (config.control_socket != "off") events.also_tell([this](const Event& event) { event_journal.take(event); });
  if (config.role == Role::drone)
    drone = std::make_unique<DroneControl>(shown, events);
  else
    gcs = std::make_unique<GcsControl>(shown, events);
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
  }
  auto socket = open_control_socket(config, events);
  data = std::make_unique<DataPlane>(shown, events, std::move(hooks));
  try {
    // The data thread drives the handshakes: their handler is known before it runs.
    if (gcs) gcs->start(*data);
    if (drone) drone->attach(*data);
    data->start();
    if (drone) drone->start();
  } catch (...) {
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

void Engine::Impl::stop() {
  if (!running) return;
  running = false;
  if (drone) drone->stop();
  if (gcs) gcs->stop();
  console.reset();  // rekeys that were asked there have their answer now
  data->stop();
  events.close();
}

Engine::Engine(EngineConfig config) : impl_(std::make_unique<Impl>(std::move(config))) {}
Engine::~Engine() = default;
void Engine::start() { impl_->start(*this); }
void Engine::stop() { impl_->stop(); }
EngineConfig Engine::config() const { return impl_->current_config(); }
EventQueue& Engine::events() noexcept { return impl_->events; }
std::uint64_t Engine::heartbeat() const { return impl_->plane().totals().ticks.get(); }

EnginePorts Engine::ports() const {
  const auto& data = impl_->plane();
  EnginePorts out;
  out.data = data.data_port();
  data.for_each_link(
      [&](std::size_t, const Link& link) { out.plain.emplace_back(link.id, link.picture().plain_local.port()); });
  return out;
}

std::vector<LinkStatus> Engine::status() const {
  const auto& data = impl_->plane();
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
    if (const auto hub = link.endpoints()) add_endpoints(out.back(), *hub);
  });
  if (impl_->drone) {
    out.front().stations = impl_->drone->stations();
    impl_->drone->add_pin(out.front());
  }
  for (auto& link : out) link.station = station_of(link, impl_->config);
  for (const auto& entry : blacklist()) out.front().blacklisted_suites.push_back(entry.suite);
  return out;
}

std::vector<LinkStats> Engine::stats() const {
  const auto& data = impl_->plane();
  std::vector<LinkStats> out;
  data.for_each_link([&](std::size_t, const Link& link) {
    const auto& c = link.counters;
    LinkStats stats{link.id, {}, c.seal_time.average_ns(), c.open_time.average_ns(), {}, link.picture().shaping, {}};
    std::ranges::transform(c.window_depth, stats.window_depth.begin(), &Counter::get);
    auto& named = stats.counters;
    named = {{"plain_rx_packets", c.plain_rx_packets.get()},
             {"plain_rx_bytes", c.plain_rx_bytes.get()},
             {"plain_tx_packets", c.plain_tx_packets.get()},
             {"plain_tx_bytes", c.plain_tx_bytes.get()},
             {"plain_dropped_no_session", c.plain_dropped_no_session.get()},
             {"plain_dropped_no_peer", c.plain_dropped_no_peer.get()},
             {"plain_dropped_too_big", c.plain_dropped_too_big.get()},
             {"plain_dropped_kernel", c.plain_dropped_kernel.get()},
             // TunnelStats has no field for what yields to a rekey; totals() shows it alone.
             {"plain_dropped_send", c.plain_dropped_send.get() + c.yielded.get()},
             {"plain_tap_packets", c.plain_tap_packets.get()},
             {"plain_tap_dropped", c.plain_tap_dropped.get()},
             {"plain_tap_requests", c.plain_tap_requests.get()},
             {"plain_tap_refused", c.plain_tap_refused.get()},
             {"enc_tx_packets", c.enc_tx_packets.get()},
             {"enc_tx_bytes", c.enc_tx_bytes.get()},
             {"enc_dropped_send", c.enc_dropped_send.get()},
             {"enc_rx_packets", c.enc_rx_packets.get()},
             {"enc_rx_bytes", c.enc_rx_bytes.get()},
             {"delivered", c.delivered.get()},
             {"delivered_datagrams", c.delivered_datagrams.get()},
             {"control", c.control.get()}};
    add_drops(named, c.drops);
    named.emplace_back("window_skipped", c.window_skipped.get());
    named.emplace_back("roams", c.roams.get());
    if (const auto hub = link.endpoints()) stats.endpoints = hub->endpoints();
    out.push_back(std::move(stats));
  });
  return out;
}

NamedCounters Engine::totals() const {
  const auto t = impl_->plane().totals();
  NamedCounters out = {
      {"enc_rx_datagrams", t.enc_rx_datagrams.get()},
      {"enc_rx_bytes", t.enc_rx_bytes.get()},
      {"delivered", t.delivered.get()},
      {"delivered_datagrams", t.delivered_datagrams.get()},
      {"control", t.control.get()},
  };
  add_drops(out, t.drops);
  for (std::size_t i = 0; i < kHandshakeDropKinds; ++i) out.emplace_back(kHandshakeDropNames[i], t.handshakes[i].get());
  out.emplace_back("other_version", t.other_version.get());
  out.emplace_back("doubled", t.doubled.get());
  out.emplace_back("skipped", t.skipped.get());
  out.emplace_back("skips", t.skips.get());
  out.emplace_back("late", t.late.get());
  out.emplace_back("drop_kernel", t.kernel.get());
  out.emplace_back("drop_yield", t.yielded.get());
  out.emplace_back("drop_standby", t.standby.get());
  if (impl_->gcs) {
    const auto& s = impl_->gcs->counters();
    auto busy = s.busy;
    busy.add(impl_->plane().handover_full());
    for (const auto& [name, counter] :
         std::initializer_list<std::pair<std::string_view, const Counter&>>{{"hs_gated", s.gated},
                                                                            {"hs_retried", s.retried},
                                                                            {"hs_completed", s.completed},
                                                                            {"hs_ratchets", s.ratchets},
                                                                            {"hs_failed", s.failed},
                                                                            {"hs_busy", busy},
                                                                            {"restarts_told", s.restarts}})
      out.emplace_back(name, counter.get());
    out.emplace_back("keygens", impl_->gcs->keygens());
  }
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
    out.push_back(std::move(view));
  });
  return out;
}

std::vector<BlacklistedSuite> Engine::blacklist() const {
  return impl_->drone ? impl_->drone->blacklist() : std::vector<BlacklistedSuite>{};
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

void Engine::set_dangers(std::vector<std::string> dangers) {
  const std::lock_guard lock(impl_->dangers_mutex);
  impl_->dangers = std::move(dangers);
}

std::vector<std::string> Engine::dangers() const {
  const std::lock_guard lock(impl_->dangers_mutex);
  return impl_->dangers;
}

bool Engine::use_station(const std::string& gcs_id) {
  (void)impl_->plane();
  if (const auto problem = problem_of_station(impl_->config, gcs_id); impl_->drone && !problem.empty())
    throw TunnelError(Errc::config_invalid, problem);
  return impl_->drone && impl_->running && impl_->drone->use_station(gcs_id);
}

bool Engine::set_shape_kbit(std::int64_t kbit) {
  auto& data = impl_->plane();
  if (kbit < 0 || kbit > kShapeKbitMax)
    throw TunnelError(Errc::config_invalid, "'shape_kbit' is " + std::to_string(kbit) + "; it must be between 0 and " +
                                                std::to_string(kShapeKbitMax) + " kbit/s.");
  return data.set_shaping(static_cast<std::uint32_t>(kbit));
}

}  // namespace pqcmav
