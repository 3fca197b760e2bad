// SPDX-License-Identifier: Apache-2.0
#include "proxy_node.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <lifecycle_msgs/msg/state.hpp>
#include <utility>

#include "command_line.hpp"
#include "engine_host.hpp"
#include "pqc_mav_tunnel/calls.hpp"
#include "pqc_mav_tunnel/open_sockets.hpp"
#include "pqc_mav_tunnel/process.hpp"
#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

using namespace std::chrono_literals;
using rclcpp_lifecycle::LifecycleNode;
using rclcpp_lifecycle::State;
using Names = std::vector<std::string>;
constexpr auto kOld = 1s;  // an event that is older was told when this node was not there

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
         ": whoever reaches that can call this node's services. Name pqc_mav_bringup's fastdds_loopback.xml in "
         "FASTDDS_DEFAULT_PROFILES_FILE, on Jazzy in FASTRTPS_DEFAULT_PROFILES_FILE.";
}

}  // namespace

ProxyNode::ProxyNode(const rclcpp::NodeOptions& options)
    // The logger's service is what changes the log level while the node runs.
    : LifecycleNode(kName, rclcpp::NodeOptions(options).enable_logger_service(true)),
      hardware_id_(called("host_info")["host"].get<std::string>()) {
  try {
    begin(options);
  } catch (...) {
    (void)shutdown();  // or its end is a warning, before the sentence that says why
    throw;
  }
}

void ProxyNode::begin(const rclcpp::NodeOptions& options) {
  given_ = plain_values(get_node_parameters_interface()->get_parameter_overrides());
  if (options.use_global_arguments())
    for (const auto& each : options.parameter_overrides())
      loaded_with_.insert_or_assign(each.get_name(), each.get_parameter_value());
  autostart_ = autostart_of(given_, get_name());
  tunnel_ = tunnel_of(given_, get_name());
  // Before a key is read: session keys live in this process's memory.
  if (const auto said = tunnel_ == kInside ? pqcmav::forbid_core_dumps() : ""; !said.empty())
    RCLCPP_WARN(get_logger(), "%s", said.c_str());
  asked_ = engine_config(given_);
  role_ = value_or<std::string>(asked_.config, "role", "drone") == "gcs" ? "gcs" : "drone";
  served_ = role_ == "gcs" ? value_or<Names>(asked_.config, "drones", {}) : Names{};
  declare(role_ == "gcs" ? served_ : value_or<Names>(asked_.config, "paths", {}));
  take_settings();
  const auto context = get_node_base_interface()->get_context();
  make_services();
  if (const auto said = exposed_middleware(context->get_domain_id()); !said.empty())
    RCLCPP_WARN(get_logger(), "%s", said.c_str());
  hook_.emplace(context, [this] { close(); });
  if (autostart_) bring_up();
}

ProxyNode::~ProxyNode() {
  hook_.reset();
  close();
}

void ProxyNode::make_services() {
  list_suites_ = create_service<ListSuites>(
      "~/list_suites", [this](std::shared_ptr<ListSuites::Request> request,
                              std::shared_ptr<ListSuites::Response> response) { list_suites(*request, *response); });
  get_info_ = create_service<GetInfo>(
      "~/get_info",
      [this](std::shared_ptr<GetInfo::Request>, std::shared_ptr<GetInfo::Response> response) { get_info(*response); });
  use_path_ = create_service<UsePath>(
      "~/use_path", [this](std::shared_ptr<UsePath::Request> request, std::shared_ptr<UsePath::Response> response) {
        use_path(*request, *response);
      });
  rekeys_ = std::make_unique<RekeyServer>(*this, [this] { return running_host(); });
}

void ProxyNode::bring_up() {
  using lifecycle_msgs::msg::State;
  coming_up_ = true;
  const auto good = configure().id() == State::PRIMARY_STATE_INACTIVE && activate().id() == State::PRIMARY_STATE_ACTIVE;
  coming_up_ = false;
  if (!good) throw failure_.value_or(Failure("The node could not be started.", ExitCode::failed));
}

// --- lifecycle ---

ProxyNode::Result ProxyNode::on_configure(const State& state) {
  const auto set_up = [this] {
    {
      const std::lock_guard lock(mutex_);
      if (tunnel_ == kInside && !coming_up_ && !named_files(own_arguments()).empty()) given_ = read_files();
      asked_ = engine_config(wanted());
      written_.reset();
    }
    offer();
    make_host();
  };
  if (!guarded(set_up)) {
    (void)refused();
    withdraw();
    return Result::FAILURE;
  }
  return LifecycleNode::on_configure(state);
}

