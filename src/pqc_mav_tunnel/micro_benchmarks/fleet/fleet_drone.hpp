// SPDX-License-Identifier: Apache-2.0
// One drone of a laboratory fleet, as it behaves on the wire: the engine's own handshakes, session, upkeep and decisions
// (docs/protocol.md), without sockets, threads and clock. Datagrams and times in, datagrams and the next time out; so
// one process holds ten thousand of them.
//
// It knows one ground station by one path, and neither shapes nor bundles what it sends. Requests to rekey are ignored.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "control/backoff.hpp"
#include "control/client_attempt.hpp"
#include "control/handed_out.hpp"
#include "control/station_choice.hpp"
#include "handshake/ratchet.hpp"
#include "net/link.hpp"
#include "net/link_upkeep.hpp"
#include "pqc_mav_tunnel/config.hpp"

namespace pqcmav::fleet {

/// What all drones of a fleet have in common.
struct DroneRules {
  EngineConfig config;  // of any of them
  SockAddr gcs;
  Bytes gcs_public_key;              // of the suite's signature
  std::vector<const Suite*> suites;  // with that signature: each handshake draws one; empty: the configuration's
};

/// Handshakes of one kind, and why they failed.
struct Outcomes {
  std::uint64_t done = 0;
  std::map<std::string_view, std::uint64_t> failed;
};

/// What the drones of a fleet count together.
struct DroneTally {
  // Packets of sessions, and datagrams of first handshakes. What came is one of: delivered, control, drops, handshakes.
  std::uint64_t packets_sent = 0, handshake_datagrams_sent = 0, received = 0, delivered = 0, control = 0;
  // Of the gcs' packets: not come when a later one did, and those of them that came after all.
  std::uint64_t skipped = 0, late = 0;
  std::uint64_t messages_sent = 0, messages_unsent = 0, messages_received = 0;
  std::uint64_t messages_mixed_up = 0;  // answers to another drone, of those received
  Outcomes first, rekeys;
  std::array<std::uint64_t, kDropKinds> drops{};
  std::array<std::uint64_t, kHandshakeDropKinds> handshakes{};
};

struct DroneEvent {
  enum class What : std::uint8_t { connected, lost, heard, failed, rekeyed, rekey_failed };
  What what;
  std::string_view why;        // of what was lost or failed
  std::uint64_t took_ns = 0;   // the attempt
  std::uint64_t since_ns = 0;  // connected, heard: since the session before was lost, or the start
};
std::string_view to_string(DroneEvent::What what) noexcept;

/// What is around a drone. Called back while it works.
class DroneWorld {
 public:
  virtual ~DroneWorld() = default;
  virtual void send(std::size_t drone, ByteView datagram) = 0;
  virtual void happened(std::size_t drone, const DroneEvent& event, std::uint64_t now) = 0;
};

struct DroneIdentity {
  std::size_t number = 0;  // in its fleet
  std::string id;
  Psk psk;                                // that of the gcs
  std::optional<SecretBytes> own_secret;  // to sign with
};

class FleetDrone {
 public:
  /// All three outlive it. It begins to connect with the first run().
  FleetDrone(const DroneRules& rules, DroneTally& tally, DroneWorld& world, DroneIdentity who, std::uint64_t seed,
             std::uint64_t now);

  /// Opened in place.
  void on_datagram(MutableBytes datagram, const SockAddr& source, std::uint64_t now);
  /// A message of its autopilot; refused without a session.
  void say(ByteView message, std::uint64_t now);
  /// Does what is due.
  void run(std::uint64_t now);
  /// When run() is due next.
  [[nodiscard]] std::uint64_t deadline() const noexcept;
  /// Has it a session with a gcs that it hears?
  [[nodiscard]] bool connected() const noexcept { return connected_; }
  [[nodiscard]] const Session& session() const noexcept { return link_.session; }

 private:
  /// A handshake or ratchet that runs.
  struct Talk {
    Talk(InitiatorParams&& params, std::vector<SockAddr> targets, HandshakeKind what, std::uint64_t now)
        : attempt(params, std::move(targets), now),
          initiator(std::in_place_type<HandshakeInitiator>, std::move(params)),
          kind(what),
          began_ns(now) {}
    Talk(RatchetParams&& params, HandshakeKind what, std::uint64_t now)
        : initiator(std::in_place_type<RatchetInitiator>, std::move(params)), kind(what), began_ns(now) {}
    ClientAttempt attempt;
    std::variant<HandshakeInitiator, RatchetInitiator> initiator;
    HandshakeKind kind;
    std::uint64_t began_ns;
  };

  // The session.
  void on_packet(const Header& header, MutableBytes datagram, std::uint64_t now);
  void take_message(ByteView message);
  void on_control(const ControlList& controls, bool current, std::uint64_t now);
  void acknowledge(const Control& control, std::uint64_t now);
  void send_packet(ByteView packet);
  void send_control(ByteView tlvs, std::uint64_t now, bool long_form = false);
  void tick(std::uint64_t now);
  void schedule_tick(std::uint64_t now);

  // Handshakes and decisions.
  void on_handshake(ByteView datagram, const SockAddr& source, std::uint64_t now);
  [[nodiscard]] HandshakeDrop judge(ByteView datagram, const SockAddr& source, std::uint64_t now);
  void decide(std::uint64_t now);
  [[nodiscard]] bool rekey_due(std::uint64_t now) const noexcept;
  void begin_first(const StationChoice::Step& step, std::uint64_t now);
  void begin_rekey(std::uint64_t now);
  void begin(std::unique_ptr<Talk> talk, std::uint64_t now);
  void go_on(std::uint64_t now);
  void answer(ByteView message, std::uint64_t now);
  void flush(std::uint64_t now);
  void succeed(SessionKeys keys, std::uint64_t now);
  void fail(HandshakeError error, std::uint8_t reject_code, std::uint64_t now);
  void watch(std::uint64_t now);
  [[nodiscard]] const Suite* draw_suite();
  [[nodiscard]] InitiatorParams parameters(const Suite* suite) const;
  void plan_rekey(std::uint64_t wait_ns, std::uint64_t now) noexcept { next_rekey_ns_ = now + wait_ns + 1; }

  const DroneRules& rules_;
  DroneTally& tally_;
  DroneWorld& world_;
  const DroneIdentity who_;
  Link link_;
  StationChoice choice_;
  Backoff backoff_, rekey_backoff_;
  std::minstd_rand random_;
  RestartTokens tokens_;
  std::optional<ReturnTicket> ticket_;
  std::unique_ptr<Talk> talk_;
  bool connected_ = false, restarted_ = false;
  unsigned late_failures_ = 0;    // of rekeys, since two intervals passed without new keys
  const std::uint64_t phase_ns_;  // of its ticks
  std::uint64_t next_tick_ns_, lost_ns_, next_rekey_ns_ = 0;
};

}  // namespace pqcmav::fleet
