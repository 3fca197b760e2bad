// SPDX-License-Identifier: Apache-2.0
// A drone that passes on for others (docs/paths.md): a thread with a port for them, and a socket to the ground station
// for each. To the ground station it is a NAT.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "fd.hpp"
#include "net/counters.hpp"
#include "net/net.hpp"
#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "relay/relay_table.hpp"

namespace pqcmav {

/// Where this drone's own packets go now, and from where.
struct RelayWay {
  SockAddr gcs;
  std::string from;    // an address of ours; empty: the system chooses
  std::string device;  // the interface; empty: any
  friend bool operator==(const RelayWay&, const RelayWay&) = default;
};

class DroneRelay {
 public:
  using Way = std::function<std::optional<RelayWay>()>;

  /// Opens the port; throws TunnelError. `way` is asked by the thread, and says nothing while there is none.
  DroneRelay(const EngineConfig& config, EventQueue& events, Way way);
  DroneRelay(const DroneRelay&) = delete;
  DroneRelay& operator=(const DroneRelay&) = delete;
  ~DroneRelay();

  [[nodiscard]] const RelayCounters& counters() const noexcept { return counters_; }

 private:
  struct Out {
    Fd socket;
    std::uint8_t ttl = 0;
  };
  void run();
  void from_clients(std::uint64_t now);
  void from_gcs(std::size_t place, std::uint64_t now);
  void pass_up(const RelayTable::Up& up, ByteView datagram);
  void look(std::uint64_t now);
  [[nodiscard]] bool open(Out& out) const;
  void say(const std::string& text) const;

  EventQueue& events_;
  const std::string drone_;
  const std::size_t buffer_kib_;
  const Way ask_way_;
  RelayTable table_;
  RelayCounters counters_;
  std::optional<RelayWay> way_;
  std::uint64_t next_look_ = 0, next_word_ = 0;
  Fd port_, epoll_;
  std::array<Out, RelayTable::kClients> outs_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace pqcmav
