// SPDX-License-Identifier: Apache-2.0
// Control content: whatever parses must come back the same when it is written again.
#include <cstdlib>

#include "session/control_frame.hpp"

using namespace pqcmav;

namespace {

Bytes encode(const ControlList& list, std::size_t room) {
  Bytes out(room);
  std::size_t used = 0;
  for (std::size_t i = 0; i < list.count; ++i) {
    const auto next = append_control(out, used, list.items[i]);
    if (!next) std::abort();
    used = *next;
  }
  out.resize(used);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  ControlList list;
  if (!parse_controls(input, list)) {
    if (list.count != 0) std::abort();
    return 0;
  }
  const auto written = encode(list, size);  // unknown types are left out, nothing is added
  ControlList again;
  for (std::size_t i = 0; i < list.count; ++i) (void)got_for(list.items[i]);
  if (list.count > 0 && (!parse_controls(written, again) || encode(again, size) != written)) std::abort();
  return 0;
}
