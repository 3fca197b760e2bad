// SPDX-License-Identifier: Apache-2.0
// What the data thread does besides packets: control messages, keepalives, probes and reports, expiry, new keys.
#include <array>
#include <chrono>
#include <cstring>
#include <future>
#include <utility>

#include "net/data_plane.hpp"
#include "net/data_plane_hold.hpp"
#include "net/link_upkeep.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kInstallNs = 50'000;
constexpr std::chrono::seconds kAlarmLogEvery{10};  // a peer may raise and end one as often as it likes

template <typename... Kinds>
bool is_any_of(const Control& control) noexcept {
  return (std::holds_alternative<Kinds>(control) || ...);
}

/// Does this end say that, and not the other one?
bool is_own(const Control& control, Role role) noexcept {
  return role == Role::gcs ? is_any_of<ReturnGrant, RestartToken, PathChallenge, TermTold, Aside>(control)
                           : is_any_of<PathResponse, RoleTold, PathsTold>(control);
}

}  // namespace

void DataPlane::on_control(Link& link, std::size_t index, const ControlList& controls, bool current,
                           const SockAddr& source, std::uint64_t now) {
  Pin pin{};
  const auto pinned_for = [&pin](std::uint32_t request) { return pin.request_id == request ? pin.for_s : 0; };
  for (std::size_t i = 0; i < controls.count; ++i) {
    const auto& control = controls.items[i];
    if (is_own(control, config_.role)) continue;
    if (const auto* probe = std::get_if<Probe>(&control)) {
      answer_probe(link, *probe, source, now);
    } else if (const auto* reply = std::get_if<ProbeReply>(&control)) {
      if (paths_ && paths_->on_reply(*reply, now)) {
        choose_path(now);
        continue;
      }
      link.probes.on_reply(*reply, now);
      link.parameter_pace.answered(reply->id, link.probes.least_ns(), now);
      send_parameters(link, now);
    } else if (const auto* seen = std::get_if<Seen>(&control)) {
      if (current) link.session.peer_has_seen(seen->highest);
    } else if (const auto* arrived = std::get_if<Arrived>(&control)) {
      if (current) hear_arrived(link, *arrived, now);
    } else if (const auto* report = std::get_if<LinkReport>(&control)) {
      link.remote = *report;
      link.remote_at_ns = now;
    } else if (const auto* alarm = std::get_if<AlarmTold>(&control)) {
      if (current) hear_alarm(link, *alarm, source, now);
    } else if (const auto* told = std::get_if<RoleTold>(&control)) {
      if (!link.session.agreed(features::kStations)) continue;
      if (current) on_role(link, index, *told, now);
      acknowledge(link, control, now);
    } else if (const auto* known = std::get_if<TermTold>(&control)) {
      // The active station alone may lift the drone's term: a captured standby would leave the others below it.
      if (current && index == 0 && hooks_.term_told) hooks_.term_told(known->term);
      acknowledge(link, control, now);
    } else if (const auto* request = std::get_if<RekeyRequest>(&control)) {
      auto asked = *request;
      asked.pin_s = pinned_for(asked.request_id);
      if (hooks_.rekey_requested) hooks_.rekey_requested(index, asked);
    } else if (const auto* result = std::get_if<RekeyResult>(&control)) {
      auto answer = *result;
      answer.pin_s = pinned_for(answer.request_id);
      if (hooks_.rekey_answered) hooks_.rekey_answered(index, answer);
    } else if (const auto* told_pin = std::get_if<Pin>(&control)) {
      pin = *told_pin;
    } else if (const auto* part = std::get_if<HandshakePart>(&control)) {
      // Under old keys it belongs to a session that is over.
      if (handshakes_ != nullptr && current) handshakes_->on_session_frame(index, part->value, now);
    } else if (const auto* aside = std::get_if<Aside>(&control)) {
      if (current) link.estimator.on_aside_told(now, key_of(link.session.current()->id), aside->count);
    } else if (const auto* challenge = std::get_if<PathChallenge>(&control)) {
      if (current) link.estimator.on_aside(key_of(link.session.current()->id));
      const bool numbered = paths_ && link.session.agreed(features::kPaths);
      if (numbered || came_by_the_route(link, source)) {
        const OneControl answer(PathResponse{challenge->random, numbered ? source.path : kNoPath});
        send_control_to(link, numbered ? &source : nullptr, answer, now);
      }
    } else if (const auto* response = std::get_if<PathResponse>(&control)) {
      if (link.paths && current) link.paths->on_response(response->random, now, response->path);
      follow_path(link, now);
    } else if (const auto* word = std::get_if<PathsTold>(&control)) {
      if (link.paths && current) link.paths->on_told(*word, now);
      follow_path(link, now);
      acknowledge(link, control, now);
    } else if (const auto* got = std::get_if<Got>(&control)) {
      link.announcements.on_got(*got);
    } else if (const auto* grant = std::get_if<ReturnGrant>(&control)) {
      if (handshakes_ != nullptr && current) handshakes_->on_return(*grant, index);
      acknowledge(link, control, now);
    } else if (const auto* token = std::get_if<RestartToken>(&control)) {
      if (handshakes_ != nullptr && current) handshakes_->on_restart_token(*token, index);
      acknowledge(link, control, now);
    } else if (const auto* close = std::get_if<Close>(&control); close != nullptr && current) {
      // One that was held back says nothing about the current session.
      link.session.close(now);
      link.closed_by_peer = true;
      link.moved = close->reason == kCloseMoved;
      if (handshakes_ != nullptr) handshakes_->on_session_ended(index, now);
      return changed(index, now);  // what follows would find no session
    }
  }
}

