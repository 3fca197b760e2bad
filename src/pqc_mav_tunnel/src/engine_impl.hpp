// SPDX-License-Identifier: Apache-2.0
// What an engine is made of, for the files that do its work: engine.cpp, engine_drones.cpp.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "console/console.hpp"
#include "control/drone_control.hpp"
#include "control/gcs_control.hpp"
#include "crypto/provider.hpp"
#include "dangers.hpp"
#include "net/data_plane.hpp"
#include "pqc_mav_tunnel/engine.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "rate_meter.hpp"
#include "relay/drone_relay.hpp"

namespace pqcmav {

class Engine::Impl {
 public:
  Impl(EngineConfig given, EventQueue* of_host, std::optional<Written> before);
  ~Impl() { stop(); }

  void start(Engine& engine);
  [[nodiscard]] std::string self_test() const;  // what it says; throws TunnelError(crypto) if one fails
  void stop();
  /// Where this drone's own packets go now; nothing without a session, or by a radio.
  [[nodiscard]] std::optional<RelayWay> way() const;

  /// Null once the drone was removed.
  [[nodiscard]] std::shared_ptr<const LinkLedger> ledger(std::size_t i) const {
    return drone ? std::shared_ptr<const LinkLedger>(std::shared_ptr<void>(), &drone->ledger()) : gcs->ledger(i);
  }

  /// What was read, with the drones that were added while the engine runs and that no configuration has named so far,
  /// and with the families that it was told to avoid, unless the configuration has others than before.
  /// What was read may be stricter than when they were added: then it is refused.
  std::pair<EngineConfig, std::vector<std::string>> with_kept(EngineConfig fresh);

  [[nodiscard]] EngineConfig current_config() const {
    const std::lock_guard lock(config_mutex);
    return shown;
  }

  DataPlane& plane() const {
    if (!data) throw TunnelError(Errc::state, "The engine has not been started.");
    return *data;
  }

  const EngineConfig config;  // as at the start, without the drones
  const ProviderLease provider{config.provider};
  mutable std::mutex config_mutex, change_mutex, reload_mutex;
  EngineConfig shown;  // as now, whole; under config_mutex once the engine runs
  Written written;     // under config_mutex
  std::function<EngineConfig()> source;
  std::function<void()> source_taken;
  std::vector<std::string> source_files;
  const bool hosted;
  EventJournal event_journal;
  EventQueue own_events;
  EventQueue& events;
  std::unique_ptr<DroneControl> drone;
  std::unique_ptr<GcsControl> gcs;
  std::unique_ptr<DataPlane> data;
  std::unique_ptr<DroneRelay> relay;  // of a drone that passes on for others
  std::unique_ptr<Console> console;
  std::string control_path;
  mutable RateMeter rates;
  Dangers dangers;
  bool running = false;
};

}  // namespace pqcmav
