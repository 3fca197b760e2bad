// SPDX-License-Identifier: Apache-2.0
// What the control socket needs of an engine: the engine implements it, tests and fuzzers have one without threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "pqc_mav_tunnel/host.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

/// Called in the socket's own threads.
class Steered {
 public:
  Steered() = default;
  Steered(const Steered&) = delete;
  Steered& operator=(const Steered&) = delete;
  virtual ~Steered() = default;

  [[nodiscard]] virtual EngineConfig config() const = 0;
  [[nodiscard]] virtual EnginePorts ports() const = 0;
  [[nodiscard]] virtual std::vector<LinkStatus> status() const = 0;
  [[nodiscard]] virtual std::vector<LinkStats> stats() const = 0;
  [[nodiscard]] virtual std::vector<LinkQualityView> links() const = 0;
  [[nodiscard]] virtual NamedCounters totals() const = 0;
  [[nodiscard]] virtual ServerView server() const = 0;
  /// As of Engine.
  [[nodiscard]] virtual std::vector<std::string> dangers() const = 0;
  virtual void set_dangers(std::vector<std::string> lines) = 0;
  virtual void set_alarm(const std::string& from, Alarm alarm) = 0;
  [[nodiscard]] virtual Alarm alarm(const std::string& from) const = 0;
  [[nodiscard]] virtual LogLevel log_level() const = 0;
  virtual void set_log_level(LogLevel level) = 0;
  /// As Engine::reload, add_drone, remove_drone and end_session.
  virtual ReloadOutcome reload(bool dry_run) = 0;
  [[nodiscard]] virtual std::vector<std::string> config_files() const = 0;
  virtual DroneChanges add_drone(const std::string& drone_id, const FlatConfig& settings, bool dry_run) = 0;
  virtual DroneChanges remove_drone(const std::string& drone_id) = 0;
  virtual KeyChanges end_session(const std::string& drone_id) = 0;
  /// gcs: as Engine::avoid.
  virtual void avoid(const std::vector<std::string>& families) = 0;
  /// drone: as Engine::use_station.
  virtual bool use_station(const std::string& gcs_id) = 0;
  /// drone: as Engine::use_path.
  virtual bool use_path(const std::string& path, const std::string& word) = 0;
  virtual bool set_shape_kbit(std::int64_t kbit) = 0;
  /// Waits for the outcome.
  virtual RekeyOutcome request_rekey(const std::string& drone_id, const std::string& suite, const std::string& reason,
                                     std::chrono::nanoseconds timeout, const std::string& kind, double pin_for_s) = 0;
  /// Of a host; an engine without one is active for as long as it can be asked.
  [[nodiscard]] virtual HostView host() const { return {}; }
  virtual HostView configure() { refuse_to_change(); }
  virtual HostView pause() { refuse_to_change(); }
  virtual HostView resume() { refuse_to_change(); }
  /// Keeps what the configuration is to have from the next `configure` on, whatever its sources say. False where nobody
  /// does. Throws TunnelError for a key that does not exist, or that the start alone may give.
  virtual bool keep(const std::string&, ConfigValue) { return false; }
  /// Into the log, whatever its level is.
  virtual void note(const std::string& drone_id, std::string text) = 0;

 private:
  [[noreturn]] static void refuse_to_change() {
    throw TunnelError(Errc::state, "The program that runs this engine opens and closes it; ask that program.");
  }
};

}  // namespace pqcmav
