// SPDX-License-Identifier: Apache-2.0
#include "line/cobs.hpp"

namespace pqcmav {
namespace {

constexpr std::uint8_t kFullRun = 0xff;  // 254 bytes, and no zero behind them

}  // namespace

std::size_t cobs_encode(ByteView in, MutableBytes out) noexcept {
  std::size_t code = 0, end = 1;  // where the open run's code belongs, and where its next byte goes
  for (const auto byte : in) {
    if (byte != 0) out[end++] = byte;
    const auto run = end - code;
    if (byte != 0 && run < kFullRun) continue;
    out[code] = static_cast<std::uint8_t>(run);
    code = end++;
  }
  out[code] = static_cast<std::uint8_t>(end - code);
  return end;
}

std::optional<std::size_t> cobs_decode(MutableBytes bytes) noexcept {
  if (bytes.empty()) return std::nullopt;
  std::size_t out = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t code = bytes[at];
    if (code == 0 || code > bytes.size() - at) return std::nullopt;
    for (std::size_t i = 1; i < code; ++i) {
      if (bytes[at + i] == 0) return std::nullopt;
      bytes[out++] = bytes[at + i];
    }
    at += code;
    if (code != kFullRun && at < bytes.size()) bytes[out++] = 0;
  }
  return out;
}

}  // namespace pqcmav
