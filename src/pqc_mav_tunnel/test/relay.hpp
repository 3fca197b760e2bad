// SPDX-License-Identifier: Apache-2.0
// The test as the man in the middle: a drone's datagrams go through here to the gcs, and the test decides what arrives.
#pragma once

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <random>
#include <set>

#include "engine_fixture.hpp"

namespace pqcmav::test {

class Relay {
 public:
  enum class Way { up, down };  // up: from the drone to the gcs

  explicit Relay(const EnginePorts& gcs)
      : gcs_udp_(resolve("127.0.0.1", gcs.data, false, SOCK_DGRAM)),
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

  [[nodiscard]] std::uint16_t data_port() const { return inside_.address().port(); }

  /// Which packets of sessions pass.
  void pass(bool up, bool down) {
    const std::lock_guard lock(mutex_);
    pass_[0] = up;
    pass_[1] = down;
  }
  /// Whether datagrams of first handshakes pass, either way.
  void pass_handshakes(bool yes) {
    const std::lock_guard lock(mutex_);
    pass_handshakes_ = yes;
  }
  /// Handshakes get stuck: no answer of size comes down to the drone, neither to a first one nor inside the session.
  void hold_answers(bool yes) {
    const std::lock_guard lock(mutex_);
    hold_answers_ = yes;
  }
  /// Packets of sessions are lost by chance, so many of 100.
  void lose(unsigned percent) {
    const std::lock_guard lock(mutex_);
    loss_percent_ = percent;
  }
  /// From now on everything takes 20 ms, and an attacker's copy of what goes up comes at once, from an address of his
  /// own. What the gcs sends there he passes on, data only where `data`.
  void overtake(bool data = false) {
    const std::lock_guard lock(mutex_);
    overtakes_ = true;
    passes_data_ = data;
  }
  [[nodiscard]] SockAddr overtaker() const { return overtaker_.address(); }
  /// A router that holds on to what it did before its network changed: nothing passes from and to the drone's UDP port
  /// as it is now. Another one passes.
  void shun_port() {
    const std::lock_guard lock(mutex_);
    shunned_ = drone_.port();
  }
  [[nodiscard]] std::uint16_t drone_port() {
    const std::lock_guard lock(mutex_);
    return drone_.port();
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
  /// What packets of sessions came by since record(true) or the last call, passed on or not.
  std::vector<Bytes> take(Way way) {
    const std::lock_guard lock(mutex_);
    return std::exchange(seen_[static_cast<std::size_t>(way)], {});
  }
  /// What the gcs said so far in first handshakes.
  [[nodiscard]] std::vector<Bytes> answers() {
    const std::lock_guard lock(mutex_);
    return answers_;
  }
  void send_up(ByteView packet) {
    const std::lock_guard lock(mutex_);
    outside_->send(packet, gcs_udp_);
  }
  void send_down(ByteView packet) {
    const std::lock_guard lock(mutex_);
    inside_.send(packet, drone_);
  }
  /// How many first handshakes were begun.
  [[nodiscard]] std::size_t attempts() {
    const std::lock_guard lock(mutex_);
    return attempts_.size();
  }

 private:
  void wake() {
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
  }

  void run() {
    for (;;) {
      std::shared_ptr<UdpPeer> outside;
      {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        outside = outside_;
      }
      pollfd fds[4] = {{wake_.get(), POLLIN, 0},
                       {inside_.fd(), POLLIN, 0},
                       {outside->fd(), POLLIN, 0},
                       {overtaker_.fd(), POLLIN, 0}};
      const int ready = ::poll(fds, 4, late_.empty() ? 1000 : 1);
      send_late();
      if (ready <= 0) continue;
      if (fds[0].revents != 0) {
        std::uint64_t value = 0;
        (void)!::read(wake_.get(), &value, sizeof value);
      }
      if (fds[1].revents != 0) pump(inside_, Way::up);
      if (fds[2].revents != 0) pump(*outside, Way::down);
      if (fds[3].revents != 0) pass_on();
    }
  }

  void send_late() {
    const std::lock_guard lock(mutex_);
    for (; !late_.empty() && late_.front().at <= std::chrono::steady_clock::now(); late_.pop_front())
      deliver(late_.front());
  }
  void pass_on() {
    for (const auto& packet : overtaker_.drain(64)) {
      const std::lock_guard lock(mutex_);
      // Of packets of sessions, all but control frames are somebody's data.
      const bool data = !is_handshake(packet) && (packet[0] >> 4) != 1 && (packet[0] & 0xc0) != 0xc0;
      if (!drone_.empty() && (passes_data_ || !data)) inside_.send(packet, drone_);
    }
  }

  static bool is_handshake(ByteView packet) {
    return !packet.empty() && (packet[0] == 0x33 || packet[0] == 0x43 || packet[0] == 0x53);
  }
  /// Under the lock.
  bool passes(ByteView packet, Way way) {
    if (shunned_ != 0 && drone_.port() == shunned_) return false;
    const auto type = packet.empty() ? std::uint8_t{0} : packet[0];
    const bool handshake = is_handshake(packet);
    if (type == 0x33 && packet.size() > 9) attempts_.emplace(packet.begin() + 1, packet.begin() + 9);
    // Inside a session a fragment of M2 is a control frame longer than any other.
    if (hold_answers_ && way == Way::down && (handshake || (type == 0x13 && packet.size() > 300))) return false;
    if (!handshake && random_() % 100 < loss_percent_) return false;
    return handshake ? pass_handshakes_ : pass_[static_cast<std::size_t>(way)];
  }

  void pump(UdpPeer& from, Way way) {
    for (auto& packet : from.drain(64)) {
      const std::lock_guard lock(mutex_);
      const auto index = static_cast<std::size_t>(way);
      if (way == Way::up) drone_ = from.source();
      if (recording_ && !is_handshake(packet)) seen_[index].push_back(packet);
      if (way == Way::down && is_handshake(packet)) answers_.push_back(packet);
      if (!passes(packet, way) || (way == Way::down && drone_.empty())) continue;
      if (overtakes_ && way == Way::up) overtaker_.send(packet, gcs_udp_);
      Late passing{std::chrono::steady_clock::now() + (overtakes_ ? 20ms : 0ms), way, std::move(packet)};
      if (overtakes_)
        late_.push_back(std::move(passing));
      else
        deliver(passing);
    }
  }
  struct Late {
    std::chrono::steady_clock::time_point at;
    Way way;
    Bytes packet;
  };
  void deliver(const Late& passing) {
    if (passing.way == Way::up)
      outside_->send(passing.packet, gcs_udp_);
    else
      inside_.send(passing.packet, drone_);
  }

  const SockAddr gcs_udp_;
  Fd wake_;
  UdpPeer inside_;  // the drone's side
  UdpPeer overtaker_{"127.0.0.9"};

  std::mutex mutex_;
  std::shared_ptr<UdpPeer> outside_;  // the gcs' side
  SockAddr drone_;
  bool stopping_ = false, pass_[2] = {true, true}, pass_handshakes_ = true, hold_answers_ = false, recording_ = false,
       overtakes_ = false, passes_data_ = false;
  std::deque<Late> late_;
  std::vector<Bytes> seen_[2], answers_;
  std::set<Bytes> attempts_;
  unsigned loss_percent_ = 0;
  std::uint16_t shunned_ = 0;
  std::minstd_rand random_{1};
  std::thread thread_;
};

/// A gcs and a drone with a Relay between them.
struct RelayedTunnel {
  explicit RelayedTunnel(FlatConfig gcs_more = {}, FlatConfig drone_more = {})
      : gcs_extra(std::move(gcs_more)), drone_extra(std::move(drone_more)) {
    gcs = start(gcs_config(0));
    ports = gcs->ports();
    relay = std::make_unique<Relay>(ports);
    start_drone();
  }
  [[nodiscard]] FlatConfig gcs_config(std::uint16_t data_port) const {
    auto config =
        quick(with(gcs_values(keys), {{"drone.uav1.plain_peer", ground.address().text()}, {"data_port", data_port}}));
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
  void start_gcs_again() { gcs = start(gcs_config(ports.data)); }
  void start_drone() { drone = start(with(quick(drone_values(keys, "uav1", relay->data_port())), drone_extra)); }
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
