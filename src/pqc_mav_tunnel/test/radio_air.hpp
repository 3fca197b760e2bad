// SPDX-License-Identifier: Apache-2.0
// Serial radios without their delays: pseudo terminals, and a thread that gives each what the others send. What passes
// may be changed on its way.
#pragma once

#include <poll.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "mavlink_stream.hpp"

namespace pqcmav::test {

class RadioAir {
 public:
  using Change = std::function<Bytes(std::size_t from, ByteView bytes)>;

  explicit RadioAir(const std::filesystem::path& folder, std::size_t radios = 2) {
    for (std::size_t i = 0; i < radios; ++i)
      ports_.push_back(std::make_unique<FakePort>(folder / ("radio" + std::to_string(i))));
    thread_ = std::thread([this] { carry(); });
  }
  ~RadioAir() {
    stopping_ = true;
    thread_.join();
  }
  RadioAir(const RadioAir&) = delete;
  RadioAir& operator=(const RadioAir&) = delete;

  [[nodiscard]] std::string at(std::size_t radio, const std::string& more = "") const {
    return "serial:" + ports_[radio]->path() + ":57600" + more;
  }
  /// From now on this is what the air does.
  void change(Change what) {
    const std::lock_guard lock(mutex_);
    change_ = std::move(what);
  }
  /// A stranger's bytes to one of them.
  void inject(std::size_t radio, ByteView bytes) {
    const std::lock_guard lock(mutex_);
    ports_[radio]->send(bytes);
  }
  void unplug(std::size_t radio) {
    const std::lock_guard lock(mutex_);
    ports_[radio]->unplug();
    gone_ = radio;
  }
  void plug(std::size_t radio) {
    const std::lock_guard lock(mutex_);
    ports_[radio]->plug();
    gone_ = kNone;
  }
  /// The longest that anything was in one piece, as the other end may have read it.
  [[nodiscard]] Bytes seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  void carry() {
    while (!stopping_) {
      bool any = false;
      {
        const std::lock_guard lock(mutex_);
        for (std::size_t from = 0; from < ports_.size(); ++from) {
          if (from == gone_) continue;
          const auto bytes = ports_[from]->receive(4096, std::chrono::milliseconds(0));
          if (bytes.empty()) continue;
          any = true;
          append(seen_, bytes);
          const auto passed = change_ ? change_(from, bytes) : bytes;
          for (std::size_t to = 0; to < ports_.size(); ++to)
            if (to != from && to != gone_ && !passed.empty()) ports_[to]->send(passed);
        }
      }
      if (!any) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<FakePort>> ports_;
  Change change_;
  Bytes seen_;
  std::size_t gone_ = kNone;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace pqcmav::test