void DataPlane::hear_alarm(Link& link, const AlarmTold& word, const SockAddr& source, std::uint64_t now) {
  const Alarm alarm{word.level, std::string(word.kind)};
  if (!alarms().hear(link.id, network_of(source), alarm, now) || now < link.next_alarm_log_ns) return;
  link.next_alarm_log_ns = now + to_ns(kAlarmLogEvery);
  events_.log(LogLevel::warning, link.id,
              (config_.role == Role::gcs ? "The drone's detector" : "The ground station") +
                  std::string(" tells of an attack") + (alarm.kind.empty() ? "." : ": " + alarm.kind + "."));
}

/// Whether the datagram in work came to the address that ours to the gcs leave from now. With two interfaces both hear;
/// what says which one is the path is the system's routes, or the choice among the drone's paths.
bool DataPlane::came_by_the_route(const Link& link, const SockAddr& source) const noexcept {
  if (source.path != link.peer.path) return false;
  if (paths_ && !paths_->entry(source.path).via.empty()) return true;
  if (arrived_at_ == ByteArray<16>{}) return true;  // bound to one address
  const auto ours = address_towards(link.peer);
  return !ours || *ours == arrived_at_;
}

void DataPlane::acknowledge(Link& link, const Control& control, std::uint64_t now) {
  if (const auto got = got_for(control)) send_control_now(link, OneControl(*got), now);
}

/// At once of the first packet under new keys, before which nothing can wait in the link: the least delay there is.
void DataPlane::say_arrived(Link& link, std::uint64_t now, std::optional<std::uint8_t> switched_to) {
  std::array<std::uint8_t, 96> tlvs{};
  auto used = switched_to ? *append_control(tlvs, 0, Switched{*switched_to}) : 0;
  used = append_seen(link, tlvs, used);
  if (used != 0) send_control_now(link, ByteView(tlvs).first(used), now);
}

void DataPlane::send_control_now(Link& link, ByteView tlvs, std::uint64_t now, bool long_form) {
  if (!link.peer.empty()) send_control_to(link, nullptr, tlvs, now, long_form);
}

/// By the path that it came by, too: what comes by that proves it. Where no two paths live, by all: each direction may
/// have one of its own.
void DataPlane::answer_probe(Link& link, const Probe& probe, const SockAddr& source, std::uint64_t now) {
  std::array<std::uint8_t, 96> tlvs{};
  const auto all = ByteView(tlvs).first(append_probe_reply(link, probe, tlvs, now));
  send_control_now(link, all, now);
  if (!link.paths || !link.paths->told()) return;
  if (source != link.peer && link.paths->lives(source)) send_control_to(link, &source, all, now);
  if (!link.paths->again()) return;
  link.paths->for_each_of_other_paths([&](const SockAddr& to) {
    if (to != source) send_control_to(link, &to, all, now);
  });
}

