// SPDX-License-Identifier: Apache-2.0
// The state of an engine's links, their counters and their quality, as copies without keys.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pqcmav {

/// Of the datagrams on a shaped link, most important first; a rekey's fragments have a class of their own.
enum class ShapeClass : std::uint8_t { command, transfer, stream, rest, rekey };
inline constexpr std::size_t kShapeClasses = 5, kMessageClasses = 4;

enum class LinkState : std::uint8_t { down, handshaking, up, degraded, rekeying };
std::string_view to_string(LinkState state) noexcept;

/// The six reasons for which a received datagram is dropped, in the order of docs/protocol.md section 5.
enum class Drop : std::uint8_t { malformed, unknown, seq_old, replay, auth_fail, decrypt_fail };
inline constexpr std::size_t kDropKinds = 6;

/// How one end hears the other, over a sliding window (docs/protocol.md section 6).
struct LinkReport {
  std::uint32_t window_ms = 0, packets_per_s_milli = 0, gap_p95_us = 0, longest_silence_us = 0, jitter_us = 0,
                loss_ppm = 0, blackouts = 0;
  std::array<std::uint64_t, kDropKinds> drops{};
};

/// One of several ground stations as the drone sees it.
struct StationStatus {
  std::string gcs_id, address;
  std::string role;  // "active", "standby" or "none"
};

/// One of several paths as the drone sees it.
struct PathStatus {
  std::string drone_id, name, via;
  std::string state;     // "best" (in use), "good", "dead", "unknown" or "off"
  double silence_s = 0;  // since its last answer, while it owes one
  std::optional<double> rtt_ms, loss;
  std::uint64_t tx_packets = 0, tx_bytes = 0, rx_packets = 0, rx_bytes = 0;
  std::uint64_t taken = 0;  // times that packets began to take it
  std::string problem;      // why it cannot be used now, "" = nothing known
};

/// How last_error says that an endpoint of plaintext does not work, whatever the link's state is.
inline constexpr std::string_view kPlainDown = "PLAIN_DOWN";
/// The same of the serial radio that carries the link.
inline constexpr std::string_view kRadioDown = "RADIO_DOWN";

/// What a detector says of the traffic at its end: 0 nothing unusual, 1 suspicious, 2 an attack, and of which kind.
struct Alarm {
  std::uint8_t level = 0;
  std::string kind;
};
inline constexpr std::uint8_t kAlarmAttack = 2;
inline constexpr std::size_t kAlarmKindMost = 24;

struct LinkStatus {
  std::string drone_id;
  bool drone_side = false;
  LinkState state = LinkState::down;
  std::string suite;  // "" = no session
  std::uint8_t epoch = 0;
  std::string session_id;  // hex
  double key_age_s = 0, silence_s = 0;
  std::string peer, plain_local, plain_peer, last_error;
  bool hybrid = false, drone_signed = false;
  bool compact = false;       // both ends may send compact headers
  bool key_old = false;       // the last full handshake is longer ago than key_limit_s
  std::uint8_t ratchets = 0;  // since the last full handshake
  double ratchet_for_s = 0;   // for how long ratchets may still renew the keys; 0 = not now
  std::uint32_t shape_kbit = 0;
  std::uint32_t handshakes_ok = 0, handshakes_failed = 0, rekeys_ok = 0;
  // With several ground stations: the one that is active (drone) or this one (gcs), what it is for the drone ("active",
  // "standby", or "" where it has no part), since which term; and, at the drone, all of them in order of preference.
  std::string station, role;
  std::uint32_t term = 0;
  std::vector<StationStatus> stations;
  std::vector<PathStatus> paths;                // drone only: in order of 'paths'
  std::vector<std::string> blacklisted_suites;  // drone only
  std::string pinned_suite;                     // drone only: an operator asked for it, and it is to stay
  double pin_for_s = 0;                         // for so long yet
  Alarm peer_alarm;                             // what the other end's detector says
};

/// Counters by name, in the order of the documentation.
using NamedCounters = std::vector<std::pair<std::string_view, std::uint64_t>>;
/// The counter of that name; 0 where there is none.
std::uint64_t count_of(const NamedCounters& counters, std::string_view name) noexcept;

/// The network with the largest share of what was lately refused at the data port. Addresses of strangers may be forged.
struct RefusedShare {
  std::string network;  // 203.0.113.0/24, 2001:db8::/48
  double share = 0;     // of all refused datagrams, at least
};

/// What becomes of every datagram at the data port, from counters alone.
struct ServerView {
  NamedCounters totals;
  std::optional<RefusedShare> refused;
  // Of each link: whose it is, and how many packets opened.
  std::vector<std::string> drone_ids;
  std::vector<std::uint64_t> opened;
};

