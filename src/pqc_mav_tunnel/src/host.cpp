// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/host.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <type_traits>
#include <utility>

#include "clock.hpp"
#include "console/commands.hpp"
#include "console/console_server.hpp"
#include "console/event_journal.hpp"
#include "console/local_socket.hpp"
#include "console/steered_engine.hpp"
#include "console/wanted_file.hpp"
#include "picture/counters.hpp"
#include "pqc_mav_tunnel/engine.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/host_config.hpp"
#include "pqc_mav_tunnel/open_sockets.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr const char* kPaused = "The tunnel is paused; 'resume' opens it.";
constexpr const char* kNothing = "There is no configuration yet.";

std::vector<std::string> drones_of(const EngineConfig& config) {
  if (config.role == Role::drone) return {config.drone_id};
  std::vector<std::string> out;
  for (const auto& drone : config.drones) out.push_back(drone.id);
  return out;
}

/// The links of a closed tunnel have all figures that those of an open one have.
template <typename Of>
std::vector<Of> closed_links(const EngineConfig& config) {
  std::vector<Of> out;
  for (const auto& id : drones_of(config)) {
    auto& link = out.emplace_back();
    link.drone_id = id;
    if constexpr (std::is_same_v<Of, LinkStatus>) {
      link.drone_side = config.role == Role::drone;
      link.last_error = kPaused;
    } else if constexpr (std::is_same_v<Of, LinkStats>) {
      add_named(link.counters, link_counters(), LinkCounters());
      link.rates.emplace();
    }
  }
  return out;
}

NamedCounters closed_totals(const EngineConfig& config) {
  NamedCounters out;
  add_named(out, process_counters(), ProcessCounters());
  if (config.role == Role::gcs) add_named(out, server_counters(), ServerCounters());
  if (config.relay_port != 0) add_named(out, relay_counters(), RelayCounters());
  return out;
}

ServerView closed_server(const EngineConfig& config) {
  auto drones = drones_of(config);
  std::vector<std::uint64_t> opened(drones.size());
  return {closed_totals(config), {}, std::move(drones), std::move(opened)};
}

}  // namespace

std::string_view to_string(HostState state) noexcept {
  return name_in<HostState::active>({"unconfigured", "inactive", "active"}, state, "?");
}

class Host::Impl final : public Steered {
 public:
  explicit Impl(Sources sources) : sources_(std::move(sources)) {
    events.also_tell([this](const Event& event) { journal_.take(event); });
  }
  ~Impl() override { stop(); }

  EventQueue events{LogLevel::info};

  void open_door(const std::filesystem::path& path, bool open) {
    const auto one_at_a_time = begin_change();
    take_door(LocalSocket(path));
    wanted_ = wanted_file_.open().value_or(open);
    given_door_ = true;
    serve();
  }

  HostView configure() override {
    const auto one_at_a_time = begin_change();
    read_anew();
    return host();
  }

  HostView begin(bool open) {
    const auto one_at_a_time = begin_change();
    const Started started(*this);
    bind_door();
    wanted_ = wanted_file_.open().value_or(open);
    if (wanted_) {
      open_tunnel();
    } else {
      ready_.reset();
      serve();
    }
    return host();
  }

  HostView resume() override {
    const auto one_at_a_time = begin_change();
    bind_door();
    open_tunnel();
    keep(true);
    return host();
  }

  HostView pause() override {
    const auto one_at_a_time = begin_change();
    keep(false);  // first: a crash on the way leaves it closed
    const auto links = status();
    close_tunnel();
    for (const auto& link : links)
      if (link.state != LinkState::down)
        events.push({0, link.drone_id, StateEvent{link.state, LinkState::down, kPaused}});
    return host();
  }

  ReloadOutcome reload(bool dry_run) override {
    const auto one_at_a_time = try_change();
    if (const auto engine = active()) return engine->reload(dry_run);
    ReloadOutcome out;
    out.configuration = true;
    if (dry_run) {
      (void)Engine(read(), events);
    } else {
      read_anew();
      if (wanted_) open_tunnel();
    }
    return out;
  }

