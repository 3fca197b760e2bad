// SPDX-License-Identifier: Apache-2.0
// The test as the man in the middle: a drone's TCP and UDP go through here to the gcs, and the test decides what
// arrives.
#pragma once

#include <sys/eventfd.h>
#include <algorithm>

#include <list>
#include <mutex>

#include "engine_fixture.hpp"

namespace pqcmav::test {

class Relay {
 public:
  enum class Way { up, down };  // up: from the drone to the gcs

  explicit Relay(const EnginePorts& gcs)
      : gcs_tcp_(resolve("127.0.0.1", gcs.handshake, false, SOCK_STREAM)),
        gcs_udp_(resolve("127.0.0.1", gcs.data, false, SOCK_DGRAM)),
        listener_(open_tcp_listener(resolve("127.0.0.1", 0, true, SOCK_STREAM), "a test")),
        wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
        outside_(std::make_shared<UdpPeer>()),
        thread_([this] { run(); }) {}
  ~Relay() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake();
    thread_.join();
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  [[nodiscard]] std::uint16_t handshake_port() const { return local_address(listener_).port(); }
  [[nodiscard]] std::uint16_t data_port() const { return inside_.address().port(); }

  /// Which datagrams pass.
  void pass(bool up, bool down) {
    const std::lock_guard lock(mutex_);
    pass_[0] = up;
    pass_[1] = down;
  }
  /// Whether connections are taken; those that run are cut when not.
  void pass_connections(bool yes) {
    {
      const std::lock_guard lock(mutex_);
      pass_tcp_ = yes;
    }
    wake();
  }
  /// Handshakes get stuck beyond the gate: connections stay open, but after the challenge nothing comes down to the
  /// drone.
  void hold_answers(bool yes) {
    {
      const std::lock_guard lock(mutex_);
      hold_tcp_ = yes;
    }
    wake();
  }
  /// From now on the gcs sees another source address.
  void move(const std::string& host = "127.0.0.1") {
    {
      const std::lock_guard lock(mutex_);
      outside_ = std::make_shared<UdpPeer>(host);
    }
    wake();
  }
  [[nodiscard]] SockAddr outside() {
    const std::lock_guard lock(mutex_);
    return outside_->address();
  }
  void record(bool yes) {
    const std::lock_guard lock(mutex_);
    recording_ = yes;
    for (auto& each : seen_) each.clear();
  }
  /// What came by since record(true) or the last call, passed on or not.
  std::vector<Bytes> take(Way way) {
    const std::lock_guard lock(mutex_);
    return std::exchange(seen_[static_cast<std::size_t>(way)], {});
  }
  void send_up(ByteView packet) {
    const std::lock_guard lock(mutex_);
    outside_->send(packet, gcs_udp_);
  }
  void send_down(ByteView packet) {
    const std::lock_guard lock(mutex_);
    inside_.send(packet, drone_);
  }
  [[nodiscard]] std::size_t connections() {
    const std::lock_guard lock(mutex_);
    return connections_;
  }

 private:
  struct Pipe {
    Fd drone, gcs;
    bool open = true, challenged = false;
  };

  void wake() {
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
  }

  void run() {
    for (;;) {
      std::shared_ptr<UdpPeer> outside;
      std::vector<pollfd> fds;
      bool hold = false;
      {
        const std::lock_guard lock(mutex_);
        hold = hold_tcp_;
        if (stopping_) return;
        if (!pass_tcp_) pipes_.clear();
        outside = outside_;
      }
      for (const int fd : {wake_.get(), inside_.fd(), outside->fd(), listener_.get()}) fds.push_back({fd, POLLIN, 0});
      for (const auto& pipe : pipes_) {
        fds.push_back({pipe.drone.get(), POLLIN, 0});
        fds.push_back({hold && pipe.challenged ? -1 : pipe.gcs.get(), POLLIN, 0});
      }
      if (::poll(fds.data(), fds.size(), 1000) <= 0) continue;
      if (fds[0].revents != 0) {
        std::uint64_t value = 0;
        (void)!::read(wake_.get(), &value, sizeof value);
      }
      if (fds[1].revents != 0) pump(inside_, Way::up);
      if (fds[2].revents != 0) pump(*outside, Way::down);
      std::size_t i = 4;
      for (auto& pipe : pipes_) {
        if (fds[i++].revents != 0) pipe.open = pipe.open && forward(pipe.drone, pipe.gcs);
        if (fds[i++].revents != 0) {
          pipe.open = pipe.open && forward(pipe.gcs, pipe.drone);
          pipe.challenged = true;
        }
      }
      std::erase_if(pipes_, [](const auto& pipe) { return !pipe.open; });
      if (fds[3].revents != 0) accept_one();
    }
  }

