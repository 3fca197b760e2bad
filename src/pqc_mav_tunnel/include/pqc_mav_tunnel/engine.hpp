// The engine: a configured end of the tunnel with its threads. Hosts (the ROS node, tunneld, tests) create one, start it, read pictures and events.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "session/link_estimator.hpp"

namespace pqcmav {

struct LinkStatus {
  std::string drone_id;
  LinkState state = LinkState::down;
  std::string suite;  // "" = no session
  std::uint8_t epoch = 0;
  std::string session_id;  // hex
  double key_age_s = 0, silence_s = 0;
  std::string peer, plain_local, plain_peer, last_error;
  bool hybrid = false, drone_signed = false;
  std::uint32_t handshakes_ok = 0, handshakes_failed = 0, rekeys_ok = 0;
  std::vector<std::string> blacklisted_suites;  // drone only
};

/// Names and values in the order of docs; so that a counter is spelled in one place.
using NamedCounters = std::vector<std::pair<std::string_view, std::uint64_t>>;

struct LinkStats {
  std::string drone_id;
  NamedCounters counters;
  double seal_ns_avg = 0, open_ns_avg = 0;
};

struct LinkQualityView {
  std::string drone_id;
  LinkReport local;
  std::optional<LinkReport> peer;
  double peer_age_s = 0;
  std::optional<double> rtt_ms, rtt_min_ms, clock_offset_ms;
};

struct RekeyOutcome {
  bool ok = false;
  std::string suite;
  std::uint8_t epoch = 0;
  double duration_ms = 0;
  std::string message;  // a sentence in either case
};

struct BlacklistedSuite {
  std::string suite, reason;
  double remaining_s;
};

struct EnginePorts {
  std::uint16_t handshake = 0, data = 0;  // handshake 0 on a drone
  std::vector<std::pair<std::string, std::uint16_t>> plain;
};

class Engine {
 public:
  /// Reads keys and checks suites; opens nothing yet. Throws TunnelError.
  explicit Engine(EngineConfig config);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Opens sockets and starts the threads. Throws TunnelError; then nothing is left open.
  void start();
  void stop();  // idempotent

  // Any thread, after start().
  [[nodiscard]] const EngineConfig& config() const noexcept;
  [[nodiscard]] EnginePorts ports() const;
  [[nodiscard]] std::vector<LinkStatus> status() const;
  [[nodiscard]] std::vector<LinkStats> stats() const;
  [[nodiscard]] NamedCounters totals() const;
  [[nodiscard]] std::vector<LinkQualityView> links() const;
  /// Suites that automatic choices should avoid now; empty on a gcs.
  [[nodiscard]] std::vector<BlacklistedSuite> blacklist() const;
  [[nodiscard]] EventQueue& events() noexcept;
  /// Asks for a rekey and waits. drone: does it; gcs: asks the drone in-band. suite "" = the same. Refusals come as ok = false with a sentence.
  RekeyOutcome request_rekey(const std::string& drone_id, const std::string& suite, const std::string& reason, std::chrono::nanoseconds timeout);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pqcmav
