// SPDX-License-Identifier: Apache-2.0
#include "net/announcements.hpp"

#include <algorithm>

#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {

Announcements::Value Announcements::of(const Control& control) {
  Value out;
  const auto answer = got_for(control);
  out.tlv.resize(kControlFrameMax);
  const auto used = append_control(out.tlv, 0, control);
  if (!answer || !used) throw TunnelError(Errc::state, "This control message cannot be announced.");
  out.tlv.resize(*used);
  out.answer = *answer;
  return out;
}

std::size_t Announcements::append_to(MutableBytes out, std::size_t used) const noexcept {
  for (const auto& each : open_) {
    if (each.tlv.size() > out.size() - used) continue;
    std::copy(each.tlv.begin(), each.tlv.end(), out.begin() + static_cast<std::ptrdiff_t>(used));
    used += each.tlv.size();
  }
  return used;
}

}  // namespace pqcmav