/// By each path of the drone.
void DataPlane::send_control_by_all(Link& link, ByteView tlvs, std::uint64_t now) {
  for (std::size_t i = 0; i < paths_->count(); ++i)
    if (!paths_->peer(i).empty() && paths_->choice().on(i)) send_control_to(link, &paths_->peer(i), tlvs, now);
}

/// Without `to` to wherever the peer is.
void DataPlane::send_control_to(Link& link, const SockAddr* to, ByteView tlvs, std::uint64_t now, bool long_form) {
  if (!link.session.can_send()) return;
  std::array<std::uint8_t, kOverhead + kControlFrameMax> packet;
  std::memcpy(packet.data() + kHeaderSize, tlvs.data(), tlvs.size());
  const MutableBytes whole(packet.data(), kOverhead + tlvs.size());
  const auto sealed = link.session.seal(FrameType::control, whole, now, long_form);
  if (!sealed) return;
  if (link.shaper && link.shaper->on()) link.shaper->charge(sealed->size());
  send_counted(link, *sealed, to != nullptr ? *to : link.peer);
  if (to == nullptr) send_to_others(link, *sealed);
}

/// True when the keys have just become too old, or young again.
bool DataPlane::watch_key_age(Link& link) {
  const auto& current = link.session.current();
  const bool old = current && boot_ns() - current->full_boot_ns >= to_ns(config_.key_limit_s);
  if (old == link.key_old) return false;
  link.key_old = old;
  if (!old) return true;
  events_.log(LogLevel::error, link.id,
              config_.stop_on_old_keys
                  ? "The keys are older than key_limit_s: plaintext is refused until a handshake renews them."
                  : "The keys are older than key_limit_s: the link goes on with them while the drone tries to renew "
                    "them. Handshakes may be blocked on purpose.");
  return true;
}

void DataPlane::tick(std::uint64_t now) {
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (links_[i] && owns(i)) tick_link(i, now);
  if (paths_) tend_paths(now);
  totals_.kernel.add(paths_ ? paths_->kernel_drops() : kernel_drops_.more(encrypted_.get()));
  refused_.tick(now);
  totals_.ticks.add();
  // Reading it takes 6 us of this thread (median of 5,000; the worst 88), and procfs waits for no disk.
  if (!snapshots_ || now < next_boot_ns_) return;
  next_boot_ns_ = now + to_ns(kReportEvery);
  if (snapshots_->boot_changed()) on_set_back(now);
}

/// What was sealed since then may be sealed again elsewhere, or was before: no key from before it is used any more.
void DataPlane::on_set_back(std::uint64_t now) {
  totals_.set_back.add();
  events_.log(
      LogLevel::warning, "",
      "This machine was set back to a snapshot, or copied: all sessions end, and new ones begin with fresh keys. "
      "Packets that left since then may be readable to others. Take snapshots of stopped ends only (SECURITY.md).");
  if (hooks_.set_back) hooks_.set_back();
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (links_[i]) end_session(i, now, KeyEnd::set_back);
}

/// Once a second: a system call for each drone ten times a second would be a tenth of what an idle one costs.
void DataPlane::count_kernel_drops(Link& link, std::uint64_t now) noexcept {
  if (now < link.next_drops_ns || !link.plain) return;
  link.next_drops_ns = now + to_ns(kReportEvery);
  link.counters.plain_dropped_kernel.add(link.plain_kernel_drops.more(link.plain.get()));
}

