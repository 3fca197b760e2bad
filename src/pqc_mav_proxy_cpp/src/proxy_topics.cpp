// SPDX-License-Identifier: Apache-2.0
// What the node publishes of its engine.
#include <algorithm>
#include <chrono>
#include <utility>

#include "proxy_node.hpp"
#include "qos.hpp"
#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;
constexpr auto kTick = 1s;
constexpr auto kServerTick = 100ms;
constexpr auto kLate = 5s;    // within which an engine answers
constexpr auto kThreat = 3s;  // a detector that has said nothing for so long says nothing

/// What makes the latched status stale when it changes; the ages among the other fields grow all the time.
constexpr const char* kIdentity[] = {"state",          "suite",      "epoch",      "session_id",         "peer",
                                     "plain_local",    "plain_peer", "last_error", "shape_kbit",         "station",
                                     "station_role",   "term",       "stations",   "blacklisted_suites", "peer_alarm",
                                     "peer_alarm_kind"};

std::string identity(const Json& statuses) {
  std::string out;
  for (const auto& status : statuses)
    for (const auto* field : kIdentity) out += python_json(status.at(field)) + '\n';
  return out;
}

}  // namespace

template <typename Message>
void ProxyNode::publish_on(Publisher<Message>& publisher, const char* topic, const rclcpp::QoS& profile) {
  // Unless the user overrides it, the profile of now counts, not that which an earlier publisher of the topic left in the
  // parameters (`qos_overrides.<topic>.publisher.depth`).
  const auto prefix = "qos_overrides." + get_node_topics_interface()->resolve_topic_name(topic) + ".publisher.";
  const auto& overrides = get_node_parameters_interface()->get_parameter_overrides();
  const auto given = overrides.lower_bound(prefix);
  rclcpp::PublisherOptions options;
  if (!has_parameter(prefix + "depth") || (given != overrides.end() && given->first.starts_with(prefix)))
    options.qos_overriding_options = rclcpp::QosOverridingOptions::with_default_policies();
  const bool open = publisher && publisher->is_activated();
  publisher = create_publisher<Message>(topic, profile, options);
  if (open) publisher->on_activate();
}

void ProxyNode::offer() {
  const std::lock_guard lock(mutex_);
  published_.clear();
  served_ = role_ == "gcs" ? value_or<Names>(asked_.config, "drones", {}) : Names{};
  told_ = Told(served_.begin(), served_.end());
  const auto drones = std::max<std::size_t>(1, served_.size());
  publish_on(status_, "~/status", qos::latched(drones));
  publish_on(stats_, "~/stats", qos::periodic(drones));
  publish_on(link_, "~/link", qos::periodic(2 * drones));
  publish_on(paths_, "~/paths", qos::periodic(drones));
  publish_on(server_, "~/server_stats", qos::sensor());
  publish_on(handshake_, "~/handshake", qos::event());
  publish_on(diagnostics_, "/diagnostics", qos::periodic(1));
  threat_ = create_subscription<msg::ThreatReport>("threat", qos::periodic(1), [this](const msg::ThreatReport& said) {
    const std::lock_guard hearing(mutex_);
    alarm_ = {{"level", said.level}, {"kind", said.kind}};
    alarm_until_ = std::chrono::steady_clock::now() + kThreat;
  });
  tick_ = create_wall_timer(kTick, [this] { publish_periodic(); });
  server_tick_ = create_wall_timer(kServerTick, [this] { publish_server(); });
  server_tick_->cancel();
}

void ProxyNode::withdraw() {
  const std::lock_guard lock(mutex_);
  tick_.reset();
  server_tick_.reset();
  threat_.reset();
  leaving_.clear();
  status_.reset();
  stats_.reset();
  link_.reset();
  paths_.reset();
  server_.reset();
  handshake_.reset();
  diagnostics_.reset();
}

Header ProxyNode::header(std::chrono::nanoseconds age) {
  const auto at = std::max<std::int64_t>(0, now().nanoseconds() - std::max(age, 0ns).count());
  return std_msgs::build<Header>().stamp(rclcpp::Time(at)).frame_id("");
}

