// SPDX-License-Identifier: Apache-2.0
// The gcs' side of handshakes over the data port.
//
//   data thread: every datagram, tags and gates (a few HMACs), fragments, time-outs, installing keys: cheap work
//   workers:     key generation, signing, decapsulation; at lower priority, with large stacks
//
// Before a gate has verified nothing is kept. A responder is used by one worker at a time, or by nobody.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/handshake_attempts.hpp"
#include "control/reception.hpp"
#include "control/worker_pool.hpp"
#include "handshake/handshake.hpp"
#include "handshake/restart_key.hpp"
#include "handshake/transport.hpp"
#include "net/data_plane.hpp"
#include "net/handshake_port.hpp"
#include "pqc_mav_tunnel/events.hpp"

namespace pqcmav {

class HandshakeServer final : public HandshakePort {
 public:
  struct Host {
    std::shared_ptr<const ResponderEnv> env;
    /// Of a drone: its sessions have ids by which their packets come to its data thread.
    std::function<std::shared_ptr<const ResponderEnv>(std::size_t link)> env_of;
    std::function<std::optional<std::size_t>(std::string_view drone_id)> link_of;
    std::function<void(const std::string& drone_id, HandshakeEvent event)> finished;
    /// A handshake of this drone passed the gate (+1) or ended (-1).
    std::function<void(const std::string& drone_id, int change)> progress;
    /// Somebody who knows no PSK, or asks for another ground station.
    std::function<void(const std::string& source, const std::string& drone_id, HandshakeError error)> refused;
  };
  HandshakeServer(const AdmissionLimits& limits, std::size_t threads, RestartKey restart, Host host, DataPlane& data);
  ~HandshakeServer() override;
  /// Ends the workers. Nothing is installed afterwards.
  void stop();
  /// Data thread. So many drones are configured from now on.
  void set_drones(std::size_t count) noexcept { reception_.admission().set_drones(count); }
  [[nodiscard]] const ServerCounters& counters() const noexcept { return counters_; }

  HandshakeDrop on_datagram(ByteView datagram, const SockAddr& source, std::uint64_t now) override;
  void on_session_frame(std::size_t link, ByteView value, std::uint64_t now) override;
  void on_unknown_session(const SessionId& session, const SockAddr& source, std::uint64_t now) override;
  void on_session_ended(std::size_t link, std::uint64_t now) override;
  /// Ends whatever runs with this drone. Data thread only.
  void forget(std::size_t link, std::uint64_t now);
  void on_removed(std::size_t link, std::uint64_t now) override;
  void on_switched(std::size_t link, std::uint64_t now) override;
  void on_grant_due(std::size_t link, std::uint64_t now) override;
  void on_return(const ReturnGrant&, std::size_t) override {}  // a gcs gives, it does not take
  void on_restart_token(const RestartToken&, std::size_t) override {}
  void run(std::uint64_t now) override;
  [[nodiscard]] std::uint64_t deadline() const noexcept override { return attempts_.next_due(); }

 private:
  using Attempt = HandshakeAttempt;
  using Phase = HandshakeAttempt::Phase;

  HandshakeDrop feed(Attempt& attempt, ByteView datagram, const SockAddr& source, PathIndex path, std::uint64_t now);
  void begin(std::unique_ptr<Attempt> attempt, std::vector<FrameLimits> expecting, std::size_t answer, ByteView first,
             std::uint64_t now);
  void begin_ratchet(std::size_t link, const AttemptId& name, Attempt* replaced, ByteView first, std::uint64_t now);
  [[nodiscard]] bool admit_instead(const AttemptFacts& facts, const Attempt* replaced, std::uint64_t now);
  void note_answered(Attempt& attempt, std::uint64_t now);
  void refuse_busy(HandshakeResponder& responder, Transport& once, ByteView datagram, ByteView m1,
                   std::uint16_t retry_ms, const std::function<void(ByteView)>& send, std::uint64_t now);
  void compute(Attempt& attempt, Bytes message);
  [[nodiscard]] static Standing standing_of(const Attempt& attempt) noexcept;
  [[nodiscard]] std::optional<std::uint16_t> too_long(Standing standing) const;
  void on_step(std::uint64_t id, HandshakeStep step, std::uint64_t now);
  void complete(Attempt& attempt, HandshakeStep step, std::uint64_t now);
  void send_due(Attempt& attempt, std::uint64_t now);
  void refuse(Attempt& attempt, std::uint64_t now);
  void report(Attempt& attempt, HandshakeError error, std::uint64_t now);
  void end(Attempt& attempt, HandshakeError error, std::uint64_t now);
  template <typename Which>
  void end_of(std::size_t link, const Which& which, HandshakeError error, std::uint64_t now);
  void wake_for(Attempt& attempt);

  Host host_;
  DataPlane& data_;
  RestartKey restart_;
  RateLimiter restart_sources_, restart_all_;
  ServerCounters counters_;
  HandshakeAttempts attempts_;
  std::uint64_t next_id_ = 1;
  std::map<const SigInfo*, std::uint64_t> sign_ns_;  // what the last signature took
  Reception reception_;
  WorkerPool workers_;  // last: its jobs use everything above
};

}  // namespace pqcmav
