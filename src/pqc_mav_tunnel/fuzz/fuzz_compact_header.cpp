// SPDX-License-Identifier: Apache-2.0
// Compact headers: what parses is written the same again, the sequence is the nearest one, and of a genuine frame
// nothing but itself opens, in either form.
#include "fuzz_support.hpp"
#include "session/compact_header.hpp"

using namespace pqcmav;

namespace {

constexpr std::uint64_t kHalf = 0x8000;

bool opens(ReceiveKey& receive, std::uint16_t index, Bytes packet) {
  if (is_compact(packet)) {
    const auto compact = parse_compact_header(packet);
    if (!compact || compact->index != index) return false;
    return !receive.open(receive.header_of(*compact), packet, compact->size()).drop;
  }
  const auto header = parse_header(packet);
  if (!header || header->session_id != receive.session_id() || header->epoch != receive.epoch()) return false;
  return !receive.open(*header, packet).drop;
}

void check_form(ByteView input) {
  const auto parsed = parse_compact_header(input);
  if (!parsed) return;
  ByteArray<kCompactHeaderMax> again{};
  write_compact_header(*parsed, MutableBytes(again).first(parsed->size()));
  require(std::equal(again.begin(), again.begin() + static_cast<std::ptrdiff_t>(parsed->size()), input.begin()));
}

void check_sequence(std::uint16_t low, std::uint64_t next) {
  const auto found = full_sequence(low, next);
  require(static_cast<std::uint16_t>(found) == low);
  require(found <= next + kHalf || found < 2 * kHalf);
  require(found + kHalf > next);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_form({data, size});
  if (size < 16) return 0;
  const auto next = load_be<std::uint64_t>(data) & (kSequenceLimit - 1);
  check_sequence(load_be<std::uint16_t>(data + 8), next);

  static const auto& suite = require_suite("ML-512-AG-MD-44");
  const auto index = load_be<std::uint16_t>(data + 10);
  const ByteView input(data + 16, size - 16);
  const ByteArray<32> key{7};
  ReceiveKey receive(suite, SessionId{}, 0, key, kWindowBitsMin, true);
  SendKey send(suite, SessionId{}, 0, key, index);
  Bytes packet(kOverhead + input.size());
  std::copy(input.begin(), input.end(), packet.begin() + kHeaderSize);
  send.skip_to(load_be<std::uint16_t>(data + 12) % kCompactLag);
  const auto sealed = send.seal(static_cast<FrameType>(data[14] % 3), packet, (data[14] & 0x80) != 0);
  require(sealed.has_value());
  const Bytes genuine(sealed->begin(), sealed->end());
  auto changed = genuine;
  changed[load_be<std::uint16_t>(data + 8) % changed.size()] ^= data[15];
  const bool same = changed == genuine;
  require(opens(receive, index, changed) == same);
  require(opens(receive, index, genuine) != same);  // the genuine one still passes, once
  return 0;
}