  void stop() {
    {
      const std::lock_guard one_at_a_time(change_mutex_);
      if (std::exchange(stopped_, true)) return;
      close_tunnel();
      // An end that was asked for starts anew as it is told; but a service's tunnel that somebody closed stays closed.
      const bool launched = !environment(kSystemVariable).empty();
      if (wanted_ || launched) wanted_file_.forget();
      socket_.reset();
    }
    server_.reset();  // waits for commands that wait for the mutex
    events.close();
  }

  HostView host() const override {
    const std::lock_guard lock(mutex_);
    const auto state = engine_ ? HostState::active : config_ ? HostState::inactive : HostState::unconfigured;
    const auto why = state != HostState::active && problem_.empty() ? (config_ ? kPaused : kNothing) : problem_;
    return {state, why, wanted_, starting_};
  }
  EngineConfig config() const override {
    if (const auto engine = active()) return engine->config();
    const std::lock_guard lock(mutex_);
    if (!config_) throw TunnelError(Errc::state, problem_.empty() ? kNothing : problem_);
    return *config_;
  }
  EnginePorts ports() const override {
    if (const auto engine = active()) return engine->ports();
    EnginePorts out;
    for (auto& id : of_closed(drones_of)) out.plain.emplace_back(std::move(id), 0);
    return out;
  }
  std::vector<LinkStatus> status() const override { return of_active(&Engine::status, closed_links<LinkStatus>); }
  std::uint64_t heartbeat() const {
    const auto engine = active();
    return engine ? engine->heartbeat() : now_ns();
  }
  std::string door() const {
    const std::lock_guard lock(mutex_);
    return door_;
  }

 private:
  std::vector<LinkStats> stats() const override { return of_active(&Engine::stats, closed_links<LinkStats>); }
  std::vector<LinkQualityView> links() const override {
    return of_active(&Engine::links, closed_links<LinkQualityView>);
  }
  NamedCounters totals() const override { return of_active(&Engine::totals, closed_totals); }
  ServerView server() const override { return of_active(&Engine::server, closed_server); }
  std::vector<std::string> dangers() const override {
    const auto engine = active();
    return engine ? engine->dangers() : std::vector<std::string>{};
  }
  void set_dangers(std::vector<std::string> lines) override {
    if (const auto engine = active()) engine->set_dangers(std::move(lines));
  }
  void set_alarm(const std::string& from, Alarm alarm) override {
    if (const auto engine = active()) engine->set_alarm(from, std::move(alarm));
  }
  Alarm alarm(const std::string& from) const override {
    const auto engine = active();
    return engine ? engine->alarm(from) : Alarm{};
  }
  LogLevel log_level() const override { return events.least(); }
  void set_log_level(LogLevel level) override { events.set_least(level); }
  std::vector<std::string> config_files() const override { return sources_.files; }
  DroneChanges add_drone(const std::string& drone_id, const FlatConfig& settings, bool dry_run) override {
    return change([&](Engine& engine) { return engine.add_drone(drone_id, settings, dry_run); });
  }
  DroneChanges remove_drone(const std::string& drone_id) override {
    return change([&](Engine& engine) { return engine.remove_drone(drone_id); });
  }
  KeyChanges end_session(const std::string& drone_id) override {
    return change([&](Engine& engine) { return engine.end_session(drone_id); });
  }
  bool set_shape_kbit(std::int64_t kbit) override {
    return change([&](Engine& engine) { return engine.set_shape_kbit(kbit); });
  }
  void avoid(const std::vector<std::string>& families) override {
    change([&](Engine& engine) { engine.avoid(families); });
  }
  bool use_station(const std::string& gcs_id) override {
    return change([&](Engine& engine) { return engine.use_station(gcs_id); });
  }
  bool use_path(const std::string& path, const std::string& word) override {
    return change([&](Engine& engine) { return engine.use_path(path, word); });
  }
  bool keep(const std::string& key, ConfigValue value) override {
    const std::lock_guard lock(mutex_);
    const auto schema = config_schema();
    const auto found = std::ranges::find(schema, key, &ConfigKey::key);
    const bool known =
        found != schema.end() && (!config_ || (config_->role == Role::drone ? found->drone : found->gcs));
    if (!known && !key.starts_with("drone.") && !key.starts_with("path."))
      throw TunnelError(Errc::config_unknown_key, "There is no key '" + key + "'.");
    if (is_fixed(key.substr(key.rfind('.') + 1)))
      throw TunnelError(Errc::permission, "'" + key + "' is for the start alone; change the configuration file.");
    if ((key == "shape_kbit" && !std::holds_alternative<std::int64_t>(value)) ||
        (key == "station" && !std::holds_alternative<std::string>(value)))
      return false;
    settings_.insert_or_assign(key, std::move(value));
    return true;
  }
  /// Does not keep the tunnel from being closed: that ends it.
  RekeyOutcome request_rekey(const std::string& drone_id, const std::string& suite, const std::string& reason,
                             std::chrono::nanoseconds timeout, const std::string& kind, double pin_for_s) override {
    const auto engine = active();
    if (!engine) return {false, suite, 0, 0, host().problem};
    return engine->request_rekey(drone_id, suite, reason, timeout, kind, pin_for_s);
  }
  void note(const std::string& drone_id, std::string text) override {
    events.push(Event{0, drone_id, LogEvent{LogLevel::info, std::move(text)}});
  }