  void pump(UdpPeer& from, Way way) {
    for (auto& packet : from.drain(64)) {
      const std::lock_guard lock(mutex_);
      const auto index = static_cast<std::size_t>(way);
      if (way == Way::up) drone_ = from.source();
      if (recording_) seen_[index].push_back(packet);
      if (!pass_[index] || (way == Way::down && drone_.empty())) continue;
      if (way == Way::up)
        outside_->send(packet, gcs_udp_);
      else
        inside_.send(packet, drone_);
    }
  }

  void accept_one() {
    Fd drone(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::lock_guard lock(mutex_);
    if (!drone || !pass_tcp_) return;
    ++connections_;
    Fd gcs(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(gcs.get(), gcs_tcp_.get(), gcs_tcp_.size) == 0) pipes_.push_back({std::move(drone), std::move(gcs)});
  }

  static bool forward(const Fd& from, const Fd& to) {
    std::array<std::uint8_t, 65536> buffer;
    const auto got = ::recv(from.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) return false;
    for (ssize_t done = 0; done < got;) {
      const auto sent = ::send(to.get(), buffer.data() + done, static_cast<std::size_t>(got - done), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      done += sent;
    }
    return true;
  }

  const SockAddr gcs_tcp_, gcs_udp_;
  Fd listener_, wake_;
  UdpPeer inside_;  // the drone's side

  std::mutex mutex_;
  std::shared_ptr<UdpPeer> outside_;  // the gcs' side
  SockAddr drone_;
  bool stopping_ = false, pass_[2] = {true, true}, pass_tcp_ = true, hold_tcp_ = false, recording_ = false;
  std::vector<Bytes> seen_[2];
  std::size_t connections_ = 0;

  std::list<Pipe> pipes_;  // the thread's own
  std::thread thread_;
};

/// A gcs and a drone with a Relay between them.
struct RelayedTunnel {
  explicit RelayedTunnel(FlatConfig gcs_more = {}, FlatConfig drone_more = {})
      : gcs_extra(std::move(gcs_more)), drone_extra(std::move(drone_more)) {
    gcs = start(gcs_config(0, 0));
    ports = gcs->ports();
    relay = std::make_unique<Relay>(ports);
    start_drone();
  }
  [[nodiscard]] FlatConfig gcs_config(std::uint16_t handshake_port, std::uint16_t data_port) const {
    auto config = quick(with(gcs_values(keys), {{"drone.uav1.plain_peer", ground.address().text()},
                                                {"handshake_port", handshake_port},
                                                {"data_port", data_port}}));
    return with(std::move(config), gcs_extra);
  }
  /// The gcs ends and its goodbye does not arrive: a mark sent after it tells when the relay has thrown both away.
  void lose_gcs() {
    relay->pass(true, false);
    gcs.reset();
    relay->record(true);
    const UdpPeer mark;
    mark.send("mark", relay->outside());
    EXPECT_TRUE(eventually([&] {
      const auto seen = relay->take(Relay::Way::down);
      return std::any_of(seen.begin(), seen.end(), [](const auto& each) { return as_text(each) == "mark"; });
    }));
    relay->record(false);
  }
  void start_gcs_again() { gcs = start(gcs_config(ports.handshake, ports.data)); }
  void start_drone() {
    drone = start(with(quick(drone_values(keys, "uav1", relay->handshake_port(), relay->data_port())), drone_extra));
  }
  [[nodiscard]] bool both_up() const {
    return up(*gcs) && up(*drone) && status(*gcs).session_id == status(*drone).session_id;
  }
  void send_up(std::string_view text) { autopilot.send(text, plain_port(*drone, "uav1")); }
  void send_down(std::string_view text) { ground.send(text, plain_port(*gcs, "uav1")); }
  void expect_round_trip(const std::string& text) {
    send_up(text);
    ASSERT_EQ(ground.receive_text(), text);
    send_down("re " + text);
    ASSERT_EQ(autopilot.receive_text(), "re " + text);
  }

  FlatConfig gcs_extra, drone_extra;
  KeyFolders keys;
  UdpPeer autopilot, ground;
  EnginePorts ports;
  std::unique_ptr<Engine> gcs, drone;
  std::unique_ptr<Relay> relay;
};

}  // namespace pqcmav::test
