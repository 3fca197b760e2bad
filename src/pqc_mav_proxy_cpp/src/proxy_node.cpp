// SPDX-License-Identifier: Apache-2.0
#include "proxy_node.hpp"

#include <openssl/crypto.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <lifecycle_msgs/msg/state.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "command_line.hpp"
#include "host_info.hpp"
#include "json.hpp"
#include "pqc_mav_tunnel/open_sockets.hpp"
#include "pqc_mav_tunnel/process.hpp"
#include "pqc_mav_tunnel/version.hpp"
#include "qos.hpp"
#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

using namespace std::chrono_literals;
using rclcpp_lifecycle::LifecycleNode;
using rclcpp_lifecycle::State;
using Names = std::vector<std::string>;
constexpr auto kTick = 1s;
constexpr auto kServerTick = 100ms;

/// What a key was given; something else where it was given nothing or a value of another type.
template <typename Value>
Value value_or(const pqcmav::FlatConfig& config, const std::string& key, Value otherwise) {
  const auto found = config.find(key);
  const auto* value = found == config.end() ? nullptr : std::get_if<Value>(&found->second);
  return value ? *value : otherwise;
}

/// What makes the latched status stale when it changes; the ages among the other fields grow all the time.
std::string identity(const std::vector<pqcmav::LinkStatus>& statuses) {
  std::string out;
  for (const auto& it : statuses)
    for (const auto& part :
         {std::string(to_string(it.state)), it.suite, std::to_string(it.epoch), it.session_id, it.peer, it.plain_local,
          it.plain_peer, it.last_error, std::to_string(it.shape_kbit), it.station, it.role, std::to_string(it.term)})
      out += part + '\n';
  for (const auto& it : statuses)
    for (const auto& each : it.stations) out += each.role + '\n';
  return out;
}

/// A sentence when this process listens to other machines in the ports of a ROS domain (RTPS, section 9.6.2.3), ""
/// otherwise.
std::string exposed_middleware(std::size_t domain) {
  constexpr std::size_t kBase = 7400, kPerDomain = 250;
  Names addresses;
  for (const auto& each : pqcmav::open_sockets())
    if (each.udp && !each.loopback && each.port >= kBase && (each.port - kBase) / kPerDomain == domain)
      addresses.push_back((each.host.find(':') == std::string::npos ? each.host : '[' + each.host + ']') + ':' +
                          std::to_string(each.port));
  if (addresses.empty()) return "";
  std::ranges::sort(addresses);
  return "ROS listens beyond this machine, at " + join(addresses, ", ") +
         ": whoever reaches that can call this node's services. See FASTRTPS_DEFAULT_PROFILES_FILE in SECURITY.md.";
}

pqcmav::SuiteView view_of(const std::string& name) {
  if (name.empty() || name == "core") return pqcmav::SuiteView::core;
  if (name == "extended") return pqcmav::SuiteView::extended;
  if (name == "2025") return pqcmav::SuiteView::campaign_2025;
  throw pqcmav::TunnelError(pqcmav::Errc::config_invalid,
                            "The view is '" + name + "'; it must be core, extended or 2025.");
}

}  // namespace

ProxyNode::ProxyNode(const rclcpp::NodeOptions& options)
    // The logger's service is what changes the log level while the node runs.
    : LifecycleNode(kName, rclcpp::NodeOptions(options).enable_logger_service(true)), hardware_id_(host_name()) {
  // Before a key is read: session keys live in this process's memory.
  if (const auto said = pqcmav::forbid_core_dumps(); !said.empty()) RCLCPP_WARN(get_logger(), "%s", said.c_str());
  given_ = plain_values(get_node_parameters_interface()->get_parameter_overrides());
  if (options.use_global_arguments())
    for (const auto& each : options.parameter_overrides())
      loaded_with_.insert_or_assign(each.get_name(), each.get_parameter_value());
  autostart_ = autostart_of(given_, get_name());
  asked_ = engine_config(given_);
  role_ = value_or<std::string>(asked_.config, "role", "drone") == "gcs" ? "gcs" : "drone";
  diagnoser_ = Diagnoser(role_);
  served_ = role_ == "gcs" ? value_or<Names>(asked_.config, "drones", {}) : Names{};
  declare(served_);
  take_settings();
  const auto context = get_node_base_interface()->get_context();
  make_interfaces();
  if (const auto said = exposed_middleware(context->get_domain_id()); !said.empty())
    RCLCPP_WARN(get_logger(), "%s", said.c_str());
  hook_.emplace(context, [this] { close(); });
  if (autostart_) bring_up();
}

