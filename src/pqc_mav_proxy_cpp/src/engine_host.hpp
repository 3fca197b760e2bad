// SPDX-License-Identifier: Apache-2.0
// Owns an engine, from its configuration to its stop, and the one thread that waits for its events.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "pqc_mav_tunnel/engine.hpp"

namespace pqc_mav_proxy_cpp {

class EngineHost {
 public:
  using OnEvents = std::function<void(pqcmav::Engine&, std::vector<pqcmav::Event>)>;

  /// Checks the configuration and reads the keys. Throws TunnelError.
  explicit EngineHost(const pqcmav::FlatConfig& config);
  ~EngineHost();
  EngineHost(const EngineHost&) = delete;
  EngineHost& operator=(const EngineHost&) = delete;

  /// Binds the sockets. Throws TunnelError.
  void start();
  /// Calls `on_events`, from a thread of its own, with what has happened since the start and from now on.
  void listen(OnEvents on_events);
  /// Closes the sessions, wipes the keys, and hands the last events over. May be called more than once.
  void stop();

  [[nodiscard]] bool started() const noexcept { return started_; }
  /// Shared with rekeys that still wait for their end.
  [[nodiscard]] const std::shared_ptr<pqcmav::Engine>& engine() const noexcept { return engine_; }

 private:
  std::shared_ptr<pqcmav::Engine> engine_;
  std::atomic<bool> started_ = false, stopping_ = false;
  OnEvents on_events_;
  std::jthread pump_;
};

}  // namespace pqc_mav_proxy_cpp
