// SPDX-License-Identifier: Apache-2.0
// An engine as commands steer it.
#pragma once

#include "console/steered.hpp"
#include "pqc_mav_tunnel/engine.hpp"

namespace pqcmav {

class SteeredEngine final : public Steered {
 public:
  /// The engine outlives it.
  explicit SteeredEngine(Engine& engine) : engine_(engine) {}

  EngineConfig config() const override { return engine_.config(); }
  EnginePorts ports() const override { return engine_.ports(); }
  std::vector<LinkStatus> status() const override { return engine_.status(); }
  std::vector<LinkStats> stats() const override { return engine_.stats(); }
  std::vector<LinkQualityView> links() const override { return engine_.links(); }
  NamedCounters totals() const override { return engine_.totals(); }
  ServerView server() const override { return engine_.server(); }
  std::vector<std::string> dangers() const override { return engine_.dangers(); }
  void set_dangers(std::vector<std::string> lines) override { engine_.set_dangers(std::move(lines)); }
  void set_alarm(const std::string& from, Alarm alarm) override { engine_.set_alarm(from, std::move(alarm)); }
  Alarm alarm(const std::string& from) const override { return engine_.alarm(from); }
  LogLevel log_level() const override { return engine_.events().least(); }
  void set_log_level(LogLevel level) override { engine_.events().set_least(level); }
  ReloadOutcome reload(bool dry_run) override { return engine_.reload(dry_run); }
  std::vector<std::string> config_files() const override { return engine_.config_files(); }
  DroneChanges add_drone(const std::string& drone_id, const FlatConfig& settings, bool dry_run) override {
    return engine_.add_drone(drone_id, settings, dry_run);
  }
  DroneChanges remove_drone(const std::string& drone_id) override { return engine_.remove_drone(drone_id); }
  KeyChanges end_session(const std::string& drone_id) override { return engine_.end_session(drone_id); }
  void avoid(const std::vector<std::string>& families) override { engine_.avoid(families); }
  bool use_station(const std::string& gcs_id) override { return engine_.use_station(gcs_id); }
  bool use_path(const std::string& path, const std::string& word) override { return engine_.use_path(path, word); }
  RekeyOutcome request_rekey(const std::string& drone_id, const std::string& suite, const std::string& reason,
                             std::chrono::nanoseconds timeout, const std::string& kind, double pin_for_s) override {
    return engine_.request_rekey(drone_id, suite, reason, timeout, kind, pin_for_s);
  }
  bool set_shape_kbit(std::int64_t kbit) override { return engine_.set_shape_kbit(kbit); }
  void note(const std::string& drone_id, std::string text) override {
    engine_.events().push(Event{0, drone_id, LogEvent{LogLevel::info, std::move(text)}});
  }

 private:
  Engine& engine_;
};

}  // namespace pqcmav