ProxyNode::~ProxyNode() {
  hook_.reset();
  close();
}

void ProxyNode::declare(const std::vector<std::string>& drones) {
  const auto add = [this](const ParameterSpec& spec, const rclcpp::ParameterValue& value) {
    declare_parameter(spec.name, value, descriptor(spec), true);
    specs_.emplace(spec.name, spec);
  };
  add(autostart_spec(), rclcpp::ParameterValue(autostart_));
  for (const auto& spec : specs(role_ == "gcs" ? pqcmav::Role::gcs : pqcmav::Role::drone, drones))
    add(spec, shown(spec, asked_.config));
}

void ProxyNode::take_settings() {
  judging_ = add_on_set_parameters_callback([this](const std::vector<rclcpp::Parameter>& parameters) {
    rcl_interfaces::msg::SetParametersResult out;
    for (const auto& each : parameters)
      if (const auto spec = specs_.find(each.get_name()); spec != specs_.end() && out.reason.empty())
        out.reason = refusal(spec->second, each.get_parameter_value(), get_name());
    out.successful = out.reason.empty();
    return out;
  });
  keeping_ = add_post_set_parameters_callback([this](const std::vector<rclcpp::Parameter>& parameters) {
    for (const auto& each : parameters) {
      if (!specs_.contains(each.get_name())) continue;
      std::string shown;
      for (const auto& [name, value] : plain_values({{each.get_name(), each.get_parameter_value()}})) {
        shown = to_json(config_value(name, value));
        const std::lock_guard lock(mutex_);
        changed_.insert_or_assign(name, value);
      }
      RCLCPP_INFO(get_logger(), "'%s' is set to %s; it counts from %s on.", each.get_name().c_str(), shown.c_str(),
                  take_live(each) ? "now" : "the next configure");
    }
  });
}

bool ProxyNode::take_live(const rclcpp::Parameter& parameter) {
  const auto engine = running_engine();
  if (!engine) return false;
  if (parameter.get_name() == kShapeKbit) return engine->set_shape_kbit(parameter.as_int());
  if (parameter.get_name() != kStation) return false;
  try {
    return engine->use_station(parameter.as_string());
  } catch (const pqcmav::TunnelError& error) {
    RCLCPP_ERROR(get_logger(), "%s", error.what());
    return false;
  }
}

void ProxyNode::make_interfaces() {
  const auto drones = std::max<std::size_t>(1, served_.size());
  status_ = create_publisher<msg::TunnelStatus>("~/status", qos::latched(drones));
  stats_ = create_publisher<msg::TunnelStats>("~/stats", qos::periodic(drones));
  link_ = create_publisher<msg::LinkQuality>("~/link", qos::periodic(2 * drones));
  server_ = create_publisher<msg::ServerStats>("~/server_stats", qos::sensor());
  handshake_ = create_publisher<msg::HandshakeReport>("~/handshake", qos::event());
  diagnostics_ = create_publisher<diagnostic_msgs::msg::DiagnosticArray>("/diagnostics", qos::periodic(1));
  list_suites_ = create_service<ListSuites>(
      "~/list_suites", [this](std::shared_ptr<ListSuites::Request> request,
                              std::shared_ptr<ListSuites::Response> response) { list_suites(*request, *response); });
  get_info_ = create_service<GetInfo>(
      "~/get_info",
      [this](std::shared_ptr<GetInfo::Request>, std::shared_ptr<GetInfo::Response> response) { get_info(*response); });
  rekeys_ = std::make_unique<RekeyServer>(*this, [this] { return running_engine(); });
  tick_ = create_timer(kTick, [this] { publish_periodic(); });
  server_tick_ = create_timer(kServerTick, [this] { publish_server(); });
  server_tick_->cancel();
}

void ProxyNode::bring_up() {
  using lifecycle_msgs::msg::State;
  const auto good = configure().id() == State::PRIMARY_STATE_INACTIVE && activate().id() == State::PRIMARY_STATE_ACTIVE;
  if (!good) throw failure_.value_or(Failure("The node could not be started.", ExitCode::failed));
}

// --- configuration, read again while the engine runs ---

Given ProxyNode::wanted() const {
  auto out = given_;
  for (const auto& [name, value] : changed_) out.insert_or_assign(name, value);
  return out;
}

