// SPDX-License-Identifier: Apache-2.0
// The two ways to ask a proxy for a rekey: the service `~/rekey`, and the action `~/rekey_action` with its progress.
// A rekey takes as long as its handshake does, so every one waits in a thread of its own and no callback ever blocks:
// the node can be served by any executor.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <pqc_mav_interfaces/action/rekey.hpp>
#include <pqc_mav_interfaces/srv/rekey.hpp>
#include <rclcpp_action/rclcpp_action.hpp>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <semaphore>
#include <string>

#include "host.hpp"
#include "workers.hpp"

namespace pqc_mav_proxy_cpp {

class RekeyServer {
 public:
  /// nullptr while the node is not active.
  using HostSource = std::function<std::shared_ptr<Host>()>;

  RekeyServer(rclcpp_lifecycle::LifecycleNode& node, HostSource host);
  /// Waits for the rekeys that run: stop the engine first.
  ~RekeyServer();
  RekeyServer(const RekeyServer&) = delete;
  RekeyServer& operator=(const RekeyServer&) = delete;

  /// Takes the progress of running actions from an event of the engine. Any thread.
  void on_event(const Json& event);

 private:
  using Service = pqc_mav_interfaces::srv::Rekey;
  using Action = pqc_mav_interfaces::action::Rekey;
  using Goal = rclcpp_action::ServerGoalHandle<Action>;
  class Progress;

  static constexpr int kAtOnce = 4;  // more than these are refused

  void take(const std::shared_ptr<rclcpp::Service<Service>>& service, const std::shared_ptr<rmw_request_id_t>& id,
            const std::shared_ptr<Service::Request>& request);
  void accept(const std::shared_ptr<Goal>& goal);
  /// `Request` and `Answer` are those of the service or the goal and the result of the action, which have like fields.
  template <typename Answer, typename Request>
  Answer serve(const Request& request);
  template <typename Answer>
  static Answer busy();
  /// A copy: nothing is published with the lock held.
  std::list<std::shared_ptr<Progress>> running();
  void finish(const std::shared_ptr<Progress>& progress, const std::shared_ptr<Action::Result>& result);

  HostSource host_;
  rclcpp::Logger logger_;
  std::counting_semaphore<kAtOnce> places_{kAtOnce};
  std::mutex mutex_;
  std::list<std::shared_ptr<Progress>> running_;
  rclcpp::TimerBase::SharedPtr reminder_;  // runs while actions do
  rclcpp::Service<Service>::SharedPtr service_;
  rclcpp_action::Server<Action>::SharedPtr action_;
  Workers workers_;
};

}  // namespace pqc_mav_proxy_cpp
