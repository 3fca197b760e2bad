// SPDX-License-Identifier: Apache-2.0
// Memory for secrets: wiped when it dies, never copied by accident, never printed.
#pragma once

#include <openssl/crypto.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bytes.hpp"

namespace pqcmav {

inline void wipe(MutableBytes bytes) noexcept { OPENSSL_cleanse(bytes.data(), bytes.size()); }

/// A secret of fixed size, zero at birth. Moving wipes the source; copying is explicit (clone).
template <std::size_t N>
class Secret {
 public:
  Secret() noexcept = default;
  explicit Secret(std::span<const std::uint8_t, N> bytes) noexcept { std::memcpy(data_.data(), bytes.data(), N); }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  Secret(Secret&& other) noexcept : data_(other.data_) { wipe(other.data_); }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      data_ = other.data_;
      wipe(other.data_);
    }
    return *this;
  }
  ~Secret() { wipe(data_); }

  [[nodiscard]] Secret clone() const noexcept { return Secret(std::span<const std::uint8_t, N>(data_)); }
  [[nodiscard]] std::span<const std::uint8_t, N> view() const noexcept { return data_; }
  [[nodiscard]] std::span<std::uint8_t, N> mut() noexcept { return data_; }

 private:
  ByteArray<N> data_{};
};

/// A secret whose size is known at run time (KEM and signature secret keys, shared secrets). Never grows.
class SecretBytes {
 public:
  SecretBytes() noexcept = default;
  explicit SecretBytes(std::size_t size) : data_(size) {}
  explicit SecretBytes(ByteView bytes) : data_(bytes.begin(), bytes.end()) {}
  SecretBytes(const SecretBytes&) = delete;
  SecretBytes& operator=(const SecretBytes&) = delete;
  SecretBytes(SecretBytes&& other) noexcept : data_(std::move(other.data_)) { other.data_.clear(); }
  SecretBytes& operator=(SecretBytes&& other) noexcept {
    if (this != &other) {
      wipe(data_);
      data_ = std::move(other.data_);
      other.data_.clear();
    }
    return *this;
  }
  ~SecretBytes() { wipe(data_); }

  [[nodiscard]] SecretBytes clone() const { return SecretBytes(view()); }
  [[nodiscard]] ByteView view() const noexcept { return data_; }
  [[nodiscard]] MutableBytes mut() noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return data_.size(); }
  [[nodiscard]] bool empty() const noexcept { return data_.empty(); }

 private:
  std::vector<std::uint8_t> data_;
};

using Psk = Secret<32>;

}  // namespace pqcmav
