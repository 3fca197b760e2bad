// SPDX-License-Identifier: Apache-2.0
// The engine: a configured end of the tunnel with its threads. Hosts (the ROS node, tunneld, your program) create one,
// start it, and read its state and its events.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

class EventJournal;

class Engine {
 public:
  /// What the configuration itself says, beside what was added and removed since.
  struct Written {
    FlatConfig values;             // as read last
    std::set<std::string> drones;  // that it has named so far
  };
  /// Reads keys and checks suites; opens nothing yet. `written`: that of the engine before. Throws TunnelError.
  explicit Engine(EngineConfig config, std::optional<Written> written = {});
  /// Of a Host: it tells its events there, and has no control socket of its own.
  Engine(EngineConfig config, EventQueue& of_host, std::optional<Written> written = {});
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Opens sockets and starts the threads. Throws TunnelError and leaves nothing open.
  void start();
  void stop();  // idempotent

  // From any thread, after start().
  /// With the current drones.
  [[nodiscard]] EngineConfig config() const;
  [[nodiscard]] Written written() const;
  /// What was read, with what was changed of the drones since: for the engine that comes next.
  [[nodiscard]] EngineConfig for_next(const EngineConfig& read) const;
  [[nodiscard]] EnginePorts ports() const;
  [[nodiscard]] std::vector<LinkStatus> status() const;
  [[nodiscard]] std::vector<LinkStats> stats() const;
  [[nodiscard]] NamedCounters totals() const;
  [[nodiscard]] ServerView server() const;
  /// Nothing where nothing was refused, or where no network stands out.
  [[nodiscard]] std::optional<RefusedShare> refused_from() const;
  [[nodiscard]] std::vector<LinkQualityView> links() const;
  /// Rises several times a second while the packet thread works. One that stands still says that the thread hangs.
  [[nodiscard]] std::uint64_t heartbeat() const;
  [[nodiscard]] EventQueue& events() noexcept;
  /// Asks for a rekey and waits: a drone does it, a gcs asks the drone in-band. An empty suite keeps the current one. A
  /// refusal comes as ok = false with a sentence. `kind` is "rekey" (or "") for a full handshake, or "ratchet", which
  /// keeps the suite. `pin_for_s` is an operator's word: for so long (0 to kPinMost) the drone's status names the suite
  /// as pinned, and its policy keeps it. A suite asked for with 0 ends what was pinned before.
  RekeyOutcome request_rekey(const std::string& drone_id, const std::string& suite, const std::string& reason,
                             std::chrono::nanoseconds timeout, const std::string& kind = "", double pin_for_s = 0);
  /// Reads the keys again: what was renewed counts from the next handshake on, and the session of a drone whose key is
  /// gone ends at once. All or nothing: throws TunnelError on a key that is not good, and where a gcs would be left
  /// without any.
  KeyChanges reload_keys(bool dry_run = false);
  /// gcs: reads the keys again and ends the session of one drone, which then needs a handshake with the key it has now:
  /// for a key that somebody else has. Throws TunnelError, and then nothing has changed.
  KeyChanges end_session(const std::string& drone_id);
  /// Gives reload() a way to read the host's configuration again: `read` is called in any thread, but in one at a time,
  /// and throws TunnelError. `taken` is called after it in the same thread, when the engine has taken what was read.
  /// `files` are the paths that are read, for programs that change them.
  void set_config_source(std::function<EngineConfig()> read, std::function<void()> taken = {},
                         std::vector<std::string> files = {});
  [[nodiscard]] std::vector<std::string> config_files() const;
  /// Reads configuration (where there is a source) and keys again. Throws TunnelError; then all is as before.
  /// A drone that was added while the engine ran, and that no configuration has named since, stays; so do the families
  /// that avoid() was told. `dry_run` changes nothing and says what would change, or throws what it would; it opens the
  /// plaintext's ports, and closes them again.
  ReloadOutcome reload(bool dry_run = false);
  /// From now on the drones, their plaintext and their rules are those of `fresh` (at a drone: its plaintext). Whoever
  /// stays as it was keeps its session and loses no packet. A drone that is removed hears CLOSE; its keys are wiped, its
  /// ports free. All or nothing: throws TunnelError.
  DroneChanges reconfigure(const EngineConfig& fresh, bool dry_run = false);
  /// gcs: from now on no keys are made with these families ('avoid'; docs/choosing-a-suite.md), until one is read whose
  /// 'avoid' has changed. Sessions that have such keys go on: a rekey takes them to other ones. Throws TunnelError.
  void avoid(const std::vector<std::string>& families);
  /// gcs: one drone more, with the keys below `drone.<id>.` that it needs, under rules no laxer than those of the
  /// configuration that was read last; one drone less. Throws TunnelError. `dry_run` as above.
  DroneChanges add_drone(const std::string& id, const FlatConfig& settings = {}, bool dry_run = false);
  DroneChanges remove_drone(const std::string& id);
  /// Changes `shape_kbit` of the running engine, for every link. Throws TunnelError on a value out of bounds; false
  /// when the engine does not run, and nothing changed.
  bool set_shape_kbit(std::int64_t kbit);
  /// Path that the control socket has, or had until stop(); "" without one.
  [[nodiscard]] std::string control_socket() const;
  /// What the host found on its machine that endangers the link, a line each: the control socket passes it on. Forgotten
  /// 30 s after it was last told.
  void set_dangers(std::vector<std::string> dangers);
  [[nodiscard]] std::vector<std::string> dangers() const;
  /// What a detector says at this end (`from` is ""), or at another ground station: the other ends that it concerns hear
  /// of it with their next report. Forgotten 10 s after it was last told.
  void set_alarm(const std::string& from, Alarm alarm);
  [[nodiscard]] Alarm alarm(const std::string& from) const;
  /// The ground station that a drone with several is to use as soon as it answers, and then before all others; "" = the
  /// order of 'peer'. Throws TunnelError on one that is not in 'peer'; false on a gcs, and when the engine does not run.
  bool use_station(const std::string& gcs_id);
  /// A drone with several paths: this one is used again ("on"), no more ("off"), or before all others as soon as it
  /// answers ("first"). Throws TunnelError on another name or word, and where no other path would be left; false on a
  /// gcs, and when the engine does not run.
  bool use_path(const std::string& path, const std::string& word);

 private:
  friend class Door;
  class Impl;
  [[nodiscard]] const EventJournal& journal() const noexcept;
  DroneChanges take(const EngineConfig& fresh, bool dry_run = false);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pqcmav