void ProxyNode::reload() {
  const auto engine = running_engine();
  if (!engine) {
    RCLCPP_WARN(get_logger(), "Not reloaded: the node is not active; it reads everything when it is activated.");
    return;
  }
  try {
    (void)engine->reload();
  } catch (const pqcmav::TunnelError& error) {
    RCLCPP_ERROR(get_logger(), "Not reloaded: %s", one_line(error.what()).c_str());
  }
}

pqcmav::EngineConfig ProxyNode::read_again() {
  Given read;
  try {
    for (const auto& each : given_by(own_arguments(), get_fully_qualified_name()))
      read.insert_or_assign(each.get_name(), each.get_parameter_value());
  } catch (const Failure& failure) {
    throw pqcmav::TunnelError(pqcmav::Errc::config_invalid, failure.what());
  }
  for (const auto& [name, value] : loaded_with_) read.insert_or_assign(name, value);
  read = plain_values(read);
  auto fresh = read;
  {
    const std::lock_guard lock(mutex_);
    read_ = std::move(read);
    for (const auto& [name, value] : changed_)
      if (name != kShapeKbit && name != kStation) fresh.insert_or_assign(name, value);  // those two count already
  }
  const auto asked = engine_config(fresh);
  if (asked.unfit) throw *asked.unfit;
  return pqcmav::EngineConfig::from_flat(asked.config);
}

void ProxyNode::taken() {
  const std::lock_guard lock(mutex_);
  given_ = std::move(read_);
  asked_ = engine_config(wanted());
}

// --- lifecycle ---

ProxyNode::Result ProxyNode::on_configure(const State& state) {
  {
    const std::lock_guard lock(mutex_);
    asked_ = engine_config(wanted());
  }
  if (!guarded([this] { make_host(); })) return Result::FAILURE;
  return LifecycleNode::on_configure(state);
}

ProxyNode::Result ProxyNode::on_activate(const State& state) {
  if (!guarded([this] { start_host(); })) return Result::FAILURE;
  const auto result = LifecycleNode::on_activate(state);
  publish_status(host_->engine()->status(), true);
  // Only now: a quick handshake may have ended already, and its report needs an open topic.
  host_->listen([this](pqcmav::Engine& engine, const std::vector<pqcmav::Event>& events) { take(engine, events); });
  return result;
}

ProxyNode::Result ProxyNode::on_deactivate(const State& state) {
  close();
  RCLCPP_WARN(get_logger(),
              "Deactivated: the sessions are closed and their keys are wiped; nothing passes until it is activated "
              "again.");
  return LifecycleNode::on_deactivate(state);
}

ProxyNode::Result ProxyNode::on_cleanup(const State& state) {
  close();
  return LifecycleNode::on_cleanup(state);
}

ProxyNode::Result ProxyNode::on_shutdown(const State& state) {
  close();
  return LifecycleNode::on_shutdown(state);
}

void ProxyNode::make_host() {
  if (asked_.unfit) throw *asked_.unfit;
  auto made = std::make_unique<EngineHost>(asked_.config);
  if (auto files = named_files(own_arguments()); !files.empty())
    made->engine()->set_config_source([this] { return read_again(); }, [this] { taken(); }, std::move(files));
  const std::lock_guard lock(mutex_);
  host_ = std::move(made);
}

void ProxyNode::start_host() {
  if (!host_) make_host();  // after a deactivation, which wiped the keys of the last
  host_->start();
  const auto ports = host_->engine()->ports();
  std::vector<std::string> plain;
  const auto links = host_->engine()->status();
  for (const auto& [drone, port] : ports.plain) {
    const auto link = std::ranges::find(links, drone, &pqcmav::LinkStatus::drone_id);
    const bool known = link != links.end() && !link->plain_peer.empty();  // there ground software listens
    // One that is not a UDP socket has no port, but a name.
    const auto place = port == 0 && link != links.end() ? link->plain_local : std::to_string(port);
    plain.push_back(drone + " " + place + (known ? " (MAVLink to " + link->plain_peer + ")" : ""));
  }
  RCLCPP_INFO(get_logger(), "%s: handshakes and packets on UDP port %d, plaintext on %s", role_.c_str(), ports.data,
              join(plain, ", ").c_str());
  if (std::getenv(pqcmav::kSystemVariable) == nullptr)
    RCLCPP_INFO_ONCE(
        get_logger(),
        "Nobody looks for ways around the tunnel here; the launch files and 'pqcmav up' start a guard that does, "
        "'ros2 run pqc_mav_proxy pqc_guard' is the same.");
}

