// SPDX-License-Identifier: Apache-2.0
#include "net/air_side.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "clock.hpp"
#include "nanoseconds.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "thread.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kDrainNs = 200 * kMs;  // at the end: a CLOSE takes 10 ms of a slow line
constexpr std::uint64_t kDrainStepNs = 20 * kMs;
constexpr std::uint64_t kLookEveryNs = 100 * kMs;

}  // namespace

AirSide::AirSide(bool drone_end, const SockAddr& data, EventQueue& events)
    : drone_end_(drone_end), data_(data), events_(events), wake_(event_descriptor()) {}

AirSide::~AirSide() { stop(); }

std::shared_ptr<RadioPort> AirSide::find(const RadioSettings& settings) const {
  for (const auto& radio : radios_) {
    if (radio->settings().path != settings.path) continue;
    if (radio->settings().text == settings.text) return radio;
    throw TunnelError(Errc::config_invalid,
                      "The radio at " + settings.path + " is open as '" + radio->name() + "', not as '" +
                          settings.text + "'; nothing was changed. Restart this gcs, or remove its drones first.");
  }
  return nullptr;
}

void AirSide::check(const RadioSettings& settings) const {
  const std::lock_guard lock(mutex_);
  if (!find(settings)) RadioPort::check(settings);
}

AirSide::WirePtr AirSide::add(const RadioSettings& settings, const std::string& drone, const SockAddr& data) {
  const std::lock_guard lock(mutex_);
  if (stopping_) throw TunnelError(Errc::state, "The engine is shutting down; nothing was changed.");
  auto radio = find(settings);
  const bool fresh = radio == nullptr;
  if (fresh) {
    // At a start the port may come later; whoever asks now is there to hear that it is another one.
    if (running_) RadioPort::check(settings);
    radio = std::make_shared<RadioPort>(settings, drone_end_, drone_end_ ? drone : "", events_);
  }
  WirePtr wire = radio->add(settings.radio_id, data.empty() ? data_ : data);
  if (fresh) radios_.push_back(std::move(radio));
  ++revision_;
  {
    const std::lock_guard list(wires_mutex_);
    wires_.push_back(wire);
  }
  if (running_) begin();
  return wire;
}

void AirSide::remove(const WirePtr& wire) {
  if (!wire) return;
  std::unique_lock lock(mutex_);
  // What the drone was told last has a moment to leave.
  for (auto waited = kDrainNs; running_ && !stopping_ && waited != 0; waited -= kDrainStepNs) {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::nanoseconds(kDrainStepNs));
    lock.lock();
    if (std::ranges::none_of(radios_, [&](const auto& radio) { return radio->has(*wire) && !radio->idle(); })) break;
  }
  ++revision_;
  {
    const std::lock_guard list(wires_mutex_);
    std::erase(wires_, wire);
  }
  std::erase_if(radios_, [&](const auto& radio) {
    if (!radio->remove(*wire)) return false;
    radio->close();
    return true;
  });
  ring(wake_);
}

AirSide::WirePtr AirSide::at(const SockAddr& address) const {
  const std::lock_guard lock(wires_mutex_);
  const auto it = std::ranges::find_if(wires_, [&](const auto& wire) { return wire->is_at(address); });
  return it == wires_.end() ? nullptr : *it;
}

AirSide::WirePtr AirSide::first() const {
  const std::lock_guard lock(wires_mutex_);
  return wires_.empty() ? nullptr : wires_.front();
}

void AirSide::start() {
  const std::lock_guard lock(mutex_);
  running_ = true;
  if (!radios_.empty()) begin();
}

void AirSide::begin() {
  if (thread_.joinable()) return ring(wake_);
  thread_ = std::thread([this] {
    name_this_thread("pqc-air");
    run();
  });
}

void AirSide::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  if (!thread_.joinable()) return;
  ring(wake_);
  thread_.join();
  for (const auto& radio : radios_) radio->close();
}

void AirSide::run() {
  std::vector<pollfd> ready;
  std::uint64_t end = ~std::uint64_t{0};
  std::unique_lock lock(mutex_);
  for (auto now = now_ns();;) {
    if (stopping_ && end == ~std::uint64_t{0}) end = now + kDrainNs;
    if (now >= end) return;
    ready.assign(1, pollfd{wake_.get(), POLLIN, 0});
    auto due = std::min(end, now + kLookEveryNs);
    for (const auto& radio : radios_) {
      radio->watch(ready);
      due = std::min(due, radio->due(now));
    }
    const auto wait = due > now ? due - now : 0;
    const timespec timeout{static_cast<time_t>(wait / kS), static_cast<long>(wait % kS)};
    const auto seen = revision_;
    lock.unlock();
    const auto count = ::ppoll(ready.data(), ready.size(), &timeout, nullptr);
    lock.lock();
    now = now_ns();
    if (count < 0)
      for (auto& each : ready) each.revents = 0;
    if (ready[0].revents != 0) drain(wake_);
    if (revision_ != seen) continue;  // what was waited for is no longer what is there
    std::size_t at = 1;
    bool all_idle = true;
    for (const auto& radio : radios_) {
      radio->work(std::span(ready).subspan(at, radio->watched()), now);
      at += radio->watched();
      all_idle = all_idle && radio->idle();
    }
    if (stopping_ && count == 0 && all_idle) return;
  }
}

}  // namespace pqcmav
