// SPDX-License-Identifier: Apache-2.0
// Several ground stations (docs/protocol.md section 14): what a session is for, and its little traffic while it waits.
// At a drone link 0 is the active session, link 1 the standby: they change places, and all else stays as it is.
#include <algorithm>
#include <array>
#include <future>
#include <memory>

#include "net/data_plane.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kAskAgainNs = 1'000'000'000;  // gcs: what the drone has not yet acknowledged

}  // namespace

/// Before keys of a handshake are put in place: a session with another station ends now, and with it its keys, so that
/// nothing of it is delivered any more.
void DataPlane::make_way(std::size_t index, const StationPart& part, std::uint64_t now) {
  auto& link = *links_[index];
  if (link.station != part.station) part_from(link, now);
  // The same station as the one that waited: it has dropped that session itself.
  if (index == 0 && has_standby_link() && links_[1]->station == part.station) {
    links_[1]->forget_session();
    links_[1]->station = kNoStation;
    refresh_lookup(1);
    links_[1]->publish(now);
  }
  link.station = part.station;
  link.role = part.role;
  link.term = part.term;
  link.role_repeats = 0;
  link.announcements = {};
}

/// "Moved": advice, so that its operator does not wait for this drone.
void DataPlane::part_from(Link& link, std::uint64_t now) {
  send_control_now(link, OneControl(Close{kCloseMoved}), now);
  link.forget_session();
}

void DataPlane::tell_role(Link& link, StationRole role, std::uint32_t term, std::uint64_t now) {
  link.role = role;
  link.term = term;
  if (!link.session.can_send()) return;
  link.role_repeats = kRoleRepeats;
  link.announcements.put(Announcements::of(RoleTold{role, term}));
  std::array<std::uint8_t, 64> tlvs{};
  send_control_now(link, ByteView(tlvs).first(link.announcements.append_to(tlvs, 0)), now);
}

bool DataPlane::take_over(std::uint32_t term, std::optional<std::uint64_t> unless_heard_after) {
  return ask([this, term, unless_heard_after] {
    const auto now = now_ns();
    auto &active = *links_[0], &standby = *links_[1];
    if (!standby.session.can_send()) return false;
    // It was silent when this was decided.
    if (unless_heard_after && active.session.can_send() && active.session.heard_ns() > *unless_heard_after)
      return false;
    active.swap_sessions(standby);
    active.estimator = {};  // the pauses of a session that waited say nothing of its path
    active.roused_ns = now;
    refresh_lookup(0);
    refresh_lookup(1);
    if (paths_) paths_->lead_to(active.peer, now);
    tell_role(active, StationRole::active, term, now);
    tell_role(standby, StationRole::standby, term, now);
    standby.next_probe_ns = now;
    standby.publish(now);
    changed(0, now);
    return true;
  });
}

void DataPlane::tell_roles(std::uint32_t term) {
  ask([this, term] {
    const auto now = now_ns();
    for (auto& link : links_) {
      if (link->role == StationRole::none) continue;
      tell_role(*link, link->role, term, now);
      link->publish(now);
    }
    return true;
  });
}

void DataPlane::leave_standby() {
  ask([this] {
    auto& standby = *links_[1];
    part_from(standby, now_ns());
    standby.station = kNoStation;
    refresh_lookup(1);
    standby.publish(now_ns());
    return true;
  });
}

bool DataPlane::ask(std::function<bool()> question) {
  auto answer = std::make_shared<std::promise<bool>>();
  auto coming = answer->get_future();
  if (!post([answer, question = std::move(question)] { answer->set_value(question()); })) return false;
  return coming.get();
}

/// gcs: an older word may come after a newer one.
void DataPlane::on_role(Link& link, std::size_t index, const RoleTold& told, std::uint64_t now) {
  if (told.term < link.term || (told.term == link.term && told.role == link.role)) return;
  link.role = told.role;
  link.term = told.term;
  link.highest_term = std::max(link.highest_term, told.term);
  link.roused_ns = now;
  link.next_report_ns = link.next_probe_ns = 0;
  link.estimator = {};
  link.role_unsaid = true;
  say_role(link, index, now);
}

/// Once a second for each drone: a captured one may tell hundreds.
void DataPlane::say_role(Link& link, std::size_t index, std::uint64_t now) {
  if (!link.role_unsaid || now < link.next_role_ns) return;
  link.role_unsaid = false;
  link.next_role_ns = now + kAskAgainNs;
  const auto term = " (term " + std::to_string(link.term) + ").";
  events_.log(LogLevel::info, link.id,
              link.role == StationRole::active
                  ? "This ground station is the one that the drone hears now" + term
                  : "The drone hears another ground station now; this one is its standby" + term);
  changed(index, now);
}

/// gcs: the first packet of a session that a first handshake made.
void DataPlane::begin_role(Link& link) noexcept {
  link.role = link.pending_role;
  link.term = link.pending_term;
  link.moved = link.role_unsaid = false;
  link.highest_term = std::max(link.highest_term, link.term);
}

/// A control frame of each end every 5 s; more often while the active station is silent, for this one may have to take
/// over.
void DataPlane::say_little(Link& link, std::uint64_t now) {
  std::array<std::uint8_t, 256> tlvs{};
  if (config_.role == Role::gcs) {
    if (link.announcements.empty() || now < link.next_probe_ns) return;
    link.next_probe_ns = now + kAskAgainNs;
    send_control_now(link, ByteView(tlvs).first(link.announcements.append_to(tlvs, 0)), now);
    return;
  }
  const bool trouble = links_[0]->session.silence(now) >= probe_silence_ns();
  if (now < std::min(link.next_probe_ns, trouble ? link.last_probe_ns + to_ns(kProbeSilentEvery) : link.next_probe_ns))
    return;
  link.last_probe_ns = now;
  link.next_probe_ns = now + to_ns(kStandbyKeepalive);
  auto used = *append_control(tlvs, 0, link.probes.ask(now_ns()));
  used = link.announcements.append_to(tlvs, used);
  send_control_now(link, ByteView(tlvs).first(used), now, true);
}

/// drone: a role that its station has not yet acknowledged.
void DataPlane::repeat_role(Link& link, std::uint64_t now) {
  if (link.role_repeats == 0 || link.announcements.empty()) return;
  --link.role_repeats;
  std::array<std::uint8_t, 64> tlvs{};
  send_control_now(link, ByteView(tlvs).first(link.announcements.append_to(tlvs, 0)), now);
}

}  // namespace pqcmav
