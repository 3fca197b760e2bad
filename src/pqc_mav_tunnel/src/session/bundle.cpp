// SPDX-License-Identifier: Apache-2.0
#include "session/bundle.hpp"

namespace pqcmav {
namespace {

constexpr std::uint8_t kTwoBytes = 0x80;

}  // namespace

void write_bundle_prefix(std::size_t size, std::uint8_t* out) noexcept {
  if (bundle_prefix(size) == 1)
    *out = static_cast<std::uint8_t>(size);
  else
    store_be(out, static_cast<std::uint16_t>(size | kTwoBytes << 8));
}

bool parse_bundle(MutableBytes content, BundleParts& out) noexcept {
  out.count = 0;
  std::size_t count = 0;
  if (content.empty()) return false;
  while (!content.empty()) {
    if (count == kBundleMost) return false;
    std::size_t size = content[0], prefix = 1;
    if (size >= kTwoBytes) {
      if (content.size() < 2) return false;
      size = load_be<std::uint16_t>(content.data()) & kBundleLongest;
      prefix = 2;
    }
    if (bundle_prefix(size) != prefix || content.size() - prefix < size) return false;
    out.items[count++] = content.subspan(prefix, size);
    content = content.subspan(prefix + size);
  }
  out.count = count;  // only now: a caller that ignores the result delivers nothing
  return true;
}

}  // namespace pqcmav
