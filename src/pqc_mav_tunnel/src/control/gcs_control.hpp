// SPDX-License-Identifier: Apache-2.0
// The gcs' control side: answers handshakes of many drones, keeps keys and the KEM pool, and asks drones in-band for
// rekeys.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

#include "control/handshake_server.hpp"
#include "control/key_pool.hpp"
#include "control/link_ledger.hpp"
#include "keys/key_folders.hpp"
#include "net/data_plane.hpp"
#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

class GcsControl {
 public:
  /// Reads every drone's PSK and the signing keys there are for what is allowed (throws TunnelError, even where that
  /// leaves no suite).
  GcsControl(const EngineConfig& config, EventQueue& events);
  GcsControl(const GcsControl&) = delete;
  GcsControl& operator=(const GcsControl&) = delete;

  /// Serves from now on.
  void start(DataPlane& data);
  void stop();
  /// Any thread. Throws TunnelError, and nothing has changed then. `dry_run` only compares, if `wanted` is given as if
  /// there were these drones already; set_drones reads the keys of newcomers itself.
  KeyChanges reload_keys(bool dry_run, const std::vector<DroneEntry>* wanted = nullptr);
  /// Any thread. From now on there are these drones, with this plaintext and these rules; a drone that was there before
  /// and stays as it was notices nothing. Throws TunnelError, and nothing has changed then. `dry_run` only compares.
  DroneChanges set_drones(const std::vector<DroneEntry>& wanted, bool dry_run);
  /// Any thread. Ends a drone's session and its handshakes; when this returns, what comes under their keys is refused.
  void end_session(std::size_t link);
  /// Any thread. With these families no keys are made from now on.
  void avoid(Families families);
  RekeyOutcome request_rekey(std::size_t link, const std::string& suite, const std::string& reason,
                             std::chrono::nanoseconds timeout, bool ratchet, std::uint32_t pin_s);

  // Hooks of the data plane.
  void on_changed(std::size_t link);
  void on_rekey_answered(std::size_t link, const RekeyResult& result);
  /// No key of a handshake that runs, nor one made ahead, is used.
  void on_set_back();

  /// Any thread; null once the drone was removed.
  [[nodiscard]] std::shared_ptr<const LinkLedger> ledger(std::size_t link) const;
  [[nodiscard]] ServerCounters counters() const noexcept {
    auto out = server_->counters();
    out.keygens.set(pool_.made());
    return out;
  }

 private:
  struct Drone {
    Drone(DroneEntry given, Psk key, EventQueue& events)
        : id(given.id), entry(std::move(given)), psk(std::move(key)), ledger(id, events) {}
    const std::string id;
    DroneEntry entry;        // under drones_mutex_
    std::optional<Psk> psk;  // under drones_mutex_; none: taken away while the engine runs
    LinkLedger ledger;
    bool signed_once = false;  // data thread
  };
  using DronePtr = std::shared_ptr<Drone>;
  struct Asked {
    std::size_t link;
    std::uint32_t id;
    std::optional<RekeyOutcome> answer;
  };
  [[nodiscard]] std::shared_ptr<const ResponderEnv> environment(DataShare share);
  [[nodiscard]] std::optional<std::size_t> find(std::string_view drone_id) const;
  [[nodiscard]] DronePtr drone_at(std::size_t link) const;
  [[nodiscard]] DronePtr drone_of(std::string_view drone_id) const;
  [[nodiscard]] std::vector<DronePtr> all_drones() const;
  /// The first that is free from there on.
  [[nodiscard]] std::size_t free_place(std::size_t from) const;
  std::optional<Reject> check_suite(std::string_view drone_id, const Suite& suite, bool hybrid);
  SecretBytes signing_key(const SigInfo& sig);
  RestartKey restart_key();
  [[nodiscard]] std::set<const SigInfo*> signatures_allowed() const;
  [[nodiscard]] std::string first_drone() const;
  void read_signing_keys();
  void on_refused(const std::string& source, const std::string& drone_id, HandshakeError error);

  const EngineConfig config_;
  EventQueue& events_;
  GcsKeys keys_;
  std::mutex changes_mutex_;                // one change of drones or keys at a time
  mutable std::shared_mutex drones_mutex_;  // short
  std::vector<DronePtr> drones_;            // by link; empty where one was removed
  std::map<std::string, std::size_t, std::less<>> by_id_;
  KeyPool pool_;
  std::atomic<std::uint16_t> avoided_;  // Families
  std::mutex signing_mutex_;
  std::map<const SigInfo*, SecretBytes> signing_;
  DataPlane* data_ = nullptr;
  std::unique_ptr<HandshakeServer> server_;

  // Data thread only.
  std::uint64_t next_refusal_log_ns_ = 0, unlogged_refusals_ = 0;

  std::mutex asked_mutex_;
  std::condition_variable answered_;
  std::vector<Asked> asked_;                 // one of each drone
  std::map<std::size_t, unsigned> waiting_;  // by drone, for that one to be done
  bool stopping_ = false;
};

}  // namespace pqcmav
