// SPDX-License-Identifier: Apache-2.0
// Steady traffic through a tunnel while something happens to it.
#pragma once

#include <atomic>
#include <thread>

#include "engine_fixture.hpp"

namespace pqcmav::test {

/// Numbered packets both ways at about the rate of a telemetry link, and which of them arrived.
class Traffic {
 public:
  explicit Traffic(Tunnel& tunnel) : tunnel_(tunnel) {
    expect_round_trip(tunnel, "start");  // the drone learns where the autopilot is
    thread_ = std::thread([this] { run(); });
  }
  ~Traffic() { stop(); }
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;
  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }
  /// After stop(): everything arrived once and in order.
  void expect_lossless() {
    ASSERT_GT(sent_, 0u);
    for (auto* app : {&tunnel_.ground, &tunnel_.autopilot}) {
      for (std::uint64_t i = 0; i < sent_; ++i) ASSERT_EQ(app->receive_text(), std::to_string(i));
      EXPECT_TRUE(app->drain().empty());
    }
  }

 private:
  void run() {
    while (!stopping_) {
      const auto text = std::to_string(sent_);
      tunnel_.send_up(text);
      tunnel_.send_down(text);
      ++sent_;
      std::this_thread::sleep_for(2ms);
    }
  }
  Tunnel& tunnel_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> sent_{0};
  std::thread thread_;
};

}  // namespace pqcmav::test