  std::shared_ptr<Engine> active() const {
    const std::lock_guard lock(mutex_);
    return engine_;
  }
  template <typename Value>
  Value of_active(Value (Engine::*get)() const, Value (*closed)(const EngineConfig&)) const {
    const auto engine = active();
    return engine ? (engine.get()->*get)() : of_closed(closed);
  }
  template <typename Value>
  Value of_closed(Value (*get)(const EngineConfig&)) const {
    const std::lock_guard lock(mutex_);
    return config_ ? get(*config_) : Value{};
  }
  std::unique_lock<std::mutex> begin_change() { return still_here(std::unique_lock(change_mutex_)); }
  /// The door's thread waits for no change that takes its time.
  std::unique_lock<std::mutex> try_change() {
    std::unique_lock lock(change_mutex_, std::try_to_lock);
    if (!lock) throw TunnelError(Errc::state, "The tunnel is just being opened or closed; try again.");
    return still_here(std::move(lock));
  }
  std::unique_lock<std::mutex> still_here(std::unique_lock<std::mutex> lock) const {
    if (stopped_) throw TunnelError(Errc::state, "The program is ending.");
    return lock;
  }
  template <typename Change>
  std::invoke_result_t<const Change&, Engine&> change(const Change& make) {
    const auto one_at_a_time = try_change();
    const auto engine = active();
    if (!engine) throw TunnelError(Errc::state, host().problem);
    return make(*engine);
  }

