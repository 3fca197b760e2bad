// SPDX-License-Identifier: Apache-2.0
#include "leaving.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

using namespace std::chrono_literals;
// An acknowledgement says that a message has come to a process, not that its program has taken it; what it has not taken
// when the publisher is destroyed can be lost. A subscriber that is stopped, or asks for another quality of service,
// never gets it.
constexpr auto kLeast = 3s;
constexpr auto kMost = 10s;

}  // namespace

void Leaving::add(std::shared_ptr<rclcpp::PublisherBase> publisher) {
  there_.emplace_back(std::move(publisher), std::chrono::steady_clock::now());
}

bool Leaving::look() {
  const auto now = std::chrono::steady_clock::now();
  const auto may_go = [&](const auto& each) {
    const auto stayed = now - each.second;
    return stayed >= kMost || (stayed >= kLeast && arrived(*each.first));
  };
  return std::erase_if(there_, may_go) > 0;
}

bool Leaving::arrived(const rclcpp::PublisherBase& publisher) const {
  // A reliable message is sent again only as long as its publisher is there. Nobody waits for the acknowledgement of a
  // subscriber that has not been matched with this publisher yet.
  return publisher.wait_for_all_acked(0ms) &&
         publisher.get_subscription_count() >= node_.count_subscribers(publisher.get_topic_name());
}

}  // namespace pqc_mav_proxy_cpp
