// SPDX-License-Identifier: Apache-2.0
// N drones in one thread: a socket for each, one epoll, two timers for each. Every drone has an address of its own below
// 127.0.0.0/8, for a gcs counts strangers by address.
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet_drone.hpp"
#include "ground_sink.hpp"
#include "net/udp_batch.hpp"
#include "timer_heap.hpp"

namespace pqcmav::fleet {

struct FleetOptions {
  std::string keys;  // the root of all keys, with a folder for each drone in drones/
  std::string gcs;   // host:port
  std::size_t drones = 0;
  double rate = 1.0;       // messages/s of each drone
  std::size_t size = 61;   // bytes of a message, at most
  double rekey_s = 600.0;  // 0: none
  double spread_s = 0.0;   // over which the drones begin
  double seconds = 0.0;    // 0: until told to stop
  std::string suites;      // of one signature, with commas between: each handshake draws one; "": the default one
  std::string events;      // a file for an event a line; "": none
  std::string ground;      // host:port to which the gcs delivers; "": elsewhere
};

class Fleet final : private DroneWorld {
 public:
  /// Reads the keys and opens the sockets. Throws TunnelError.
  explicit Fleet(const FleetOptions& options);
  /// Until the time is up or stdin or a signal says so. `report` is called once a second, and at the end, with a line of
  /// JSON.
  void run(const std::function<void(const std::string&)>& report);

 private:
  struct Member {
    std::unique_ptr<FleetDrone> drone;
    Fd socket;
    KernelDrops drops;
    std::uint32_t messages = 0;  // said, with a session and without
  };
  void open_sockets(std::size_t count);
  void make_drones(std::uint64_t now);
  void read_socket(std::size_t number, std::uint64_t now);
  void read_commands();
  void do_due(std::uint64_t now);
  void say_message(std::size_t number, std::uint64_t now);
  void schedule(std::size_t number) { timers_.set(number, members_[number].drone->deadline()); }
  [[nodiscard]] int wait_ms(std::uint64_t now, std::uint64_t most_ns);
  [[nodiscard]] std::string line(std::uint64_t now);
  void send(std::size_t drone, ByteView datagram) override;
  void happened(std::size_t drone, const DroneEvent& event, std::uint64_t now) override;

  FleetOptions options_;
  DroneRules rules_;
  DroneTally tally_;
  std::vector<DroneIdentity> identities_;  // until the drones are made
  std::vector<Member> members_;
  std::optional<GroundSink> ground_;
  TimerHeap timers_, messages_;
  UdpReceiver in_;
  Fd epoll_, signals_;
  std::ofstream events_;
  bool cut_off_ = false, hushed_ = false, stopping_ = false;
  std::uint64_t began_ns_ = 0, message_ns_ = 0, latest_ns_ = 0;
  std::uint64_t send_errors_ = 0, cut_ = 0, kernel_dropped_ = 0;  // datagrams
};

}  // namespace pqcmav::fleet