void ProxyNode::publish_status(Host& host, bool force) {
  const std::lock_guard lock(mutex_);  // asked for inside, so that an older one never follows a newer one
  const auto statuses = host.ask("picture", {{"of", "status"}})["status"];
  auto state = identity(statuses);
  if (!force && state == published_) return;
  published_ = std::move(state);
  const auto stamped = header();
  for (const auto& status : statuses) {
    told_.insert(status["drone_id"].get<std::string>());
    status_->publish(message_of<msg::TunnelStatus>(status, stamped));
  }
}

void ProxyNode::make_room(const Json& statuses) {
  if (role_ != "gcs") return;
  Names drones;
  for (const auto& each : statuses) drones.push_back(each["drone_id"].get<std::string>());
  const std::lock_guard lock(mutex_);
  auto gone = told_;  // a drone may have come and gone between two looks
  for (const auto& drone : drones) gone.erase(drone);
  const bool as_before = Told(served_.begin(), served_.end()) == Told(drones.begin(), drones.end());
  if (gone.empty() && as_before) return;
  const auto* const farewell = "REMOVED: this ground station does not serve the drone any more.";
  for (const auto& drone : gone)
    status_->publish(
        message_of<msg::TunnelStatus>({{"drone_id", drone}, {"role", role_}, {"last_error", farewell}}, header()));
  if (!gone.empty()) leaving_.add(status_);
  served_ = drones;
  told_ = Told(drones.begin(), drones.end());
  published_.clear();
  publish_on(status_, "~/status", qos::latched(drones.size()));
  publish_on(stats_, "~/stats", qos::periodic(drones.size()));
  publish_on(link_, "~/link", qos::periodic(2 * drones.size()));
}

void ProxyNode::publish_periodic() {
  const auto host = running_host();
  if (!host || !stats_->is_activated()) return server_tick_->cancel();
  serve_detectors();
  try {
    if (tunnel_ != kInside) open_again(static_cast<DaemonHost&>(*host));
    publish_of(*host);
  } catch (const Refusal& refusal) {  // a daemon is away, or has no configuration
    std::string why = one_line(refusal.what());
    if (tunnel_ != kInside) publish_lost(why);
    {
      const std::lock_guard lock(mutex_);
      why = tunnel_ == kInside ? why : std::exchange(unsaid_, "");
    }
    if (!why.empty()) RCLCPP_ERROR(get_logger(), "%s", why.c_str());
  }
}

void ProxyNode::publish_of(Host& host) {
  const auto stamped = header();
  const auto picture = host.ask("picture");
  if (leaving_.look()) {
    const std::lock_guard lock(mutex_);
    published_.clear();  // who came meanwhile may have heard older statuses after newer ones
  }
  make_room(picture["status"]);
  publish_status(host, false);
  for (const auto& each : picture["stats"]) stats_->publish(message_of<msg::TunnelStats>(each, stamped));
  for (const auto& status : picture["status"])
    for (const auto& path : status["paths"]) paths_->publish(message_of<msg::PathStatus>(path, stamped));
  for (const auto& link : picture["link"])
    for (const auto& side : link) link_->publish(message_of<msg::LinkQuality>(side, stamped));
  publish_diagnoses(host.ask("diagnosis"), stamped);
  tell_alarm(host);
}

/// What this end's detector says.
void ProxyNode::tell_alarm(Host& host) {
  Json alarm;
  {
    const std::lock_guard lock(mutex_);
    if (std::chrono::steady_clock::now() < alarm_until_) alarm = alarm_;
  }
  try {
    if (!alarm.is_null()) host.ask("alarm", alarm);
  } catch (const Refusal&) {  // a daemon of another user takes none
  }
}

void ProxyNode::publish_diagnoses(Json found, const Header& stamped) {
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
  if (!host || !server_->is_activated()) return;
  try {
    const auto answer = host->ask("server_stats");
    const std::chrono::nanoseconds read(answer["monotonic_ns"].get<std::int64_t>());
    const auto age = std::chrono::steady_clock::now().time_since_epoch() - read;
    auto stamped = header(age <= kLate ? age : 0ns);  // one in another time namespace has another clock
    stamped.frame_id = host->network();
    server_->publish(message_of<msg::ServerStats>(answer["server"], stamped));
  } catch (const Refusal&) {  // the other timer says so
  }
}

}  // namespace pqc_mav_proxy_cpp