/// A counter that is worth a warning when it grows, and what it says then. Strangers can cause most of them.
struct WatchedCounter {
  std::string_view name, meaning;
};
/// Of each link's stats; of the process' totals, at a gcs what strangers try, and at either end its socket.
std::span<const WatchedCounter> watched_of_link();
std::span<const WatchedCounter> watched_of_server();
std::span<const WatchedCounter> watched_of_socket();

/// What became of the datagrams of one class on a shaped link: taken = sent + replaced + dropped + what waits.
struct ShapeCount {
  std::uint64_t taken = 0, sent = 0, replaced = 0, dropped = 0;
  std::uint32_t oldest_ms = 0;  // how long the oldest has been waiting
};
using ShapeCounts = std::array<ShapeCount, kShapeClasses>;

/// Packets that opened behind the newest of their key, by how far: class i holds 2^i to 2^(i+1) - 1 places. The largest
/// replay window fits; what is behind the configured one is a drop (seq_old) and in no class.
inline constexpr std::size_t kDepthClasses = 13;
using DepthCounts = std::array<std::uint64_t, kDepthClasses>;

/// One place of plaintext, where there are several of them or a serial port.
struct EndpointStatus {
  std::string name;   // as in the configuration; with the port that was taken where that says 0
  std::string state;  // in words
  bool good = true;
  NamedCounters counters;
  /// State and counters as one line.
  [[nodiscard]] std::string text() const;
};

/// Of encrypted packets and bytes, over the last second.
struct LinkRates {
  double tx_packets_per_s = 0, tx_bytes_per_s = 0, rx_packets_per_s = 0, rx_bytes_per_s = 0;
};

struct LinkStats {
  std::string drone_id;
  NamedCounters counters;
  double seal_ns_avg = 0, open_ns_avg = 0;
  DepthCounts window_depth{};
  ShapeCounts shaping{};
  std::vector<EndpointStatus> endpoints;  // of 'plain' and 'plain_endpoints', and the link's serial radio
  std::optional<LinkRates> rates;
};

/// The serial radio that carries a link: what RADIO_STATUS says of it, in the radio's own counts, and what became of its
/// frames.
struct RadioQuality {
  double kbit = 0;                                               // what it takes now
  std::optional<double> rssi, remote_rssi, noise, remote_noise;  // nothing without a word of the radio
  std::optional<double> fill;                                    // of its buffer (0-1)
  std::uint64_t line_errors = 0, not_mine = 0, dropped = 0, stuck = 0;
};

struct LinkQualityView {
  std::string drone_id;
  LinkReport local;
  std::optional<LinkReport> peer;
  double peer_age_s = 0;
  std::optional<double> rtt_ms, rtt_min_ms, clock_offset_ms;
  std::optional<RadioQuality> radio;
};

/// The longest pin of a suite [s], a week: what is to stay for longer belongs into the configuration.
inline constexpr double kPinMost = 604'800;

struct RekeyOutcome {
  bool ok = false;
  std::string suite;
  std::uint8_t epoch = 0;
  double duration_ms = 0;
  std::string message;   // a sentence in either case
  double pin_for_s = 0;  // for how long no policy chooses another suite
};

/// What a fresh look at the keys folder found.
struct KeyChanges {
  std::vector<std::string> renewed;  // drones whose own key changed or came back
  std::vector<std::string> removed;  // drones without a key now
  std::vector<std::string> signing;  // signature algorithms whose key of the gcs changed, came or went
};

/// What became of the drones and their plaintext when a configuration was read again.
struct DroneChanges {
  std::vector<std::string> added, removed;
  std::vector<std::string> changed;  // whose plaintext or rules are others now
  std::vector<std::string> restart;  // keys whose new value counts only from the next start on
  std::vector<std::string> kept;     // added while the engine runs, and in no configuration so far: they stay
  std::optional<std::string> avoid = std::nullopt;  // the families that a gcs avoids now, if they are others
  [[nodiscard]] bool empty() const noexcept { return added.empty() && removed.empty() && changed.empty() && !avoid; }
};

struct ReloadOutcome {
  KeyChanges keys;
  DroneChanges drones;
  bool configuration = false;  // there was one to read, besides the keys
};

struct EnginePorts {
  std::uint16_t data = 0;
  std::vector<std::uint16_t> more;  // of a drone's several paths, and for the drones that it passes on for
  std::vector<std::pair<std::string, std::uint16_t>> plain;
};

}  // namespace pqcmav
