// SPDX-License-Identifier: Apache-2.0
// Publishers whose place another one has taken, and whose last message may not have been heard everywhere yet.
#pragma once

#include <chrono>
#include <memory>
#include <rclcpp/publisher_base.hpp>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <utility>
#include <vector>

namespace pqc_mav_proxy_cpp {

/// They stay for 3 s, and until everybody has heard them, for 10 s at most. Used by one thread.
class Leaving {
 public:
  explicit Leaving(const rclcpp_lifecycle::LifecycleNode& node) : node_(node) {}

  /// Has published for the last time.
  void add(std::shared_ptr<rclcpp::PublisherBase> publisher);
  /// Destroys those that need not stay any longer, and says whether there was one; waits for nothing.
  bool look();
  void clear() { there_.clear(); }

 private:
  /// Whether each subscriber of the topic has what was published.
  bool arrived(const rclcpp::PublisherBase& publisher) const;

  const rclcpp_lifecycle::LifecycleNode& node_;
  std::vector<std::pair<std::shared_ptr<rclcpp::PublisherBase>, std::chrono::steady_clock::time_point>> there_;
};

}  // namespace pqc_mav_proxy_cpp
