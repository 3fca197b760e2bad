// SPDX-License-Identifier: Apache-2.0
// The lifecycle component around the engine: parameters, topics, services. It does what pqc_mav_proxy does, under the
// same names. What the engine says and does it is asked through its door (docs/control-socket.md), and this relays it.
//
// configure -> the parameters are taken as they are then and checked, the keys are read, publishers and timers are made;
// activate -> sockets and threads; deactivate -> sessions closed and keys wiped; cleanup -> all that is destroyed. The
// engine is in this process, or in a pqcmav-tunneld
// (`tunnel`), whose link outlives this node. Packets never come here.
#pragma once

#include <chrono>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <pqc_mav_interfaces/msg/handshake_report.hpp>
#include <pqc_mav_interfaces/msg/link_quality.hpp>
#include <pqc_mav_interfaces/msg/path_status.hpp>
#include <pqc_mav_interfaces/msg/server_stats.hpp>
#include <pqc_mav_interfaces/msg/threat_report.hpp>
#include <pqc_mav_interfaces/msg/tunnel_stats.hpp>
#include <pqc_mav_interfaces/msg/tunnel_status.hpp>
#include <pqc_mav_interfaces/srv/get_info.hpp>
#include <pqc_mav_interfaces/srv/list_suites.hpp>
#include <pqc_mav_interfaces/srv/use_path.hpp>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <rclcpp_lifecycle/lifecycle_publisher.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conversions.hpp"
#include "daemon_host.hpp"
#include "failure.hpp"
#include "host.hpp"
#include "leaving.hpp"
#include "parameters.hpp"
#include "pqc_mav_tunnel/engine.hpp"
#include "rekey_server.hpp"
#include "shutdown_hook.hpp"

namespace pqc_mav_proxy_cpp {

namespace msg = pqc_mav_interfaces::msg;

class ProxyNode final : public rclcpp_lifecycle::LifecycleNode {
 public:
  static constexpr const char* kName = "pqc_proxy";

  /// With `autostart` it is active when this returns. Throws Failure when that cannot be, or for a bad `autostart`.
  explicit ProxyNode(const rclcpp::NodeOptions& options);
  ~ProxyNode() override;

  /// Reads configuration and keys again, as `pqcmav reload` does; what came of it is in the log. Any thread.
  void reload();

  /// From the executor's thread, once nothing but its end is left of the node (`finalized`).
  void when_finalized(std::function<void()> call) { finalized_ = std::move(call); }

  using Result = rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;
  Result on_configure(const rclcpp_lifecycle::State& state) override;
  Result on_activate(const rclcpp_lifecycle::State& state) override;
  Result on_deactivate(const rclcpp_lifecycle::State& state) override;
  Result on_cleanup(const rclcpp_lifecycle::State& state) override;
  Result on_shutdown(const rclcpp_lifecycle::State& state) override;

 private:
  template <typename Message>
  using Publisher = std::shared_ptr<rclcpp_lifecycle::LifecyclePublisher<Message>>;
  using Told = std::set<std::string>;
  using ListSuites = pqc_mav_interfaces::srv::ListSuites;
  using UsePath = pqc_mav_interfaces::srv::UsePath;
  using GetInfo = pqc_mav_interfaces::srv::GetInfo;

  void declare(const std::vector<std::string>& names);
  /// What a node without a configuration must answer.
  void make_services();
  /// What the configured node publishes, and its timers; cleanup withdraws it.
  void offer();
  void withdraw();
  template <typename Message>
  void publish_on(Publisher<Message>& publisher, const char* topic, const rclcpp::QoS& profile);
  /// After drones have come or gone: a late subscriber gets one status of each drone there is, and no other.
  void make_room(const Json& statuses);
  /// From now on parameters can be set; what is set counts from the next configure on.
  void take_settings();
  /// Lets a new value count now. False where nothing runs yet that it could count for.
  bool take_live(const rclcpp::Parameter& parameter);
  /// The same of what was set since the start: the configuration that a fresh engine has may be older.
  void take_live();
  void begin(const rclcpp::NodeOptions& options);
  void bring_up();
  /// What the user gave, and what was set since; with mutex_ held.
  Given wanted() const;
  /// What the files and the command line say now. Throws Failure.
  Given read_files() const;
  /// For a reload of the engine: the configuration as its files are now, and its having been taken. Throws TunnelError.
  pqcmav::EngineConfig read_again();
  void taken();
  /// Checks the configuration and reads the keys. A daemon whose tunnel is open is left alone.
  void make_host();
  /// Runs one step of a transition; a refusal is kept and logged as one line.
  template <typename Step>
  bool guarded(Step step);
  /// A start that failed leaves no engine.
  Result refused();
  /// Stops an engine of this process, wipes its keys and publishes the last status; a daemon goes on. May be called more
  /// than once, from any thread.
  void close();
  std::shared_ptr<Host> running_host();
  /// From the thread that waits for events.
  void take(Host& host, const std::vector<Json>& events);
  void say(const Json& what);

