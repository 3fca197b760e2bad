// SPDX-License-Identifier: Apache-2.0
// An engine, wherever it runs: in this process (EngineHost) or in a pqcmav-tunneld (DaemonHost). All is asked through its
// door, and its events come from a thread of their own.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace pqc_mav_proxy_cpp {

using Json = nlohmann::ordered_json;

/// What the engine refuses, in its sentence; with the code `away` a daemon does not answer.
class Refusal : public std::runtime_error {
 public:
  Refusal(const std::string& sentence, std::string code) : std::runtime_error(sentence), code_(std::move(code)) {}
  [[nodiscard]] const std::string& code() const noexcept { return code_; }

 private:
  std::string code_;
};

class Host {
 public:
  using OnEvents = std::function<void(const std::vector<Json>& events)>;

  Host() = default;
  virtual ~Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  /// From now on it has a status. Throws TunnelError.
  virtual void start() { started_ = true; }
  /// Calls `on_events`, from a thread of its own, with what has happened since the start and from now on.
  virtual void listen(OnEvents on_events) = 0;
  /// Hands the last events over. May be called more than once.
  virtual void stop() = 0;
  [[nodiscard]] bool started() const noexcept { return started_; }
  /// The network namespace in which it counts, as the kernel calls it; "" = that of this process, or not known.
  [[nodiscard]] virtual std::string network() const { return ""; }

  /// The result of a command of docs/control-socket.md. Throws Refusal. Any thread.
  Json ask(const std::string& command, Json fields = Json::object());

 private:
  virtual std::string answer(const std::string& request) = 0;

  std::atomic<bool> started_ = false;
};

}  // namespace pqc_mav_proxy_cpp
