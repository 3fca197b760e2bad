// SPDX-License-Identifier: Apache-2.0
// One drone as the data thread sees it, and the picture of it that other threads may read.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "handshake/handshake.hpp"
#include "handshake/known_link.hpp"
#include "net/announcements.hpp"
#include "net/bundler.hpp"
#include "net/counters.hpp"
#include "net/net.hpp"
#include "net/path_validator.hpp"
#include "net/plain_hub.hpp"
#include "net/plain_learner.hpp"
#include "net/radio_port.hpp"
#include "net/upkeep_pace.hpp"
#include "net/yield.hpp"
#include "paths/packet_again.hpp"
#include "pqc_mav_tunnel/config.hpp"
#include "session/control_frame.hpp"
#include "session/late_guard.hpp"
#include "session/link_estimator.hpp"
#include "session/session.hpp"
#include "shape/autopilot_pace.hpp"
#include "shape/parameter_pace.hpp"
#include "shape/rate_finder.hpp"
#include "shape/shaper.hpp"
#include "shape/token_bucket.hpp"

namespace pqcmav {

/// What of a session both the data thread and the picture for the others have.
struct LinkFacts {
  SockAddr peer;
  // Of several ground stations (docs/protocol.md section 14).
  std::size_t station = 0;               // drone: with which one the session is, by its place in 'peer'
  StationRole role = StationRole::none;  // what the drone takes that station for
  std::uint32_t term = 0;                // since which change
  bool closed_by_peer = false;
  bool key_old = false;              // the last full handshake of the current keys is too long ago
  LinkReport local;                  // what this end receives; refreshed once a second
  std::optional<LinkReport> remote;  // what the peer last reported
  std::uint64_t remote_at_ns = 0;
};

/// A consistent copy of what changes slowly, refreshed by the data thread (ten times a second and at every change of
/// keys).
struct LinkPicture : LinkFacts {
  std::optional<Session::Info> current, pending;
  SockAddr plain_peer, plain_local;
  std::uint64_t heard_silence_ns = 0, heard_ns = 0, key_use = 0;
  std::uint64_t answered_ns = 0;  // when the newest PROBE was sent that was answered
  bool moved = false;             // gcs: the drone closed the session to go to another station
  KeyEnd ended = KeyEnd::none;    // why the last session ended
  bool can_send = false, degraded = false;
  std::optional<std::uint64_t> rtt_ns, rtt_min_ns;
  std::optional<std::int64_t> clock_offset_ns;
  std::uint32_t shape_kbit = 0;
  ShapeCounts shaping{};
};

/// At a drone, of a link without a session: no station has this place.
inline constexpr std::size_t kNoStation = ~std::size_t{0};

/// Round trips and clock offset from probes: the offset is that of the quickest of the last eight probes, the least
/// disturbed one.
class ProbeTracker {
 public:
  void on_reply(const ProbeReply& reply, std::uint64_t t4) noexcept;
  [[nodiscard]] std::optional<std::uint64_t> rtt_ns() const noexcept { return rtt_; }
  /// How long an answer may take before it counts as lost (docs/protocol.md section 5, rule 6).
  [[nodiscard]] std::uint64_t timeout_ns() const noexcept;
  [[nodiscard]] std::optional<std::uint64_t> rtt_min_ns() const noexcept { return least(&Sample::rtt); }
  /// The least since the path is what it is: that of the last eight does not show a queue which stays.
  [[nodiscard]] std::optional<std::uint64_t> least_ns() const noexcept { return least_; }
  void forget_least() noexcept { least_.reset(); }
  [[nodiscard]] std::optional<std::int64_t> offset_ns() const noexcept { return least(&Sample::offset); }
  /// When the newest probe was sent that was answered; 0: none was.
  [[nodiscard]] std::uint64_t answered_ns() const noexcept { return answered_; }
  /// Does it answer one of the last eight, for the first time?
  [[nodiscard]] bool waits_for(const ProbeReply& reply) const noexcept {
    const auto& open = open_[reply.id % open_.size()];
    return reply.id != 0 && reply.id == open.id && reply.t1 == open.t1;
  }
  /// The next probe; replies to the last eight count, each once. (Behind a long queue more than one is on its way.)
  Probe ask(std::uint64_t t1) noexcept {
    const Probe probe{next_id_++, t1};
    return open_[probe.id % open_.size()] = probe;
  }

