// SPDX-License-Identifier: Apache-2.0
// An engine of two drones for the control socket, without keys, sockets and threads.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "console/steered.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav::test {

class FakeSteered final : public Steered {
 public:
  FakeSteered() {
    set_up.role = Role::gcs;
    set_up.gcs_id = "gcs";
  }
  EngineConfig config() const override { return set_up; }
  EnginePorts ports() const override { return {46011, {}, {{"uav1", 14550}, {"uav2", 14551}}}; }
  std::vector<LinkStatus> status() const override {
    std::vector<LinkStatus> out(2);
    out[0].drone_id = "uav1";
    out[0].state = LinkState::up;
    out[0].suite = suite;
    out[1].drone_id = "uav2";
    out[1].last_error = "\xff is no UTF-8";
    return out;
  }
  std::vector<LinkStats> stats() const override {
    std::vector<LinkStats> out(2);
    out[0].drone_id = "uav1";
    out[0].counters = {{"enc_tx_packets", packets}};
    out[0].rates = {25, 0, 0, 0};
    out[1].drone_id = "uav2";
    return out;
  }
  std::vector<LinkQualityView> links() const override {
    std::vector<LinkQualityView> out(2);
    out[0].drone_id = "uav1";
    out[0].peer = LinkReport{};
    out[0].rtt_ms = 1.5;
    out[1].drone_id = "uav2";
    return out;
  }
  NamedCounters totals() const override { return counted; }
  NamedCounters counted = {{"delivered", 3}};
  ServerView server() const override {
    return {totals(), RefusedShare{"203.0.113.0/24", 0.5}, {"uav1", "uav2"}, {packets, 0}};
  }
  std::vector<std::string> dangers() const override { return endangered; }
  void set_dangers(std::vector<std::string> lines) override { endangered = std::move(lines); }
  void set_alarm(const std::string& from, Alarm alarm) override { alarms[from] = std::move(alarm); }
  Alarm alarm(const std::string& from) const override { return alarms.contains(from) ? alarms.at(from) : Alarm{}; }
  std::map<std::string, Alarm> alarms;
  LogLevel log_level() const override { return level; }
  void set_log_level(LogLevel to) override { level = to; }
  bool use_station(const std::string& gcs_id) override {
    wanted = gcs_id;
    return true;
  }
  bool use_path(const std::string& path, const std::string& word) override {
    if (word == "off" && path == "radio") throw TunnelError(Errc::state, "It is the last one.");
    wanted = path + " " + word;
    return true;
  }
  void avoid(const std::vector<std::string>& families) override { set_up.avoid = Families::of(families); }
  bool set_shape_kbit(std::int64_t kbit) override {
    if (kbit < 0) throw TunnelError(Errc::config_invalid, "'shape_kbit' is below 0.");
    shaped = kbit;
    return true;
  }
  std::int64_t shaped = 0;
  std::string wanted, suite;
  std::vector<std::string> config_files() const override { return {"/etc/gcs.yaml"}; }
  ReloadOutcome reload(bool dry_run) override {
    dry_runs += dry_run ? 1 : 0;
    if (bad_keys) throw TunnelError(Errc::key_format, "The key is broken.");
    return {{{"uav1"}, {}, {"ML-DSA-65"}}, {{}, {"uav3"}, {}, {"gso"}, {"uav4"}, "lattices"}, true};
  }
  DroneChanges add_drone(const std::string& drone_id, const FlatConfig& settings, bool dry_run) override {
    dry_runs += dry_run ? 1 : 0;
    if (drone_id == "uav1") throw TunnelError(Errc::config_invalid, "There is a drone 'uav1' here already.");
    added = settings;
    return {{drone_id}, {}, {}, {}, {}};
  }
  DroneChanges remove_drone(const std::string& drone_id) override { return {{}, {drone_id}, {}, {}, {}}; }
  KeyChanges end_session(const std::string& drone_id) override { return {{drone_id}, {}, {}}; }
  FlatConfig added;
  int dry_runs = 0;
  RekeyOutcome request_rekey(const std::string& drone_id, const std::string& suite, const std::string& reason,
                             std::chrono::nanoseconds, const std::string& kind, double pin_for_s) override {
    std::unique_lock lock(mutex);
    asked.push_back(drone_id + '|' + suite + '|' + reason + (kind.empty() ? "" : '|' + kind));
    let.wait(lock, [this] { return !held; });
    if (reason == "refuse me") return {false, suite, 0, 0, "There is no session."};
    return {true, suite, 7, 2.5, "Rekeyed.", pin_for_s};
  }
  void note(const std::string& drone_id, std::string text) override {
    const std::lock_guard lock(mutex);
    noted.push_back(drone_id + ": " + text);
  }

  /// Rekeys wait until they are let go.
  void hold(bool value) {
    {
      const std::lock_guard lock(mutex);
      held = value;
    }
    let.notify_all();
  }
  [[nodiscard]] std::size_t rekeys_asked() {
    const std::lock_guard lock(mutex);
    return asked.size();
  }

  EngineConfig set_up;
  std::vector<std::string> endangered = {"a way around"};
  std::uint64_t packets = 0;
  LogLevel level = LogLevel::info;
  std::mutex mutex;
  std::condition_variable let;
  bool held = false, bad_keys = false;
  std::vector<std::string> asked, noted;
};

}  // namespace pqcmav::test
