// SPDX-License-Identifier: Apache-2.0
// Several data threads (docs/architecture.md): who has which link, and how the first one reaches another's.
#include "net/data_plane.hpp"
#include "net/data_plane_hold.hpp"
#include "net/handshake_relay.hpp"

namespace pqcmav {

DataPlane::Hold DataPlane::hold(std::size_t link) const {
  auto& plane = owner(link);
  return plane.first_ == nullptr ? Hold() : Hold(plane);
}

void DataPlane::set_handshakes(HandshakePort* port) {
  handshakes_ = port;
  if (port == nullptr) return;
  for (auto& other : others_) {
    other->relay_ = std::make_unique<HandshakeRelay>(*other, *this, *port);
    other->handshakes_ = other->relay_.get();
  }
}

/// Whose it is has its turn, or no thread yet.
void DataPlane::put_link(std::size_t link, std::shared_ptr<Link> what) {
  for (auto* plane : {this, &owner(link)}) {
    if (link >= plane->links_.size()) plane->links_.resize(link + 1);
    plane->links_[link] = what;
    plane->bundling_.reserve(plane->links_.size());
  }
}

ProcessCounters DataPlane::totals() const noexcept {
  auto out = totals_;
  for (const auto& other : others_) out.add(other->totals_);
  return out;
}

std::optional<RefusedShare> DataPlane::refused_from() const {
  std::vector<RefusedSources::Summary> all = {refused_.shown()};
  for (const auto& other : others_) all.push_back(other->refused_.shown());
  return RefusedSources::largest(all);
}

std::uint64_t DataPlane::handover_full() const noexcept {
  std::uint64_t out = 0;
  for (const auto& other : others_)
    if (other->relay_) out += other->relay_->full();
  return out;
}

}  // namespace pqcmav
