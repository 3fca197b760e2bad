// SPDX-License-Identifier: Apache-2.0
#include "engine_host.hpp"

#include <chrono>
#include <utility>

namespace pqc_mav_proxy_cpp {
namespace {

using namespace std::chrono_literals;
constexpr auto kWait = 250ms;  // the longest time that a stop waits for the pump, which every event wakes

}  // namespace

Json Host::ask(const std::string& command, Json fields) {
  fields["v"] = 1;
  fields["command"] = command;
  // What is no UTF-8 the engine is to see as such, and not this.
  auto answered = Json::parse(answer(fields.dump(-1, ' ', false, Json::error_handler_t::replace)));
  if (!answered["ok"].get<bool>())
    throw Refusal(answered["error"]["text"].get<std::string>(), answered["error"]["code"].get<std::string>());
  return std::move(answered["result"]);
}

void EngineHost::start() {
  engine_.start();
  Host::start();
}

void EngineHost::listen(OnEvents on_events) {
  pump_ = std::jthread([this, on_events = std::move(on_events)] {
    for (bool stopped = false; !stopped;) {
      stopped = stopping_;
      for (auto lines = door_.events(stopped ? 0ms : kWait); !lines.empty(); lines = door_.events(0ms)) {
        std::vector<Json> events;
        for (const auto& line : lines) events.push_back(Json::parse(line));
        on_events(events);
      }
    }
  });
}

void EngineHost::close() {
  stopping_ = true;
  engine_.stop();
  if (pump_.joinable()) pump_.join();
}

}  // namespace pqc_mav_proxy_cpp
