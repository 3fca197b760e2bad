// SPDX-License-Identifier: Apache-2.0
// The gcs' side of handshakes over TCP.
//
//   accept thread: every socket; Challenge, ClientHello and gate (one HMAC), deadlines, rate limit, sending: cheap work
//   workers:       key generation, signing, decapsulation, installing keys; at lower priority, with large stacks
//
// A connection is either with the accept thread or with one worker, never with both.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "handshake/handshake.hpp"
#include "handshake/rate_limiter.hpp"
#include "net/counters.hpp"
#include "net/net.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "thread.hpp"

namespace pqcmav {

struct ServerLimits {
  std::size_t max_handshakes;  // beyond the gate
  std::size_t threads;
  double per_drone_s;  // handshakes per second and drone
};

/// Written by the accept thread.
struct ServerCounters {
  Counter accepted, rate_limited, pregate_failed, pregate_timeout, gated, completed, failed, busy;
};

class HandshakeServer {
 public:
  /// Called in a worker when the client proved the keys; returns when they receive (then M4 goes out), or false to give
  /// up.
  using Install = std::function<bool(const std::string& drone_id, SessionKeys keys, const SessionId& prev)>;
  using Finished = std::function<void(const std::string& drone_id, HandshakeEvent event)>;
  /// A handshake of this drone passed the gate (count +1) or ended (-1).
  using Progress = std::function<void(const std::string& drone_id, int change)>;

  /// A client ended before a valid gate; `drone_id` is what it called itself, "" when it did not get that far.
  using Refused = std::function<void(const std::string& source, const std::string& drone_id, HandshakeError error)>;

  /// Listens at once (throws TunnelError); serves from start() to stop().
  HandshakeServer(const SockAddr& listen, const ServerLimits& limits, std::shared_ptr<const ResponderEnv> env,
                  Install install, Finished finished, Progress progress, Refused refused);
  ~HandshakeServer();
  HandshakeServer(const HandshakeServer&) = delete;
  HandshakeServer& operator=(const HandshakeServer&) = delete;

  void start();
  void stop();
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] const ServerCounters& counters() const noexcept { return counters_; }

 private:
  enum class Phase : std::uint8_t {
    before_gate,
    with_worker,
    waiting
  };  // with_worker: or on its way; waiting: for ClientFinish
  struct Connection {
    Connection(Fd socket, SockAddr from, std::shared_ptr<const ResponderEnv> env)
        : fd(std::move(socket)), source(from), responder(std::move(env)) {}
    Fd fd;
    SockAddr source;
    std::string source_network;  // what the limits before the gate count
    HandshakeResponder responder;
    Phase phase = Phase::before_gate;
    std::uint64_t accepted_ns = 0, deadline_ns = 0;
    bool heard = false, last_step = false, counted = false, installed = true;
    std::atomic<bool> abandoned{false};  // a newer attempt of the same drone is running
    Bytes out;
    std::size_t sent = 0;
  };
  using Id = std::uint64_t;
  struct Job {
    Id id;
    std::shared_ptr<Connection> connection;
    Bytes received;  // empty: go on after the gate
  };
  struct Result {
    Id id;
    HandshakeStep step;
  };

  void run();
  void work();
  HandshakeStep compute(Connection& c, ByteView received);
  void accept_all(std::uint64_t now);
  void admit(Fd socket, const SockAddr& source, std::uint64_t now);
  void make_room();
  void on_readable(Id id, std::uint64_t now);
  void on_gated(Id id, std::uint64_t now);
  void on_step(Id id, HandshakeStep step, std::uint64_t now);
  void enqueue(Id id, Bytes received);
  void send_pending(Id id, std::uint64_t now);
  void expire(std::uint64_t now);
  void end(Id id, HandshakeError error, std::uint64_t now);
  void watch(Id id, std::uint32_t events);
  void collect(std::uint64_t now);

  Fd listener_, epoll_, wake_;
  std::uint16_t port_;
  ServerLimits limits_;
  std::shared_ptr<const ResponderEnv> env_;
  Install install_;
  Finished finished_;
  Progress progress_;
  Refused refused_;
  ServerCounters counters_;

  // Accept thread only.
  std::map<Id, std::shared_ptr<Connection>> connections_;
  std::map<std::string, Id> by_drone_;  // beyond the gate
  RateLimiter sources_, drones_;
  Id next_id_ = 2;

  std::mutex mutex_;
  std::condition_variable work_ready_;
  std::deque<Job> jobs_;
  std::vector<Result> results_;
  bool stopping_ = false;
  std::atomic<bool> stop_accepting_{false};
  std::thread thread_;
  std::vector<BigThread> workers_;
};

}  // namespace pqcmav
