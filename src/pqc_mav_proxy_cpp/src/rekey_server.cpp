// SPDX-License-Identifier: Apache-2.0
#include "rekey_server.hpp"

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "conversions.hpp"
#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr auto kReminder = 1s;
constexpr auto kHeadStart = 20ms;

enum class Phase { requested, handshake, installed };
constexpr const char* kPhases[] = {"requested", "handshake", "installed"};

/// How far an action is after this event; requested = no further.
Phase phase_after(const Json& event) {
  const auto kind = event["event"].get<std::string>();
  if (kind == "state" && (event["new"] == "REKEYING" || event["new"] == "HANDSHAKING")) return Phase::handshake;
  return kind == "handshake" && event["ok"].get<bool>() ? Phase::installed : Phase::requested;
}

}  // namespace

/// How far one action is.
class RekeyServer::Progress {
 public:
  explicit Progress(std::shared_ptr<Goal> goal) : goal_(std::move(goal)) {}

  [[nodiscard]] Goal& goal() const { return *goal_; }
  [[nodiscard]] bool concerns(const std::string& drone) const {
    const auto& mine = goal_->get_goal()->drone_id;
    return mine.empty() || mine == drone;
  }
  /// Goes on to `phase` and publishes it, unless it is passed already: events may come late.
  void advance(Phase phase) {
    const std::lock_guard lock(mutex_);
    if (phase <= phase_) return;
    phase_ = phase;
    send();
  }
  /// Publishes the phase once more.
  void publish() {
    const std::lock_guard lock(mutex_);
    send();
  }

 private:
  void send() {
    // A goal that has ended takes no feedback; its result has said everything.
    if (!goal_->is_active()) return;
    auto feedback = std::make_shared<Action::Feedback>();
    feedback->phase = kPhases[static_cast<std::size_t>(phase_)];
    feedback->elapsed_s = std::chrono::duration<float>(Clock::now() - began_).count();
    try {
      goal_->publish_feedback(feedback);
    } catch (const std::exception&) {
      return;  // the process ends, or the goal did just now
    }
  }

  std::shared_ptr<Goal> goal_;
  Clock::time_point began_ = Clock::now();
  std::mutex mutex_;
  Phase phase_ = Phase::requested;
};

RekeyServer::RekeyServer(rclcpp_lifecycle::LifecycleNode& node, HostSource host)
    : host_(std::move(host)), logger_(node.get_logger()) {
  reminder_ = node.create_wall_timer(kReminder, [this] {
    for (const auto& progress : running()) progress->publish();
  });
  reminder_->cancel();
  service_ = node.create_service<Service>(
      "~/rekey", [this](std::shared_ptr<rclcpp::Service<Service>> service, std::shared_ptr<rmw_request_id_t> id,
                        std::shared_ptr<Service::Request> request) { take(service, id, request); });
  // Goals are always accepted: a refused goal carries no sentence, an aborted one does. A handshake cannot be called
  // off, so requests to cancel are refused.
  action_ = rclcpp_action::create_server<Action>(
      node.get_node_base_interface(), node.get_node_clock_interface(), node.get_node_logging_interface(),
      node.get_node_waitables_interface(), "~/rekey_action",
      [](const rclcpp_action::GoalUUID&, std::shared_ptr<const Action::Goal>) {
        return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
      },
      [](std::shared_ptr<Goal>) { return rclcpp_action::CancelResponse::REJECT; },
      [this](std::shared_ptr<Goal> goal) { accept(goal); });
}

RekeyServer::~RekeyServer() { workers_.join(); }

void RekeyServer::on_event(const Json& event) {
  const auto phase = phase_after(event);
  if (phase == Phase::requested) return;
  const auto drone = event["drone_id"].get<std::string>();
  for (const auto& progress : running())
    if (progress->concerns(drone)) progress->advance(phase);
}

std::list<std::shared_ptr<RekeyServer::Progress>> RekeyServer::running() {
  const std::lock_guard lock(mutex_);
  return running_;
}

void RekeyServer::take(const std::shared_ptr<rclcpp::Service<Service>>& service,
                       const std::shared_ptr<rmw_request_id_t>& id, const std::shared_ptr<Service::Request>& request) {
  if (!places_.try_acquire()) {
    auto answer = busy<Service::Response>();
    service->send_response(*id, answer);
    return;
  }
  workers_.run([this, service, id, request] {
    auto answer = serve<Service::Response>(*request);
    places_.release();
    try {
      service->send_response(*id, answer);
    } catch (const std::exception& error) {  // the process ends
      RCLCPP_WARN(logger_, "rekey: no answer could be sent: %s", one_line(error.what()).c_str());
    }
  });
}

void RekeyServer::accept(const std::shared_ptr<Goal>& goal) {
  auto progress = std::make_shared<Progress>(goal);
  {
    const std::lock_guard lock(mutex_);
    running_.push_back(progress);
    reminder_->reset();
  }
  progress->publish();
  if (!places_.try_acquire()) {
    finish(progress, std::make_shared<Action::Result>(busy<Action::Result>()));
    return;
  }
  workers_.run([this, progress] {
    auto result = std::make_shared<Action::Result>(serve<Action::Result>(*progress->goal().get_goal()));
    places_.release();
    finish(progress, result);
  });
}

void RekeyServer::finish(const std::shared_ptr<Progress>& progress, const std::shared_ptr<Action::Result>& result) {
  {
    const std::lock_guard lock(mutex_);
    running_.remove(progress);
    if (running_.empty()) reminder_->cancel();
  }
  try {
    if (result->ok) {
      progress->advance(Phase::installed);  // a quick rekey ends before the engine's events are here
      // A client that has the result takes no more feedback, and DDS may bring the two in either order.
      std::this_thread::sleep_for(kHeadStart);
      progress->goal().succeed(result);
    } else {
      progress->goal().abort(result);
    }
  } catch (const std::exception& error) {  // the process ends
    RCLCPP_WARN(logger_, "rekey: no result could be sent: %s", one_line(error.what()).c_str());
  }
}

template <typename Answer>
Answer RekeyServer::busy() {
  Answer out;
  out.message =
      "Busy: " + std::to_string(kAtOnce) + " rekeys are waiting at this proxy already; try again when one is done.";
  return out;
}

template <typename Answer, typename Request>
Answer RekeyServer::serve(const Request& request) {
  Answer out;
  const auto host = host_();
  if (!host) {
    out.message = "The node is not active, so there is no tunnel to rekey; activate it first.";
    return out;
  }
  try {
    fill(out, host->ask("request_rekey", {{"drone_id", request.drone_id},
                                          {"suite", request.suite},
                                          {"kind", request.kind},
                                          {"reason", request.reason},
                                          {"pin_for_s", request.pin_for_s}}));
  } catch (const Refusal& refusal) {
    out.message = one_line(refusal.what());
  } catch (const std::exception& error) {  // the client must hear of it, and the process goes on
    RCLCPP_ERROR(logger_, "rekey: unexpected: %s", one_line(error.what()).c_str());
    out.message = "Unexpected: " + one_line(error.what());
  }
  return out;
}

}  // namespace pqc_mav_proxy_cpp