ProxyNode::Result ProxyNode::on_activate(const State& state) {
  const auto start = [this] {
    if (tunnel_ != kInside)
      resume(*(host_ ? std::static_pointer_cast<DaemonHost>(host_) : reach()));
    else if (!host_)
      make_host();  // after a deactivation, which wiped the keys of the last
    host_->start();
    if (tunnel_ == kInside) take_live();
  };
  if (!guarded(start)) return refused();
  const auto result = LifecycleNode::on_activate(state);
  try {
    publish_status(*host_, true);
  } catch (const Refusal&) {  // the next tick says so
  }
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
  if (!guarded([this] { pause(); })) return Result::FAILURE;
  close();
  RCLCPP_WARN(get_logger(),
              "Deactivated: the sessions are closed and their keys are wiped; nothing passes until it is activated "
              "again.");
  return LifecycleNode::on_deactivate(state);
}

ProxyNode::Result ProxyNode::on_cleanup(const State& state) {
  close();
  withdraw();
  return LifecycleNode::on_cleanup(state);
}

ProxyNode::Result ProxyNode::on_shutdown(const State& state) {
  (void)guarded([this] { pause(); });
  close();
  withdraw();
  if (finalized_) finalized_();
  return LifecycleNode::on_shutdown(state);
}

ProxyNode::Result ProxyNode::refused() {
  const std::lock_guard lock(mutex_);
  host_.reset();
  return Result::FAILURE;
}

void ProxyNode::make_host() {
  if (tunnel_ != kInside) return make_daemon_host();
  if (asked_.unfit) throw *asked_.unfit;
  auto made = std::make_shared<EngineHost>(asked_.config, written_);
  if (auto files = named_files(own_arguments()); !files.empty())
    made->engine().set_config_source([this] { return read_again(); }, [this] { taken(); }, std::move(files));
  const std::lock_guard lock(mutex_);
  host_ = std::move(made);
}

template <typename Step>
bool ProxyNode::guarded(Step step) {
  failure_.reset();
  try {
    step();
  } catch (const pqcmav::TunnelError& error) {
    failure_ = Failure(error);
  } catch (const Failure& failure) {
    failure_ = failure;
  }
  if (!failure_) return true;
  // With autostart it is thrown, and whoever made the node says it.
  if (!coming_up_) RCLCPP_ERROR(get_logger(), "%s", failure_->what());
  return false;
}

void ProxyNode::close() {
  std::shared_ptr<Host> host;
  {
    const std::lock_guard lock(mutex_);
    host = std::move(host_);
  }
  if (!host) return;
  host->stop();
  if (tunnel_ == kInside && host->started()) publish_status(*host, true);
}

std::shared_ptr<Host> ProxyNode::running_host() {
  const std::lock_guard lock(mutex_);
  return host_ && host_->started() ? host_ : nullptr;
}

void ProxyNode::take(Host& host, const std::vector<Json>& events) {
  bool changed = false;
  for (const auto& event : events) {
    if (event["event"] == "door") on_door(static_cast<DaemonHost&>(host), event);
    rekeys_->on_event(event);
    if (event.contains("say")) say(event["say"]);
    if (event.contains("picture")) {
      const std::chrono::duration<double> at(event["time"].get<double>());
      const auto age = std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::system_clock::now().time_since_epoch() - at);
      handshake_->publish(message_of<msg::HandshakeReport>(event["picture"], header(age > kOld ? age : 0ns)));
    }
    changed = changed || event["event"] != "log";
  }
  if (!changed) return;
  try {
    publish_status(host, true);
  } catch (const Refusal&) {  // a tick says so
  }
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
  info["config"] = Json::array();
  const auto config = counting();
  for (const auto& [key, value] : config.items())
    info["config"].push_back({{"key", key}, {"value", key_value_text(value)}});
  fill(response, info);
}

void ProxyNode::use_path(const UsePath::Request& request, UsePath::Response& response) {
  const auto host = running_host();
  if (!host) {
    response.message = "The node is not active, so there is no tunnel to steer; activate it first.";
    return;
  }
  try {
    response.message = host->ask("path", {{"path", request.path}, {"use", request.use}})["message"];
    response.ok = true;
  } catch (const Refusal& refusal) {
    response.message = one_line(refusal.what());
  }
}

Json ProxyNode::counting() {
  const std::lock_guard lock(mutex_);
  try {
    if (host_) return host_->ask("config")["config"];
  } catch (const Refusal&) {  // a daemon that is away, or has no configuration
  }
  auto config = Json::object();
  for (const auto& [key, value] : asked_.config) config[key] = json_of(value);
  return config;
}

}  // namespace pqc_mav_proxy_cpp
