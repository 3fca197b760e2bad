// SPDX-License-Identifier: Apache-2.0
#include "engine_host.hpp"

#include <chrono>
#include <utility>

namespace pqc_mav_proxy_cpp {
namespace {

using namespace std::chrono_literals;
constexpr auto kWait = 250ms;  // the longest time that a stop waits for the pump, which every event wakes
constexpr std::size_t kBatch = 64;

}  // namespace

EngineHost::EngineHost(const pqcmav::FlatConfig& config)
    : engine_(std::make_shared<pqcmav::Engine>(pqcmav::EngineConfig::from_flat(config))) {}

EngineHost::~EngineHost() { stop(); }

void EngineHost::start() {
  engine_->start();
  started_ = true;
}

void EngineHost::listen(OnEvents on_events) {
  on_events_ = std::move(on_events);
  pump_ = std::jthread([this] {
    while (!stopping_) {
      auto events = engine_->events().wait(kWait, kBatch);
      if (!events.empty()) on_events_(*engine_, std::move(events));
    }
  });
}

void EngineHost::stop() {
  stopping_ = true;
  engine_->stop();
  if (pump_.joinable()) pump_.join();
  if (!on_events_) return;
  auto last = engine_->events().wait(0ns, pqcmav::EventQueue::kCapacity);
  if (!last.empty()) on_events_(*engine_, std::move(last));
}

}  // namespace pqc_mav_proxy_cpp
