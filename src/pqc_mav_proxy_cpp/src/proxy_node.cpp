// SPDX-License-Identifier: Apache-2.0
#include "proxy_node.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <lifecycle_msgs/msg/state.hpp>
#include <utility>

#include "command_line.hpp"
#include "pqc_mav_tunnel/calls.hpp"
#include "pqc_mav_tunnel/open_sockets.hpp"
#include "pqc_mav_tunnel/process.hpp"
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
constexpr const char* kIdentity[] = {"state",        "suite",      "epoch",      "session_id", "peer",
                                     "plain_local",  "plain_peer", "last_error", "shape_kbit", "station",
                                     "station_role", "term",       "stations"};

std::string identity(const Json& statuses) {
  std::string out;
  for (const auto& status : statuses)
    for (const auto* field : kIdentity) out += python_json(status.at(field)) + '\n';
  return out;
}

/// What the engine's library says, without an engine.
Json called(const char* name, const Json& arguments = Json::object()) {
  return Json::parse(pqcmav::call(name, arguments.dump(-1, ' ', false, Json::error_handler_t::replace)));
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

}  // namespace

ProxyNode::ProxyNode(const rclcpp::NodeOptions& options)
    // The logger's service is what changes the log level while the node runs.
    : LifecycleNode(kName, rclcpp::NodeOptions(options).enable_logger_service(true)),
      hardware_id_(called("host_info")["host"].get<std::string>()) {
  // Before a key is read: session keys live in this process's memory.
  if (const auto said = pqcmav::forbid_core_dumps(); !said.empty()) RCLCPP_WARN(get_logger(), "%s", said.c_str());
  given_ = plain_values(get_node_parameters_interface()->get_parameter_overrides());
  if (options.use_global_arguments())
    for (const auto& each : options.parameter_overrides())
      loaded_with_.insert_or_assign(each.get_name(), each.get_parameter_value());
  autostart_ = autostart_of(given_, get_name());
  require_inside(given_, get_name());
  asked_ = engine_config(given_);
  role_ = value_or<std::string>(asked_.config, "role", "drone") == "gcs" ? "gcs" : "drone";
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
  rekeys_ = std::make_unique<RekeyServer>(*this, [this] { return running_host(); });
  tick_ = create_timer(kTick, [this] { publish_periodic(); });
  server_tick_ = create_timer(kServerTick, [this] { publish_server(); });
  server_tick_->cancel();
}

void ProxyNode::bring_up() {
  using lifecycle_msgs::msg::State;
  const auto good = configure().id() == State::PRIMARY_STATE_INACTIVE && activate().id() == State::PRIMARY_STATE_ACTIVE;
  if (!good) throw failure_.value_or(Failure("The node could not be started.", ExitCode::failed));
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
  const auto start = [this] {
    if (!host_) make_host();  // after a deactivation, which wiped the keys of the last
    host_->start();
  };
  if (!guarded(start)) return Result::FAILURE;
  const auto result = LifecycleNode::on_activate(state);
  publish_status(*host_, true);
  // Only now: a quick handshake may have ended already, and its report needs an open topic.
  host_->listen([this, host = host_.get()](const std::vector<Json>& events) { take(*host, events); });
  if (std::getenv(pqcmav::kSystemVariable) == nullptr)
    RCLCPP_INFO_ONCE(
        get_logger(),
        "Nobody looks for ways around the tunnel here; the launch files and 'pqcmav up' start a guard that does, "
        "'ros2 run pqc_mav_proxy pqc_guard' is the same.");
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
  auto made = std::make_shared<EngineHost>(asked_.config);
  if (auto files = named_files(own_arguments()); !files.empty())
    made->engine().set_config_source([this] { return read_again(); }, [this] { taken(); }, std::move(files));
  const std::lock_guard lock(mutex_);
  host_ = std::move(made);
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
  std::shared_ptr<EngineHost> host;
  {
    const std::lock_guard lock(mutex_);
    host = std::move(host_);
  }
  if (!host) return;
  host->stop();
  if (host->started()) publish_status(*host, true);
}

std::shared_ptr<EngineHost> ProxyNode::running_host() {
  const std::lock_guard lock(mutex_);
  return host_ && host_->started() ? host_ : nullptr;
}

