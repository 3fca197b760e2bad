// SPDX-License-Identifier: Apache-2.0
// The small numbers by which compact frames name the key they are for (docs/protocol.md section 10). The end that
// receives chooses them, so that no two of its keys share one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "clock.hpp"

namespace pqcmav {

class IndexPool;

/// Holds one number for as long as it lives. Empty by default.
class ReceiveIndex {
 public:
  ReceiveIndex() = default;
  ~ReceiveIndex() { release(); }
  ReceiveIndex(ReceiveIndex&& other) noexcept;
  ReceiveIndex& operator=(ReceiveIndex&& other) noexcept;
  ReceiveIndex(const ReceiveIndex&) = delete;
  ReceiveIndex& operator=(const ReceiveIndex&) = delete;

  [[nodiscard]] std::optional<std::uint16_t> value() const noexcept {
    return pool_ ? std::optional(value_) : std::nullopt;
  }
  /// The peer may send under it from now on: it rests before it is given out again.
  void use() noexcept { used_ = true; }
  void release() noexcept;

 private:
  friend class IndexPool;
  ReceiveIndex(std::shared_ptr<IndexPool> pool, std::uint16_t value) : pool_(std::move(pool)), value_(value) {}

  std::shared_ptr<IndexPool> pool_;
  std::uint16_t value_ = 0;
  bool used_ = false;
};

/// Any thread.
class IndexPool : public std::enable_shared_from_this<IndexPool> {
 public:
  /// Numbers below `size`, of which it gives out `first` and every `step`th after it; one that was used is given out
  /// again `rest_ns` after its release, at the earliest.
  static std::shared_ptr<IndexPool> make(std::size_t size, std::uint64_t rest_ns,
                                         std::function<std::uint64_t()> clock = now_ns, std::size_t first = 0,
                                         std::size_t step = 1);
  /// The lowest one that is free: short numbers make short headers. Empty when there is none.
  [[nodiscard]] ReceiveIndex take();

 private:
  friend class ReceiveIndex;
  IndexPool(std::size_t size, std::uint64_t rest_ns, std::function<std::uint64_t()> clock, std::size_t first,
            std::size_t step)
      : size_((size - first + step - 1) / step),
        first_(first),
        step_(step),
        rest_ns_(rest_ns),
        clock_(std::move(clock)) {}
  void give_back(std::uint16_t value, bool used) noexcept;

  static constexpr std::uint64_t kTaken = ~std::uint64_t{0};
  const std::size_t size_, first_, step_;
  const std::uint64_t rest_ns_;
  const std::function<std::uint64_t()> clock_;
  std::mutex mutex_;
  std::vector<std::uint64_t> free_from_;  // of each that was ever given out
};

}  // namespace pqcmav
