// SPDX-License-Identifier: Apache-2.0
// Two that leak, which every run has to find: otherwise it would not find others either.
#include <cstring>
#include <memory>

#include "constant_time/subject.hpp"

namespace pqcmav::constant_time {
namespace {

constexpr std::size_t kCompared = 4096;
constexpr std::size_t kTable = std::size_t{1} << 24;  // more than the caches near the processor hold

// By a pointer that may change: the compiler must not know what it calls.
int (*volatile compare)(const void*, const void*, std::size_t) = std::memcmp;

}  // namespace

std::vector<Subject> leaks() {
  auto secret = std::make_shared<Bytes>(kCompared, 0x5a), other = std::make_shared<Bytes>();
  auto table = std::make_shared<Bytes>(kTable, 0x5a);
  auto index = std::make_shared<ByteArray<4>>();
  return {{"leak", "comparison by memcmp",
           [=](Class which) {
             *other = Bytes(kCompared, 0x5a);
             other->back() ^= mask_if(which, Class::fixed) & 0x80;
             other->front() ^= mask_if(which, Class::varied) & 0x80;
           },
           [=] { keep(compare(secret->data(), other->data(), kCompared)); },
           [=] { return std::vector<MutableBytes>{*secret}; }},
          {"leak", "table at a secret index", [=](Class which) { draw_bytes(*index, which); },
           [=] {
             const auto* const at = table->data();
             const auto found = at[load_be<std::uint32_t>(index->data()) % kTable];
             keep(found);
           },
           [=] { return std::vector<MutableBytes>{*index}; }}};
}

}  // namespace pqcmav::constant_time
