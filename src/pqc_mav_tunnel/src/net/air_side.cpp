// SPDX-License-Identifier: Apache-2.0
#include "net/air_side.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "clock.hpp"
#include "nanoseconds.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"
#include "thread.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kDrainNs = 200 * kMs;  // at the end: a CLOSE takes 10 ms of a slow line
constexpr std::uint64_t kLookEveryNs = 100 * kMs;

}  // namespace

AirSide::AirSide(bool drone_end, const SockAddr& data, EventQueue& events)
    : drone_end_(drone_end), data_(data), events_(events), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!wake_) throw TunnelError(Errc::io, "Cannot create an event descriptor: " + system_reason(errno) + ".");
}

AirSide::~AirSide() { stop(); }

std::shared_ptr<const Wire> AirSide::add(const RadioSettings& settings, const std::string& drone) {
  for (const auto& radio : radios_)
    if (radio->settings().path == settings.path) return radio->add(settings.radio_id, data_);
  radios_.push_back(std::make_shared<RadioPort>(settings, drone_end_, drone_end_ ? drone : "", events_));
  return radios_.back()->add(settings.radio_id, data_);
}

void AirSide::start() {
  thread_ = std::thread([this] {
    name_this_thread("pqc-air");
    run();
  });
}

void AirSide::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  ring(wake_);
  thread_.join();
  for (const auto& radio : radios_) radio->close();
}

void AirSide::run() {
  std::vector<pollfd> ready;
  std::uint64_t end = ~std::uint64_t{0};
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
    const auto count = ::ppoll(ready.data(), ready.size(), &timeout, nullptr);
    now = now_ns();
    if (count < 0)
      for (auto& each : ready) each.revents = 0;
    if (ready[0].revents != 0) drain(wake_);
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