void DataPlane::tick_link(std::size_t index, std::uint64_t now) {
  auto& link = *links_[index];
  count_kernel_drops(link, now);
  follow_rate(link, now);
  pace_autopilot(link, now);
  send_parameters(link, now);
  follow_path(link, now);
  send_again(link, now, now);
  note_arrived(link, now);
  const auto before = link.session.ended();
  bool notify = link.session.tick(now);
  if (notify) refresh_lookup(index);
  if (const auto why = link.session.ended(); why != before && why == KeyEnd::used_twice) {
    totals_.used_twice.add();
    events_.log(LogLevel::warning, link.id,
                "The other end used the number of a packet twice, as after a snapshot of its machine was restored: the "
                "session ends, and a new one begins with fresh keys. Restart the engine there after a restore.");
  }
  notify = watch_key_age(link) || notify;
  if (handshakes_ != nullptr && link.grant_due(now)) handshakes_->on_grant_due(index, now);
  if (notify && !link.session.can_send() && handshakes_ != nullptr) handshakes_->on_session_ended(index, now);
  const bool degraded = link.session.current() && link.degraded(now);
  notify = notify || degraded != link.was_degraded;
  link.was_degraded = degraded;

  say_role(link, index, now);
  repeat_role(link, now);
  if (link.quiet()) {
    say_little(link, now);
    return notify ? changed(index, now) : link.publish(now);
  }
  if (now >= link.next_report_ns) link.alarm = alarms().for_peer(link.id, network_of(link.peer), now);
  std::array<std::uint8_t, 320> tlvs{};
  const UpkeepRules rules{config_.role == Role::drone, to_ns(config_.keepalive_s), probe_silence_ns()};
  if (const auto word = append_upkeep(link, rules, tlvs, now); word.used != 0)
    send_control_now(link, ByteView(tlvs).first(word.used), now, word.names_session);
  if (notify)
    changed(index, now);
  else
    link.publish(now);
}

void DataPlane::changed(std::size_t index, std::uint64_t now) {
  auto& link = *links_[index];
  link.was_degraded = link.session.current() && link.degraded(now);
  link.publish(now);
  first().key_changes_.fetch_add(1, std::memory_order_relaxed);
  if (hooks_.changed) hooks_.changed(index);
}

void DataPlane::end_session(std::size_t index, std::uint64_t now, KeyEnd why) {
  const auto held = hold(index);
  if (auto& plane = owner(index); &plane != this) return plane.end_session(index, now, why);
  links_[index]->session.wipe(why);
  refresh_lookup(index);
  changed(index, now);
}

void DataPlane::install_now(std::size_t index, SessionKeys keys, std::vector<SockAddr> peers, std::uint64_t now) {
  const auto held = hold(index);
  if (auto& plane = owner(index); &plane != this)
    return plane.install_now(index, std::move(keys), std::move(peers), now);
  auto& link = *links_[index];
  if (config_.role == Role::drone) {  // what waits goes under the keys that it came for
    send_bundle(link, now);
    send_sealed(link);
  }
  if (keys.ratchets == 0) keys.full_boot_ns = boot_ns();
  const auto epoch = keys.epoch;
  const auto features = keys.features;
  const auto [standby, term] = std::pair(keys.standby, keys.term);
  link.session.install(std::move(keys), now, turn_ns(link));
  refresh_lookup(index);
  link.closed_by_peer = false;
  if (config_.role == Role::drone) {
    if (!peers.empty()) {
      link.peer = peers.front();
      link.paths_told = 0;
      link.probes.forget_least();
      settle_on_peer(link, now);
      if (paths_ && index == 0) {
        if (config_.peers.size() > 1) {
          paths_->lead_to(link.peer, now);
        } else {
          paths_->set_peer(link.peer);
          paths_->choice().begin(link.peer.path, now);
        }
        paths_->count_taken(link.peer.path);
        lead_standby(link.peer.path, now);
      }
    }
    note_arrived(link, now);
    std::array<std::uint8_t, 16> tlvs{};
    send_control_now(link, ByteView(tlvs).first(append_switched(tlvs, epoch)), now);
  } else {
    link.pending_role = (features & features::kStations) == 0 ? StationRole::none
                        : standby                             ? StationRole::standby
                                                              : StationRole::active;
    link.pending_term = term;
    link.pending_peers = std::move(peers);
  }
  changed(index, now);
}