  // A daemon:
  std::shared_ptr<DaemonHost> reach();
  void make_daemon_host();
  /// A tunnel that somebody paused is opened if that is asked for, and not because this node starts.
  void resume(DaemonHost& host);
  /// Has a daemon close its tunnel; the end of this process alone closes none. An engine of this process hands on what
  /// the next one starts with.
  void pause();
  /// What was set since the start lives in the daemon, which forgets it when it ends; `again`: it is open.
  void send_settings(DaemonHost& host, bool again);
  void on_door(DaemonHost& host, const Json& event);
  /// A daemon that was started again and could not open its tunnel then tries as often as a node would.
  void open_again(DaemonHost& host);
  /// The tunnel is DOWN as far as anybody can say.
  void publish_lost(const std::string& why);

  Header header(std::chrono::nanoseconds age = {});
  /// All drones' statuses, when one of them changed: a late subscriber then has the whole latched set.
  void publish_status(Host& host, bool force);
  void publish_periodic();
  void publish_of(Host& host);
  void tell_alarm(Host& host);
  void publish_diagnoses(Json found, const Header& stamped);
  /// The timer of `~/server_stats` runs only while somebody listens.
  void serve_detectors();
  void publish_server();
  void list_suites(const ListSuites::Request& request, ListSuites::Response& response);
  void get_info(GetInfo::Response& response);
  void use_path(const UsePath::Request& request, UsePath::Response& response);
  /// The configuration as it counts; what was asked for, as long as there is none.
  Json counting();

  std::map<std::string, ParameterSpec> specs_;
  OnSetParametersCallbackHandle::SharedPtr judging_;
  PostSetParametersCallbackHandle::SharedPtr keeping_;
  bool autostart_ = true, coming_up_ = false;
  std::string role_, tunnel_;
  std::string hardware_id_;
  Given loaded_with_;                // what a container was asked for, which goes before files
  std::vector<std::string> served_;  // the drones that the topics have room for
  Told told_;                        // and those whose status was published since
  std::optional<Failure> failure_;   // why the last transition failed
  std::function<void()> finalized_;

  Publisher<msg::TunnelStatus> status_;
  Leaving leaving_{*this};  // publishers of the status that said farewell to a drone
  Publisher<msg::TunnelStats> stats_;
  Publisher<msg::LinkQuality> link_;
  Publisher<msg::PathStatus> paths_;
  Publisher<msg::ServerStats> server_;
  Publisher<msg::HandshakeReport> handshake_;
  Publisher<diagnostic_msgs::msg::DiagnosticArray> diagnostics_;
  rclcpp::Service<ListSuites>::SharedPtr list_suites_;
  rclcpp::Service<GetInfo>::SharedPtr get_info_;
  rclcpp::Service<UsePath>::SharedPtr use_path_;
  rclcpp::TimerBase::SharedPtr tick_, server_tick_;
  rclcpp::Subscription<msg::ThreatReport>::SharedPtr threat_;

  std::mutex mutex_;  // of what follows up to the rekeys
  Given given_;       // what the user gave, as last read
  Given changed_;     // what was set since
  Given read_;        // by a reload that has not ended
  Asked asked_;       // both as they were at the last configure or reload
  // What the engine of the last activation handed on beside it.
  std::optional<pqcmav::Engine::Written> written_;
  std::string published_;
  Json alarm_;  // of this end's detector
  std::chrono::steady_clock::time_point alarm_until_;
  std::optional<bool> away_;                     // whether the daemon is away; nothing: not heard of yet
  std::string unsaid_;                           // why it is away, as long as the log does not say so
  std::string boot_;                             // which daemon it was that was heard last
  std::chrono::steady_clock::time_point again_;  // when to try again to open its tunnel

  // In this order: the engine stops before the rekeys that wait for it are waited for.
  std::unique_ptr<RekeyServer> rekeys_;
  std::shared_ptr<Host> host_;  // guarded by mutex_ too; shared with rekeys that wait for their end
  std::optional<ShutdownHook> hook_;
};

}  // namespace pqc_mav_proxy_cpp