  /// With what was set; of a tunnel that is open (`all` is false) what was set and counts already is no news.
  EngineConfig read(bool all = true) const {
    auto values = sources_.read();
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [key, value] : settings_)
        if (all || (key != "shape_kbit" && key != "station")) values.insert_or_assign(key, value);
    }
    return EngineConfig::from_flat(values);
  }

  /// Whatever came of it, the start is over.
  struct Started {
    explicit Started(Impl& of) : host(of) {}
    ~Started() { host.starting_ = false; }
    Impl& host;
  };

  // Under change_mutex_.

  void read_anew() {
    if (active()) throw TunnelError(Errc::state, "The tunnel is open; 'reload' reads for it, or pause it first.");
    try {
      auto fresh = read();
      ready_ = std::make_unique<Engine>(fresh, events);
      if (!wanted_) ready_.reset();  // no keys in memory until they are used
      if (given_door_) server_->allow(fresh);
      events.set_least(log_level_of(fresh.log_level).value_or(LogLevel::info));
      journal_.make_room(fresh.drones.size());
      const std::lock_guard lock(mutex_);
      config_ = std::move(fresh);
      written_.reset();
      problem_.clear();
    } catch (const TunnelError& error) {
      tell_problem(error);
      throw;
    }
  }

  void open_tunnel() {
    if (active()) return;
    auto config = this->config();
    try {
      std::shared_ptr<Engine> engine =
          ready_ ? std::move(ready_) : std::make_unique<Engine>(std::move(config), events, written_);
      engine->set_config_source([this] { return *(read_ = read(false)); }, [this] { take_read(); }, sources_.files);
      engine->start();
      const std::lock_guard lock(mutex_);
      engine_ = std::move(engine);
      problem_.clear();
    } catch (const TunnelError& error) {
      tell_problem(error);
      throw;
    }
    count_what_was_set();
    serve();
  }

  /// What counts at once, and was set after the configuration had been read.
  void count_what_was_set() {
    FlatConfig set;
    {
      const std::lock_guard lock(mutex_);
      set = settings_;
    }
    try {
      if (const auto it = set.find("shape_kbit"); it != set.end())
        engine_->set_shape_kbit(std::get<std::int64_t>(it->second));
      if (const auto it = set.find("station"); it != set.end()) engine_->use_station(std::get<std::string>(it->second));
    } catch (const TunnelError& error) {
      events.log(LogLevel::warning, "", error.what());
    }
  }

  void close_tunnel() {
    ready_.reset();
    const auto engine = active();
    if (!engine) return;
    // A drone that was removed meanwhile is removed in the next engine, too.
    auto next = engine->for_next(*config_);
    written_ = engine->written();
    {
      const std::lock_guard lock(mutex_);
      config_ = std::move(next);
      engine_.reset();
      problem_.clear();
    }
    engine->stop();
  }

  void keep(bool open) {
    wanted_ = open;
    if (const auto problem = wanted_file_.keep(open); !problem.empty()) events.log(LogLevel::warning, "", problem);
  }

  void tell_problem(const TunnelError& error) {
    const std::lock_guard lock(mutex_);
    problem_ = error.what();
    starting_ = false;
  }

  /// An engine that reads has read this.
  void take_read() {
    const std::lock_guard lock(mutex_);
    config_ = std::exchange(read_, std::nullopt);
  }

  void bind_door() {
    if (server_ || socket_) return;
    if (auto socket = open_local_socket(config(), events)) take_door(std::move(*socket));
  }
  void take_door(LocalSocket socket) {
    wanted_file_ = WantedFile(socket.path());
    const std::lock_guard lock(mutex_);
    door_ = socket.path().string();
    socket_.emplace(std::move(socket));
  }
  void serve() {
    if (server_ || !socket_) return;
    server_ = std::make_unique<ConsoleServer>(std::move(*socket_), commands_, journal_);
    socket_.reset();
    events.log(LogLevel::info, "", "Control socket: " + door() + '.');
  }

  const Sources sources_;
  EventJournal journal_;
  std::mutex change_mutex_;  // held while the tunnel is opened, closed or changed; before mutex_
  mutable std::mutex mutex_;
  std::optional<EngineConfig> config_;  // as read last; once the tunnel was closed, with what was changed in it
  std::shared_ptr<Engine> engine_;      // that of an open tunnel
  FlatConfig settings_;                 // what was set since the start; goes before the sources
  std::string problem_, door_;
  // Under change_mutex_.
  std::unique_ptr<Engine> ready_;  // was made to check the configuration
  std::optional<EngineConfig> read_;
  std::optional<Engine::Written> written_;  // of the tunnel that was closed last
  WantedFile wanted_file_;
  std::atomic<bool> wanted_ = true, starting_ = true;  // for others to read, too
  bool given_door_ = false, stopped_ = false;
  std::optional<LocalSocket> socket_;  // until it is served
  Commands commands_{*this, journal_};
  std::unique_ptr<ConsoleServer> server_;
};

Host::Host(Sources sources) : impl_(std::make_unique<Impl>(std::move(sources))) {}
Host::~Host() = default;
void Host::open_door(const std::filesystem::path& path, bool open) { impl_->open_door(path, open); }
HostView Host::configure() { return impl_->configure(); }
HostView Host::begin(bool open) { return impl_->begin(open); }
HostView Host::resume() { return impl_->resume(); }
HostView Host::pause() { return impl_->pause(); }
ReloadOutcome Host::reload(bool dry_run) { return impl_->reload(dry_run); }
void Host::stop() { impl_->stop(); }
HostView Host::view() const { return impl_->host(); }
EngineConfig Host::config() const { return impl_->config(); }
EnginePorts Host::ports() const { return impl_->ports(); }
std::vector<LinkStatus> Host::status() const { return impl_->status(); }
std::uint64_t Host::heartbeat() const { return impl_->heartbeat(); }
EventQueue& Host::events() noexcept { return impl_->events; }
std::string Host::door() const { return impl_->door(); }

}  // namespace pqcmav
