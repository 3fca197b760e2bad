// SPDX-License-Identifier: Apache-2.0
// A link between a drone and its gcs that carries so much up and no more, with a queue before it. Down it is wide.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include "engine_fixture.hpp"

namespace pqcmav::test {

class ThinRelay {
 public:
  ThinRelay(std::uint16_t gcs_port, double kbit, std::size_t queue_bytes)
      : gcs_(resolve("127.0.0.1", gcs_port, false, SOCK_DGRAM)),
        bytes_per_s_(kbit * 1000 / 8),
        room_(queue_bytes),
        thread_([this] { run(); }) {}
  ~ThinRelay() {
    stopping_ = true;
    thread_.join();
  }
  ThinRelay(const ThinRelay&) = delete;
  ThinRelay& operator=(const ThinRelay&) = delete;

  [[nodiscard]] std::uint16_t port() const { return inside_.address().port(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    Bytes packet;
    Clock::time_point leaves;
  };

  void run() {
    while (!stopping_) {
      pollfd fds[2] = {{inside_.fd(), POLLIN, 0}, {outside_.fd(), POLLIN, 0}};
      (void)::poll(fds, 2, 2);
      while (auto up = inside_.receive(std::chrono::milliseconds(0))) take(std::move(*up));
      while (auto down = outside_.receive(std::chrono::milliseconds(0)))
        if (known_) inside_.send(*down, drone_);
      for (; !queue_.empty() && queue_.front().leaves <= Clock::now(); queue_.pop_front()) {
        queued_ -= queue_.front().packet.size() + 28;
        outside_.send(queue_.front().packet, gcs_);
      }
    }
  }
  void take(Bytes packet) {
    drone_ = inside_.source();
    known_ = true;
    const auto size = packet.size() + 28;
    if (queued_ + size > room_) return;
    queued_ += size;
    const auto takes = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(static_cast<double>(size) / bytes_per_s_));
    free_ = std::max(free_, Clock::now()) + takes;
    queue_.push_back({std::move(packet), free_});
  }

  UdpPeer inside_, outside_;
  SockAddr gcs_, drone_;
  double bytes_per_s_;
  std::size_t room_, queued_ = 0;
  std::deque<Waiting> queue_;
  Clock::time_point free_{};
  bool known_ = false;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace pqcmav::test
