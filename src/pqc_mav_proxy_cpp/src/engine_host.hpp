// SPDX-License-Identifier: Apache-2.0
// Owns an engine, from its configuration to its stop, and the one thread that waits for its events.
#pragma once

#include <optional>
#include <thread>
#include <utility>

#include "host.hpp"
#include "pqc_mav_tunnel/door.hpp"
#include "pqc_mav_tunnel/engine.hpp"

namespace pqc_mav_proxy_cpp {

class EngineHost final : public Host {
 public:
  /// Checks the configuration and reads the keys. `written`: that of the engine before. Throws TunnelError.
  EngineHost(const pqcmav::FlatConfig& config, std::optional<pqcmav::Engine::Written> written)
      : engine_(pqcmav::EngineConfig::from_flat(config), std::move(written)) {}
  ~EngineHost() override { close(); }

  pqcmav::Engine& engine() noexcept { return engine_; }
  /// Binds the sockets.
  void start() override;
  void listen(OnEvents on_events) override;
  /// Closes the sessions and wipes the keys, too.
  void stop() override { close(); }

 private:
  std::string answer(const std::string& request) override { return door_.ask(request); }
  void close();

  pqcmav::Engine engine_;
  pqcmav::Door door_{engine_};
  std::atomic<bool> stopping_ = false;
  std::jthread pump_;
};

}  // namespace pqc_mav_proxy_cpp
