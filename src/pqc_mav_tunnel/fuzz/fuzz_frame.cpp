// SPDX-License-Identifier: Apache-2.0
// Datagrams: raw ones, and genuine ones whose content is the input, with or without a change on the way. What was
// changed must never open; what was not must.
#include "fuzz_support.hpp"
#include "session/control_frame.hpp"
#include "session/frame.hpp"

using namespace pqcmav;

namespace {

bool opens(ReceiveKey& receive, Bytes& packet) {
  const auto header = parse_header(packet);
  if (!header || header->session_id != receive.session_id() || header->epoch != receive.epoch()) return false;
  const auto opened = receive.open(*header, packet);
  ControlList list;
  if (!opened.drop && opened.type == FrameType::control) (void)parse_controls(opened.payload, list);
  return !opened.drop;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  static const std::array<const Suite*, 3> suites{&require_suite("ML-512-AG-MD-44"), &require_suite("ML-512-CP-MD-44"),
                                                  &require_suite("ML-512-AS-MD-44")};
  const auto& suite = *suites[data[0] % 3];
  const SessionId session{};
  const ByteView input(data + 4, size - 4);
  if (data[0] & 0x80) {
    // Another key than below: libFuzzer remembers the genuine packets that it saw compared.
    ReceiveKey receive(suite, session, 0, ByteArray<32>{9}, kWindowBitsMin);
    Bytes raw(input.begin(), input.end());
    require(!opens(receive, raw));
    return 0;
  }
  const ByteArray<32> key{7};
  ReceiveKey receive(suite, session, 0, key, kWindowBitsMin);
  SendKey send(suite, session, 0, key);
  Bytes packet(kOverhead + input.size());
  std::copy(input.begin(), input.end(), packet.begin() + kHeaderSize);
  send.skip_to(data[1]);
  require(send.seal(data[0] & 0x40 ? FrameType::control : FrameType::data, packet).has_value());
  auto changed = packet;
  changed[load_be<std::uint16_t>(data + 1) % changed.size()] ^= data[3];
  const bool same = changed == packet;
  require(opens(receive, changed) == same);
  require(opens(receive, packet) != same);  // the genuine one still passes, once
  return 0;
}
