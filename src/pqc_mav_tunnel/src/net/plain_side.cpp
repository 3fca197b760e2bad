// SPDX-License-Identifier: Apache-2.0
#include "net/plain_side.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "clock.hpp"
#include "thread.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kHubSlots = 64;
constexpr std::uint64_t kSideWake = ~std::uint64_t{0};
constexpr std::uint64_t kSideMillisecond = 1'000'000;

}  // namespace

PlainSide::PlainSide(const PlainHubOptions& options, EventQueue& events)
    : options_(options), events_(events), wake_(event_descriptor()) {
  watch_.add(wake_.get(), kSideWake);
}

PlainSide::~PlainSide() { stop(); }

std::shared_ptr<PlainHub> PlainSide::add(const std::string& link, const std::string& key,
                                         const std::vector<PlainEndpoint>& endpoints) {
  const std::lock_guard lock(hubs_mutex_);
  const auto place = std::find(hubs_.begin(), hubs_.end(), nullptr);
  const auto number = static_cast<std::uint32_t>(place - hubs_.begin());
  auto hub = std::make_shared<PlainHub>(link, key, endpoints, options_, number, watch_, events_);
  if (place == hubs_.end())
    hubs_.push_back(hub);
  else
    *place = hub;
  if (thread_.joinable()) hub->start();
  news_ = true;
  ring(wake_);
  return hub;
}

void PlainSide::close(PlainHub& hub) {
  const std::lock_guard lock(hubs_mutex_);
  hub.close();
  for (auto& each : hubs_)
    if (each.get() == &hub) each.reset();
}

void PlainSide::start() {
  if (thread_.joinable()) return;
  thread_ = std::thread([this] {
    name_this_thread("pqc-plain");
    run();
  });
}

void PlainSide::stop() {
  if (thread_.joinable()) {
    stopping_ = true;
    ring(wake_);
    thread_.join();
  }
  const std::lock_guard lock(hubs_mutex_);
  for (auto& hub : hubs_)
    if (hub) hub->close();
  hubs_.clear();
}

void PlainSide::run() {
  UdpReceiver receiver(kHubSlots, options_.max_payload, 0, 0, true);
  std::array<epoll_event, 64> ready{};
  {
    const std::lock_guard lock(hubs_mutex_);
    for (auto& hub : hubs_)
      if (hub) hub->start();
  }
  std::uint64_t due = 0;  // when something is to be done at a hub that nothing came for; perhaps earlier than that
  while (!stopping_.load(std::memory_order_relaxed)) {
    auto now = now_ns();
    if (now >= due) {
      due = PlainPort::kNever;
      const std::lock_guard lock(hubs_mutex_);
      for (auto& hub : hubs_) {
        if (!hub) continue;
        hub->on_time(now);
        due = std::min(due, hub->due());
      }
      now = now_ns();
    }
    const auto left = due > now ? (due - now + kSideMillisecond - 1) / kSideMillisecond : 0;
    const int wait = due == PlainPort::kNever ? -1 : static_cast<int>(std::min<std::uint64_t>(left, 60'000));
    const int count = ::epoll_wait(watch_.fd(), ready.data(), static_cast<int>(ready.size()), wait);
    now = now_ns();
    const std::lock_guard lock(hubs_mutex_);
    if (std::exchange(news_, false)) due = 0;
    for (int i = 0; i < count; ++i) {
      const auto tag = ready[static_cast<std::size_t>(i)].data.u64;
      if (tag == kSideWake) {
        drain(wake_);
        continue;
      }
      const auto number = static_cast<std::size_t>(tag >> 32);
      if (number >= hubs_.size() || !hubs_[number]) continue;  // closed since the wake-up began
      auto& hub = *hubs_[number];
      hub.ready(static_cast<std::uint32_t>(tag >> 16) & 0xffffu, static_cast<std::uint32_t>(tag) & 0xffffu, receiver,
                now);
      due = std::min(due, hub.due());
    }
  }
}

}  // namespace pqcmav