template <typename Step>
bool ProxyNode::guarded(Step step) {
  try {
    step();
  } catch (const pqcmav::TunnelError& error) {
    failure_ = Failure(error);
    {
      const std::lock_guard lock(mutex_);
      host_.reset();
    }
    // With autostart it is thrown, and whoever made the node says it.
    if (!autostart_) RCLCPP_ERROR(get_logger(), "%s", failure_->what());
    return false;
  }
  failure_.reset();
  return true;
}

void ProxyNode::close() {
  std::unique_ptr<EngineHost> host;
  {
    const std::lock_guard lock(mutex_);
    host = std::move(host_);
  }
  if (!host) return;
  host->stop();
  if (host->started()) publish_status(host->engine()->status(), true);
}

std::shared_ptr<pqcmav::Engine> ProxyNode::running_engine() {
  const std::lock_guard lock(mutex_);
  return host_ && host_->started() ? host_->engine() : nullptr;
}

// --- events of the engine ---

void ProxyNode::take(pqcmav::Engine& engine, const std::vector<pqcmav::Event>& events) {
  bool changed = false;
  for (const auto& event : events) {
    rekeys_->on_event(event);
    changed = changed || !std::holds_alternative<pqcmav::LogEvent>(event.what);
    if (attempts_.worth_saying(event, pqcmav::AttemptLog::Clock::now()))
      std::visit([&](const auto& what) { say(event.drone_id, what); }, event.what);
    if (std::holds_alternative<pqcmav::HandshakeEvent>(event.what))
      handshake_->publish(message_of<msg::HandshakeReport>(pqcmav::picture_of(event), header()));
  }
  if (changed) publish_status(engine.status(), true);
}

void ProxyNode::say(const std::string&, const pqcmav::LogEvent& event) {
  const auto text = one_line(event.text);
  if (event.level == pqcmav::LogLevel::error)
    RCLCPP_ERROR(get_logger(), "%s", text.c_str());
  else if (event.level == pqcmav::LogLevel::warning)
    RCLCPP_WARN(get_logger(), "%s", text.c_str());
  else
    RCLCPP_INFO(get_logger(), "%s", text.c_str());
}

void ProxyNode::say(const std::string& drone, const pqcmav::StateEvent& event) {
  const auto reason = event.reason.empty() ? "" : " (" + event.reason + ")";
  const auto text = drone + ": " + std::string(to_string(event.before)) + " -> " + std::string(to_string(event.after));
  RCLCPP_INFO(get_logger(), "%s%s", text.c_str(), reason.c_str());
}

void ProxyNode::say(const std::string& drone, const pqcmav::HandshakeEvent& event) {
  const bool first = event.kind == pqcmav::HandshakeKind::first;
  const auto kind = first ? std::string("handshake") : std::string(to_string(event.kind));
  if (event.ok) {
    const auto text = drone + ": " + kind + " with " + event.peer + " took " +
                      fixed(static_cast<double>(event.duration_ns) / 1e6, 1) + " ms, " + short_code(event.suite) +
                      (event.hybrid ? "" : " (pure)") + ", epoch " + std::to_string(event.epoch);
    RCLCPP_INFO(get_logger(), "%s", text.c_str());
  } else {
    const auto text = drone + ": " + kind + " failed: " + one_line(event.reason);
    RCLCPP_WARN(get_logger(), "%s", text.c_str());
  }
}

// --- topics ---

Header ProxyNode::header() {
  Header out;
  out.stamp = now();
  return out;
}

void ProxyNode::publish_status(const std::vector<pqcmav::LinkStatus>& statuses, bool force) {
  const std::lock_guard lock(mutex_);
  auto state = identity(statuses);
  if (!force && state == published_) return;
  published_ = std::move(state);
  const auto stamped = header();
  for (const auto& status : statuses)
    status_->publish(message_of<msg::TunnelStatus>(pqcmav::picture_of(status), stamped));
}