Installed DataPlane::install(std::size_t index, SessionKeys keys, const SockAddr& peer,
                             const std::optional<StationPart>& part, std::uint64_t life) {
  std::promise<Installed> installed;
  auto done = installed.get_future();
  auto shared = std::make_shared<SessionKeys>(std::move(keys));
  const bool accepted = post([&, shared] {
    try {
      if (life != set_backs()) return installed.set_value(Installed::no);
      if (const auto it = by_session_.find(key_of(shared->session_id)); it != by_session_.end() && it->second != index)
        return installed.set_value(Installed::id_taken);
      if (part) make_way(index, *part, now_ns());
      install_now(index, std::move(*shared), peer.empty() ? std::vector<SockAddr>{} : std::vector{peer}, now_ns());
      installed.set_value(Installed::yes);
    } catch (...) {
      installed.set_exception(std::current_exception());
    }
  });
  if (!accepted) return Installed::no;
  // The data thread takes about as long as falling asleep and being woken would; a handshake waits for this.
  for (const auto until = now_ns() + kInstallNs;
       done.wait_for(std::chrono::seconds(0)) != std::future_status::ready && now_ns() < until;)
    std::this_thread::yield();
  return done.get();
}

std::optional<RunningSession> DataPlane::running_session(std::size_t index) {
  auto answer = std::make_shared<std::promise<std::optional<RunningSession>>>();
  auto coming = answer->get_future();
  const bool accepted = post([this, index, answer] { answer->set_value(links_[index]->running()); });
  return accepted ? coming.get() : std::nullopt;
}

void DataPlane::announce(std::size_t index, std::vector<Announcements::Value> values, std::uint64_t now) {
  const auto held = hold(index);
  if (auto& plane = owner(index); &plane != this) return plane.announce(index, std::move(values), now);
  auto& link = *links_[index];
  link.announcements.set(std::move(values));
  link.granted_ns = now;
  link.granted_for = link.peer.ip16();
  std::array<std::uint8_t, 256> tlvs{};
  if (const auto used = link.announcements.append_to(tlvs, 0)) send_control_now(link, ByteView(tlvs).first(used), now);
}

void DataPlane::send_datagram(ByteView datagram, const SockAddr& to) noexcept {
  // What the kernel does not take now is lost like any other datagram: the sender repeats it.
  if (send_one(socket_for(to), datagram, to)) count_sent(to, 1, datagram.size());
}

bool DataPlane::make_room(std::size_t index, std::uint32_t timeouts, std::uint64_t now) {
  const auto held = hold(index);
  if (auto& plane = owner(index); &plane != this) return plane.make_room(index, timeouts, now);
  auto& link = *links_[index];
  const bool before = link.yield.active();
  const bool active = link.make_room(timeouts, now);
  if (active && !before)
    events_.log(LogLevel::info, link.id,
                "A change of keys does not get through the queue of a full link: for 20 s at most, a part of the data "
                "is left out (drop_yield).");
  return active;
}

void DataPlane::send_handshake_part(std::size_t index, ByteView value, std::uint64_t now) {
  const auto held = hold(index);
  if (auto& plane = owner(index); &plane != this) return plane.send_handshake_part(index, value, now);
  std::array<std::uint8_t, kControlFrameMax> tlvs;
  auto& link = *links_[index];
  const auto used = append_control(tlvs, 0, HandshakePart{value});
  if (!used) return;
  if (!link.shaper || !link.shaper->on()) return send_control_now(link, ByteView(tlvs).first(*used), now);
  link.shaper->take_rekey(ByteView(tlvs).first(*used), now);
  send_shaped(link, now);
}

void DataPlane::note_round_trip(std::size_t index, std::optional<std::uint64_t> full, const SockAddr& with) {
  const auto held = hold(index);
  links_[index]->note_round_trip(full, with);
}

void DataPlane::rekey_over(std::size_t index) {
  const auto held = hold(index);
  links_[index]->yield.over();
}

void DataPlane::send_control(std::size_t index, std::vector<std::uint8_t> tlvs, const std::string& drone_id) {
  post([this, index, drone_id, tlvs = std::move(tlvs)] {
    const auto held = hold(index);
    const auto* link = index < links_.size() ? links_[index].get() : nullptr;
    if (link != nullptr && (drone_id.empty() || link->id == drone_id))
      owner(index).send_control_now(*links_[index], tlvs, now_ns());
  });
}

}  // namespace pqcmav
