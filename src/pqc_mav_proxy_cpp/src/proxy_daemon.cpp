// SPDX-License-Identifier: Apache-2.0
// A node whose engine is a pqcmav-tunneld: how it is found, lost and found again.
#include <utility>

#include "engine_host.hpp"
#include "proxy_node.hpp"
#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr auto kAgain =
    5s;  // between two tries to open the tunnel of a daemon that could not when it was started again

}  // namespace

std::shared_ptr<DaemonHost> ProxyNode::reach() {
  auto made = std::make_shared<DaemonHost>(asked_.config, tunnel_ == kDaemon);
  made->settle();
  const std::lock_guard lock(mutex_);
  host_ = made;
  return made;
}

void ProxyNode::make_daemon_host() {
  const auto host = reach();
  send_settings(*host, false);
  const auto state = host->hello().value("state", "");
  if (state == "unconfigured" || (state == "inactive" && !coming_up_)) host->change("configure");
}

void ProxyNode::resume(DaemonHost& host) {
  const auto hello = host.hello();
  if (hello.value("state", "") != "active") {
    if (hello.value("wanted", true) || !coming_up_)
      host.change("resume");
    else
      RCLCPP_WARN(get_logger(), "The tunnel stays closed: %s", one_line(hello.value("problem", "")).c_str());
  }
  const std::lock_guard lock(mutex_);
  away_.reset();
  unsaid_.clear();
  boot_.clear();
}

void ProxyNode::pause() {
  const auto host = running_host();
  if (!host) return;
  if (tunnel_ == kInside) {
    const auto& engine = static_cast<EngineHost&>(*host).engine();
    const std::lock_guard lock(mutex_);
    asked_.config = engine.for_next(pqcmav::EngineConfig::from_flat(asked_.config)).given;
    written_ = engine.written();
    return;
  }
  static_cast<DaemonHost&>(*host).change("pause");
  try {
    publish_status(*host, true);
  } catch (const Refusal& refusal) {
    RCLCPP_ERROR(get_logger(), "%s", one_line(refusal.what()).c_str());
  }
}

void ProxyNode::send_settings(DaemonHost& host, bool again) {
  const auto changed = [this] {
    const std::lock_guard lock(mutex_);
    return changed_;
  }();
  std::vector<std::string> waiting;
  for (const auto& [name, value] : changed) {
    if (!specs_.at(name).live) waiting.push_back("'" + name + "'");
    try {
      (void)host.ask("set", {{"key", name}, {"value", json_of(config_value(name, value))}});
    } catch (const Refusal& refusal) {
      RCLCPP_ERROR(get_logger(), "'%s' could not be set: %s", name.c_str(), one_line(refusal.what()).c_str());
    }
  }
  if (again && !waiting.empty())
    RCLCPP_WARN(get_logger(), "Set since the start; counts again from the next configure: %s.",
                join(waiting, ", ").c_str());
}

void ProxyNode::on_door(DaemonHost& host, const Json& event) {
  if (!event["there"].get<bool>()) {
    const auto why = one_line(event["reason"].get<std::string>());
    {
      const std::lock_guard lock(mutex_);
      away_ = true;
      unsaid_ = why;
    }
    publish_lost(why);
    return;
  }
  const auto boot = event["boot"].get<std::string>();
  std::unique_lock lock(mutex_);
  const auto was_away = std::exchange(away_, false);
  const auto before = std::exchange(boot_, boot);
  unsaid_.clear();
  again_ = {};
  lock.unlock();
  if (!was_away)
    RCLCPP_INFO(get_logger(), "Asks pqcmav-tunneld at %s.", host.path().c_str());
  else if (*was_away)
    RCLCPP_INFO(get_logger(), "pqcmav-tunneld is there again.");
  if (boot != before) send_settings(host, !before.empty());
}

void ProxyNode::open_again(DaemonHost& host) {
  {
    const std::lock_guard lock(mutex_);
    if (host.hello().value("state", "") != "inactive" || Clock::now() < again_) return;
    again_ = Clock::now() + kAgain;
  }
  const auto now = host.ask("hello");  // somebody may have paused it since
  if (now["wanted"].get<bool>() && !now["starting"].get<bool>()) (void)host.ask("resume");
}

void ProxyNode::publish_lost(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!status_->is_activated()) return;
  const auto stamped = header();
  const auto drones = role_ == "gcs" ? served_ : std::vector{value_or<std::string>(asked_.config, "drone_id", "")};
  const bool news = std::exchange(published_, why) != why;
  Json found = {{"status", Json::array()}};
  for (const auto& drone : drones) {
    if (news)
      status_->publish(
          message_of<msg::TunnelStatus>({{"drone_id", drone}, {"role", role_}, {"last_error", why}}, stamped));
    found["status"].push_back({{"name", "tunnel " + drone}, {"level", 2}, {"message", why}});
  }
  publish_diagnoses(std::move(found), stamped);
}

}  // namespace pqc_mav_proxy_cpp
