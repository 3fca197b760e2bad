// SPDX-License-Identifier: Apache-2.0
// Configuration of an engine: one table of keys, from which ROS parameters, checks and documentation are made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pqc_mav_tunnel/families.hpp"
#include "pqc_mav_tunnel/status.hpp"
#include "pqc_mav_tunnel/suites.hpp"

namespace pqcmav {

enum class Role : std::uint8_t { drone, gcs };
std::string_view to_string(Role role) noexcept;

using ConfigValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;
/// Keys as in the schema; a gcs' drones have `drone.<id>.<key>`.
using FlatConfig = std::map<std::string, ConfigValue>;

struct ConfigKey {
  std::string_view key;
  ConfigValue default_value;
  std::optional<double> min, max;  // inclusive, numbers only
  std::string_view unit;           // "" = none
  std::string_view description;
  bool drone, gcs;  // which roles have it
  std::vector<std::string_view> choices = {};
  bool required = false;
  bool live = false;  // may be set while the engine runs
};

std::span<const ConfigKey> config_schema();
/// Keys below `drone.<id>.` of a gcs.
std::span<const ConfigKey> drone_entry_schema();
/// Keys below `path.<name>.` of a drone.
std::span<const ConfigKey> path_entry_schema();

/// A serial telemetry radio that carries the encrypted side of a link.
struct RadioSettings {
  std::string text;  // as it was written
  std::string path;
  std::uint32_t baud = 0;
  bool flow_control = false;
  bool mavlink = false;  // datagrams go inside MAVLink messages
  std::uint8_t radio_id = 0;
  std::uint64_t bundle_ms = 0;
  std::size_t bundle_bytes = 0;
};

struct DroneEntry {
  std::string id;
  std::string plain_bind, plain_peer;
  std::vector<std::string> plain_endpoints;  // from 'plain' or 'plain_endpoints', instead of both above; empty = those
  std::optional<bool> require_signature;     // not said: once the gcs holds the drone's public key
  std::vector<const Suite*> allowed_suites;  // empty = as the gcs
  std::optional<RadioSettings> radio = std::nullopt;  // by which it comes
};

/// A ground station of a drone.
struct PeerEntry {
  std::string gcs_id, host;
  std::uint16_t port;
  std::optional<RadioSettings> radio = std::nullopt;  // in place of host and port
};

/// What a path is for, besides its place in the order.
enum class PathUse : std::uint8_t {
  always,
  metered,  // each byte costs: while it is dead nothing goes there
  backup,   // and no copies either while another one lives
  commands  // and if none does only what cannot wait
};

/// One of the ways of a drone to its ground station.
struct PathEntry {
  std::string name;
  std::string via;                                    // a network interface or an own address; empty = the routes
  std::optional<RadioSettings> radio = std::nullopt;  // in place of it
  std::string host = {};                              // of the gcs by this path; empty = as 'peer'
  std::uint16_t port = 0;
  PathUse use = PathUse::always;
};

struct EngineConfig {
  Role role = Role::drone;
  std::string keys;
  ProviderChoice provider = ProviderChoice::automatic;
  const Suite* suite = nullptr;  // drone
  bool hybrid = true, gso = true, allow_pure = true, plain_allow_remote = false, compact = false, ratchet = true;
  bool self_test = false;
  bool plain_tap_requests = false;  // drone
  bool pace_autopilot = false;      // drone
  std::optional<bool> sign;         // drone; not said: where it has a key pair
  std::string log_level;
  std::string control_socket, control_socket_group;
  unsigned control_socket_mode = 0;
  std::size_t max_payload = 0, replay_window = 0, socket_buffer_kib = 0;
  std::size_t bundle_bytes = 0;
  std::uint64_t bundle_ms = 0;
  int dscp = 0, busy_poll_us = 0;
  double keepalive_s = 0, degraded_after_s = 0, reconnect_after_s = 0, session_limit_s = 0, grace_s = 0;
  double rekey_interval_s = 0, blacklist_s = 0, key_limit_s = 0;
  bool stop_on_old_keys = false;
  std::uint64_t rekey_packets = 0;
  std::uint32_t shape_kbit = 0;
  bool shape_auto = false;  // it is found
  std::vector<std::pair<std::uint32_t, ShapeClass>> shape_ids;
  // drone
  std::string drone_id, plain_bind, plain_peer, plain_tap, state_dir, station;
  std::vector<std::string> plain_endpoints;  // as in DroneEntry
  std::vector<PeerEntry> peers;              // in order of preference; at least one
  std::vector<PathEntry> paths;              // in order of preference; none: as the routes say
  bool standby = false;
  double failover_after_s = 0, failback_s = 0;
  std::uint16_t local_data_port = 0;
  std::uint16_t relay_port = 0;  // 0: it passes on for nobody
  std::vector<std::string> relay_from;
  std::uint32_t relay_kbit = 0;
  // both: the gcs' name and port
  std::string bind, gcs_id;
  std::uint16_t data_port = 0;
  // gcs
  std::vector<DroneEntry> drones;
  std::vector<const Suite*> allowed_suites;
  Families avoid;
  std::size_t max_handshakes = 0, handshake_threads = 0, data_threads = 1, key_pool_depth = 0;
  std::vector<const KemInfo*> key_pool_kems;
  double key_pool_max_age_s = 0, handshakes_per_drone_s = 0;

  FlatConfig effective;  // every key with its value, for display; of drones those given
  FlatConfig given;      // what it was made from

  /// drone: may its packets take a serial radio?
  [[nodiscard]] bool has_radio() const noexcept;
  /// Without what there is of each drone, and without the texts: parts of the engine keep one of these each.
  [[nodiscard]] EngineConfig lean() const;

  /// Checks everything that can be checked without touching the system. Throws TunnelError(config_*, suite_*).
  static EngineConfig from_flat(const FlatConfig& values);
};

}  // namespace pqcmav