void ProxyNode::make_room(const std::vector<pqcmav::LinkStatus>& statuses) {
  if (role_ != "gcs") return;
  Names drones;
  for (const auto& each : statuses) drones.push_back(each.drone_id);
  const auto missing_in = [](const Names& some, const Names& others) {
    Names out;
    std::ranges::copy_if(some, std::back_inserter(out),
                         [&](const auto& each) { return std::ranges::find(others, each) == others.end(); });
    return out;
  };
  const auto gone = missing_in(served_, drones);
  if (gone.empty() && missing_in(drones, served_).empty()) return;
  const std::lock_guard lock(mutex_);
  for (const auto& drone : gone) status_->publish(removed_message(drone, role_, header()));
  if (!gone.empty()) leaving_.add(status_);
  served_ = drones;
  published_.clear();
  const auto replace = [this]<typename Message>(
                           std::shared_ptr<rclcpp_lifecycle::LifecyclePublisher<Message>>& publisher, const char* topic,
                           const rclcpp::QoS& profile) {
    publisher = create_publisher<Message>(topic, profile);
    publisher->on_activate();
  };
  replace(status_, "~/status", qos::latched(drones.size()));
  replace(stats_, "~/stats", qos::periodic(drones.size()));
  replace(link_, "~/link", qos::periodic(2 * drones.size()));
}

void ProxyNode::publish_periodic() {
  const auto engine = running_engine();
  if (!engine || !stats_->is_activated()) return server_tick_->cancel();
  serve_detectors();
  const auto stamped = header();
  const auto statuses = engine->status();
  const auto stats = engine->stats();
  const auto links = engine->links();
  if (leaving_.look()) {
    const std::lock_guard lock(mutex_);
    published_.clear();  // who came meanwhile may have heard older statuses after newer ones
  }
  make_room(statuses);
  publish_status(statuses, false);
  for (const auto& each : stats) stats_->publish(message_of<msg::TunnelStats>(pqcmav::picture_of(each), stamped));
  for (const auto& each : links)
    for (const auto& side : pqcmav::picture_of(each)) link_->publish(message_of<msg::LinkQuality>(side, stamped));

  std::vector<Diagnostic> reports;
  for (const auto& status : statuses) {
    const auto counted = std::ranges::find(stats, status.drone_id, &pqcmav::LinkStats::drone_id);
    if (counted == stats.end()) continue;  // drones come and go between two questions
    const auto link = std::ranges::find(links, status.drone_id, &pqcmav::LinkQualityView::drone_id);
    reports.push_back(diagnoser_.tunnel(status, *counted, link == links.end() ? nullptr : &*link));
  }
  const auto totals = engine->totals();
  reports.push_back(diagnoser_.data_port(totals));
  if (role_ == "gcs") reports.push_back(diagnoser_.handshake_server(totals));
  diagnostic_msgs::msg::DiagnosticArray array;
  array.header = stamped;
  const std::string node = get_fully_qualified_name() + 1;  // the namespace tells the two ends apart
  for (const auto& each : reports) array.status.push_back(to_message(each, node, hardware_id_));
  diagnostics_->publish(array);
}

void ProxyNode::serve_detectors() {
  const bool listened = server_->get_subscription_count() > 0;
  if (listened != server_tick_->is_canceled()) return;
  if (listened)
    server_tick_->reset();
  else
    server_tick_->cancel();
  RCLCPP_DEBUG(get_logger(), "~/server_stats %s", listened ? "flows: somebody listens" : "rests: nobody listens");
}

void ProxyNode::publish_server() {
  const auto engine = running_engine();
  if (engine && server_->is_activated())
    server_->publish(message_of<msg::ServerStats>(pqcmav::picture_of(engine->server()), header()));
}

// --- services ---

void ProxyNode::list_suites(const ListSuites::Request& request, ListSuites::Response& response) {
  pqcmav::SuiteFilter filter;
  filter.only_available = request.only_available;
  try {
    filter.view = view_of(request.view);
  } catch (const pqcmav::TunnelError& error) {
    response.message = one_line(error.what());
    return;
  }
  response.ok = true;
  for (const auto* suite : pqcmav::filter_suites(filter))
    response.suites.push_back(message_of<msg::SuiteInfo>(pqcmav::picture_of(*suite)));
}

void ProxyNode::get_info(GetInfo::Response& response) {
  describe_host(response);
  response.engine_version = pqcmav::engine_version();
  response.liboqs_version = pqcmav::liboqs_version();
  response.openssl_version = OpenSSL_version(OPENSSL_VERSION_STRING);
  response.role = role_;
  const std::lock_guard lock(mutex_);
  response.config_json = to_json(host_ ? host_->engine()->config().effective : asked_.config);
}

}  // namespace pqc_mav_proxy_cpp