void ProxyNode::take(EngineHost& host, const std::vector<Json>& events) {
  bool changed = false;
  for (const auto& event : events) {
    rekeys_->on_event(event);
    if (event.contains("say")) say(event["say"]);
    if (event.contains("picture")) handshake_->publish(message_of<msg::HandshakeReport>(event["picture"], header()));
    changed = changed || event["event"] != "log";
  }
  if (changed) publish_status(host, true);
}

void ProxyNode::say(const Json& what) {
  const auto text = what["text"].get<std::string>();
  if (what["level"] == "error")
    RCLCPP_ERROR(get_logger(), "%s", text.c_str());
  else if (what["level"] == "warning")
    RCLCPP_WARN(get_logger(), "%s", text.c_str());
  else
    RCLCPP_INFO(get_logger(), "%s", text.c_str());
}

// --- topics ---

Header ProxyNode::header() { return std_msgs::build<Header>().stamp(now()).frame_id(""); }

void ProxyNode::publish_status(EngineHost& host, bool force) {
  const std::lock_guard lock(mutex_);  // asked for inside, so that an older one never follows a newer one
  const auto statuses = host.ask("picture", {{"of", "status"}})["status"];
  auto state = identity(statuses);
  if (!force && state == published_) return;
  published_ = std::move(state);
  const auto stamped = header();
  for (const auto& status : statuses) status_->publish(message_of<msg::TunnelStatus>(status, stamped));
}

void ProxyNode::make_room(const Json& statuses) {
  if (role_ != "gcs") return;
  Names drones;
  for (const auto& each : statuses) drones.push_back(each["drone_id"].get<std::string>());
  const std::lock_guard lock(mutex_);
  auto gone = served_;
  std::erase_if(gone, [&](const auto& each) { return std::ranges::find(drones, each) != drones.end(); });
  if (gone.empty() && served_.size() == drones.size()) return;
  const auto* const farewell = "REMOVED: this ground station does not serve the drone any more.";
  for (const auto& drone : gone)
    status_->publish(
        message_of<msg::TunnelStatus>({{"drone_id", drone}, {"role", role_}, {"last_error", farewell}}, header()));
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
  const auto host = running_host();
  if (!host || !stats_->is_activated()) return server_tick_->cancel();
  serve_detectors();
  const auto stamped = header();
  const auto picture = host->ask("picture");
  if (leaving_.look()) {
    const std::lock_guard lock(mutex_);
    published_.clear();  // who came meanwhile may have heard older statuses after newer ones
  }
  make_room(picture["status"]);
  publish_status(*host, false);
  for (const auto& each : picture["stats"]) stats_->publish(message_of<msg::TunnelStats>(each, stamped));
  for (const auto& link : picture["link"])
    for (const auto& side : link) link_->publish(message_of<msg::LinkQuality>(side, stamped));
  auto found = host->ask("diagnosis");
  const std::string node = get_fully_qualified_name() + 1;  // the namespace tells the two ends apart
  for (auto& each : found["status"]) {
    each["name"] = node + ": " + each["name"].get<std::string>();
    each["hardware_id"] = hardware_id_;
  }
  diagnostics_->publish(message_of<diagnostic_msgs::msg::DiagnosticArray>(found, stamped));
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
  const auto host = running_host();
  if (host && server_->is_activated())
    server_->publish(message_of<msg::ServerStats>(host->ask("picture", {{"of", "server"}})["server"], header()));
}

// --- services ---

void ProxyNode::list_suites(const ListSuites::Request& request, ListSuites::Response& response) {
  try {
    const auto view = request.view.empty() ? "core" : request.view;
    const auto suites = called("suites", {{"view", view}, {"only_available", request.only_available}});
    fill(response, {{"ok", true}, {"suites", suites}});
  } catch (const pqcmav::TunnelError& error) {
    response.message = one_line(error.what());
  }
}

void ProxyNode::get_info(GetInfo::Response& response) {
  auto info = called("host_info");
  for (const auto* name : {"engine_version", "liboqs_version", "openssl_version"}) info[name] = called(name);
  info["role"] = role_;
  const std::lock_guard lock(mutex_);
  auto config = host_ ? host_->ask("config")["config"] : Json::object();
  for (const auto& [key, value] : host_ ? pqcmav::FlatConfig{} : asked_.config) config[key] = json_of(value);
  info["config"] = Json::array();
  for (const auto& [key, value] : config.items())
    info["config"].push_back({{"key", key}, {"value", key_value_text(value)}});
  fill(response, info);
}

}  // namespace pqc_mav_proxy_cpp
