// SPDX-License-Identifier: Apache-2.0
// Hex for test vectors.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "bytes.hpp"

namespace pqcmav::test {

inline Bytes unhex(std::string_view text) {
  const auto digit = [](char c) -> std::uint8_t {
    if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
    throw std::invalid_argument("not a hex digit");
  };
  if (text.size() % 2 != 0) throw std::invalid_argument("odd number of hex digits");
  Bytes out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2)
    out.push_back(static_cast<std::uint8_t>(digit(text[i]) << 4 | digit(text[i + 1])));
  return out;
}

inline std::string hex(ByteView bytes, bool upper = false) {
  const char* digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const auto byte : bytes) {
    out.push_back(digits[byte >> 4]);
    out.push_back(digits[byte & 15]);
  }
  return out;
}

template <std::size_t N>
ByteArray<N> unhex_array(std::string_view text) {
  const auto bytes = unhex(text);
  if (bytes.size() != N) throw std::invalid_argument("wrong number of bytes");
  ByteArray<N> out;
  std::memcpy(out.data(), bytes.data(), N);
  return out;
}

}  // namespace pqcmav::test