 private:
  struct Sample {
    std::uint64_t rtt;
    std::int64_t offset;
  };
  /// A figure of the quickest sample; nothing before there is one.
  template <typename Figure>
  [[nodiscard]] std::optional<Figure> least(Figure Sample::* figure) const noexcept {
    const auto known = std::span(samples_).first(std::min(count_, samples_.size()));
    if (known.empty()) return std::nullopt;
    return (*std::ranges::min_element(known, {}, &Sample::rtt)).*figure;
  }
  std::array<Probe, 8> open_{};  // id 0: none
  std::uint32_t next_id_ = 1;
  std::array<Sample, 8> samples_{};
  std::size_t count_ = 0;
  std::optional<std::uint64_t> rtt_, least_;
  std::uint64_t answered_ = 0;
};

SessionTimers session_timers(const EngineConfig& config) noexcept;

/// Where the plaintext of a drone comes from and goes to.
struct Plaintext {
  Fd socket;
  SockAddr local, peer;
  bool learns_peer = false;
  std::shared_ptr<PlainHub> hub;
};

/// What goes along when a drone's two sessions change places. Data thread only.
struct LinkSession : LinkFacts {
  LinkSession(bool drone_side, const SessionTimers& timers, std::size_t window_bits)
      : session(drone_side, timers, window_bits) {}

  Session session;
  LinkEstimator estimator;
  ProbeTracker probes;
  Announcements announcements;
  std::uint32_t paths_told = 0;  // drone: serial of what the station of the session was told of its paths; 0: nothing
  unsigned role_repeats = 0;     // drone: so often a role is told again, ten times a second
  bool was_degraded = false;
  std::optional<std::uint64_t> full_round_trip;  // of the newest handshake (SessionFigures)
  SockAddr full_peer;                            // and where it was with
  struct {
    std::uint64_t key = 0, highest = 0, at = 0;
  } arrived;  // of the packets under the newest key in use
  std::uint64_t next_report_ns = 0, next_probe_ns = 0;
};

struct Link : LinkSession {
  Link(std::string name, bool drone_side, const SessionTimers& timers, std::size_t window_bits)
      : LinkSession(drone_side, timers, window_bits), id(std::move(name)) {}

  const std::string id;
  // Data thread only.
  std::shared_ptr<const Wire> wire;  // of a drone that comes by a radio; changes under mutex_
  std::uint64_t aside = 0;           // gcs: challenges under the current key, each of which went to one address alone
  Bundler bundler{0, 0};
  std::uint64_t bytes_again = 0;  // of what a radio is given twice, with IP and UDP headers: the peer counts them once
  std::uint64_t bytes_elsewhere = 0;  // sent by another path than the main one
  std::uint64_t bytes_arrived = 0;    // of all that verified, but for what came by another path
  // Of a drone with several paths: bytes by a radio that is not the main one, and how many copies come by plan.
  TokenBucket copies{600}, planned{128};
  std::unique_ptr<PacketAgain> again;  // from the first time that it is needed, like the next
  std::unique_ptr<LateGuard> late;
  bool bundling = false;         // known as one in whose bundler something may wait
  std::uint64_t granted_ns = 0;  // gcs: when, and for which address, the drone's newest return grant was made; 0: none
  ByteArray<16> granted_for{};
  // gcs: what the pending keys bring, and the highest term that the drone ever told.
  StationRole pending_role = StationRole::none;
  std::uint32_t pending_term = 0, highest_term = 0;
  std::uint64_t next_role_ns = 0;  // gcs: when another one may be said; one that came before waits
  bool role_unsaid = false;
  std::uint64_t roused_ns = 0;  // when a session that waited became the active one; its silence before says nothing
  bool moved = false;
  Fd plain;
  KernelDrops plain_kernel_drops;
  std::shared_ptr<PlainHub> hub;       // where `plain` is its, and not a UDP socket; changes under mutex_
  std::vector<std::uint64_t> ids;      // under which it is found: what refresh_lookup() has entered
  std::vector<std::uint16_t> indices;  // with compact headers
  SockAddr plain_peer, plain_local;
  // gcs: the addresses that answered in the first handshake of the pending keys, none after a rekey; where the drone of
  // the current session is, of which `peer` is the oldest; and what the book of addresses has of it.
  std::vector<SockAddr> pending_peers;
  std::optional<PathValidator> paths;
  std::vector<SockAddr> booked;
  std::uint64_t booked_revision = 0, next_paths_log_ns = 0;
  PlainLearner plain_learner;
  bool learn_plain_peer = false;
  Yield yield;
  Alarm alarm;                         // what the peer is to hear of detectors
  bool alarm_said = false;             // one that is not over
  UpkeepPace pace;                     // drone
  std::unique_ptr<Shaper> shaper;      // from the first time that shaping is on
  std::unique_ptr<RateFinder> finder;  // where the rate is to be found
  bool waited = false;                 // in the shaper, since the peer's last word for the finder
  AutopilotPace autopilot_pace;        // drone
  ParameterPace parameter_pace;        // drone, while its finder knows no rate
  std::uint8_t radio_statuses = 0;     // told to the autopilot: their number in MAVLink
  std::uint64_t last_probe_ns = 0, next_log_ns = 0, next_drops_ns = 0, next_alarm_log_ns = 0;

