// SPDX-License-Identifier: Apache-2.0
// Byte views, big-endian access and a bounds-checked reader: all parsing goes through here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace pqcmav {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;
using MutableBytes = std::span<std::uint8_t>;
template <std::size_t N>
using ByteArray = std::array<std::uint8_t, N>;
using SessionId = ByteArray<8>;

inline ByteView as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename T>
inline void store_be(std::uint8_t* out, T value) noexcept {
  for (std::size_t i = sizeof(T); i-- > 0;) {
    out[i] = static_cast<std::uint8_t>(value);
    if constexpr (sizeof(T) > 1) value = static_cast<T>(value >> 8);
  }
}

template <typename T>
inline T load_be(const std::uint8_t* in) noexcept {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    if constexpr (sizeof(T) > 1) value = static_cast<T>(value << 8);
    value = static_cast<T>(value | in[i]);
  }
  return value;
}

/// For tables by eight random bytes.
inline std::uint64_t key_of(const ByteArray<8>& id) noexcept { return load_be<std::uint64_t>(id.data()); }

template <typename T>
inline void append_be(Bytes& out, T value) {
  const auto at = out.size();
  out.resize(at + sizeof(T));
  store_be(out.data() + at, value);
}
inline void append(Bytes& out, ByteView bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }
/// Appends lp(x): u32 length, then x.
inline void append_lp(Bytes& out, ByteView bytes) {
  append_be(out, static_cast<std::uint32_t>(bytes.size()));
  append(out, bytes);
}

/// Reads from a view without ever going past its end. Each call returns nullopt when too little is left.
class ByteReader {
 public:
  explicit ByteReader(ByteView bytes) noexcept : left_(bytes) {}

  [[nodiscard]] std::size_t left() const noexcept { return left_.size(); }
  [[nodiscard]] bool empty() const noexcept { return left_.empty(); }

  std::optional<ByteView> take(std::size_t count) noexcept {
    if (count > left_.size()) return std::nullopt;
    const auto out = left_.first(count);
    left_ = left_.subspan(count);
    return out;
  }
  template <typename T>
  std::optional<T> be() noexcept {
    const auto raw = take(sizeof(T));
    if (!raw) return std::nullopt;
    return load_be<T>(raw->data());
  }
  template <std::size_t N>
  bool into(ByteArray<N>& out) noexcept {
    const auto raw = take(N);
    if (!raw) return false;
    std::memcpy(out.data(), raw->data(), N);
    return true;
  }
  /// One lp field of at most `limit` bytes.
  std::optional<ByteView> lp(std::size_t limit) noexcept {
    const auto size = be<std::uint32_t>();
    if (!size || *size > limit) return std::nullopt;
    return take(*size);
  }

 private:
  ByteView left_;
};

}  // namespace pqcmav
