// SPDX-License-Identifier: Apache-2.0
// Owns an engine, from its configuration to its stop, and the one thread that waits for its events. Everything else is
// asked through the engine's door.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pqc_mav_tunnel/door.hpp"
#include "pqc_mav_tunnel/engine.hpp"

namespace pqc_mav_proxy_cpp {

using Json = nlohmann::ordered_json;

/// What the engine refuses, in its sentence.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class EngineHost {
 public:
  using OnEvents = std::function<void(const std::vector<Json>& events)>;

  /// Checks the configuration and reads the keys. Throws TunnelError.
  explicit EngineHost(const pqcmav::FlatConfig& config) : engine_(pqcmav::EngineConfig::from_flat(config)) {}
  ~EngineHost() { stop(); }
  EngineHost(const EngineHost&) = delete;
  EngineHost& operator=(const EngineHost&) = delete;

  pqcmav::Engine& engine() noexcept { return engine_; }
  /// Binds the sockets. Throws TunnelError.
  void start();
  /// Calls `on_events`, from a thread of its own, with what has happened since the start and from now on.
  void listen(OnEvents on_events);
  /// Closes the sessions, wipes the keys, and hands the last events over. May be called more than once.
  void stop();
  [[nodiscard]] bool started() const noexcept { return started_; }
  /// The result of a command of docs/control-socket.md. Throws Refusal. Any thread.
  Json ask(const std::string& command, Json fields = Json::object());

 private:
  pqcmav::Engine engine_;
  pqcmav::Door door_{engine_};
  std::atomic<bool> started_ = false, stopping_ = false;
  std::jthread pump_;
};

}  // namespace pqc_mav_proxy_cpp