  // Any thread.
  LinkCounters counters;
  [[nodiscard]] LinkPicture picture() const {
    const std::lock_guard lock(mutex_);
    return picture_;
  }
  /// Its endpoints; null where the plaintext is one UDP socket.
  [[nodiscard]] std::shared_ptr<const PlainHub> endpoints() const {
    const std::lock_guard lock(mutex_);
    return hub;
  }
  /// The radio by which it comes, if there is one.
  [[nodiscard]] std::shared_ptr<const Wire> air() const {
    const std::lock_guard lock(mutex_);
    return wire;
  }
  /// Data thread: from now on it comes by this one. Returns the one before.
  std::shared_ptr<const Wire> exchange_wire(std::shared_ptr<const Wire> with) {
    const std::lock_guard lock(mutex_);
    return std::exchange(wire, std::move(with));
  }
  /// Data thread: from now on this is its plaintext. What was it before comes back, still open.
  Plaintext exchange_plain(Plaintext with);
  void publish(std::uint64_t now);  // data thread
  // Data thread.
  /// Is its session on the radio?
  [[nodiscard]] bool by_wire() const noexcept { return wire && wire->is_at(peer); }
  /// Little is said in a session that only waits.
  [[nodiscard]] bool quiet() const noexcept { return role == StationRole::standby; }
  [[nodiscard]] bool degraded(std::uint64_t now) const noexcept {
    return quiet() ? session.silence(now) >= to_ns(kStandbyLost) : session.degraded(now, roused_ns);
  }
  /// Forgets the session and all that was learnt in it: the next one is with another end.
  void forget_session() noexcept;
  /// Exchanges the sessions and what belongs to them; sockets, plaintext and counters stay.
  void swap_sessions(Link& other) noexcept;
  void note_round_trip(std::optional<std::uint64_t> full, const SockAddr& with) noexcept;
  /// What its session knows for a handshake inside it.
  [[nodiscard]] KnownLink known() const noexcept;
  /// The current session with its chain secret, for what runs inside it; none when it cannot send.
  [[nodiscard]] std::optional<RunningSession> running() const;
  /// gcs: time for another return grant (docs/protocol.md section 6).
  [[nodiscard]] bool grant_due(std::uint64_t now) const noexcept;
  /// Once a second: refreshes `local`, and says whether the peer is to have it now.
  [[nodiscard]] bool report_due(bool drone, bool silent, std::uint64_t now) noexcept;
  /// Half-way between two reports: whether to send a PROBE by itself.
  [[nodiscard]] bool probe_due(bool drone, bool silent, std::uint64_t now) const noexcept;
  /// What left, with IP and UDP headers.
  [[nodiscard]] std::uint64_t bytes_sent() const noexcept {
    return counters.enc_tx_bytes.get() + Shaper::kUdpIp * counters.enc_tx_packets.get();
  }
  /// True for the first packet under this key.
  bool note_arrival(std::uint64_t key, std::uint64_t sequence, std::size_t size, std::uint64_t now) noexcept {
    bytes_arrived += size + Shaper::kUdpIp;
    const bool first = arrived.key != key;
    if (first || sequence > arrived.highest) arrived = {key, sequence, now};
    return first;
  }
  /// A rekey has come to so many time-outs without progress. True while the data plane makes room for it.
  bool make_room(std::uint32_t timeouts, std::uint64_t now) noexcept;

 private:
  mutable std::mutex mutex_;
  LinkPicture picture_;
};

}  // namespace pqcmav
