// SPDX-License-Identifier: Apache-2.0
#include "net/link.hpp"

#include <algorithm>
#include <utility>

namespace pqcmav {

void ProbeTracker::on_reply(const ProbeReply& reply, std::uint64_t t4) noexcept {
  if (!waits_for(reply)) return;
  open_[reply.id % open_.size()].id = 0;
  const auto held = reply.t3 - reply.t2;
  if (t4 < reply.t1 || reply.t3 < reply.t2 || held > t4 - reply.t1) return;  // impossible: a confused peer's clock
  const auto rtt = t4 - reply.t1 - held;
  const auto forward = static_cast<std::int64_t>(reply.t2 - reply.t1);
  const auto backward = static_cast<std::int64_t>(reply.t3 - t4);
  samples_[count_++ % samples_.size()] = Sample{rtt, forward / 2 + backward / 2};
  rtt_ = rtt;
  answered_ = std::max(answered_, reply.t1);
  least_ = std::min(least_.value_or(rtt), rtt);
}

std::uint64_t ProbeTracker::timeout_ns() const noexcept {
  constexpr std::uint64_t kUnknown = 200'000'000, kSlack = 10'000'000;
  return rtt_ ? *rtt_ + std::max(*rtt_ / 4, kSlack) + kSlack : kUnknown;
}

SessionTimers session_timers(const EngineConfig& config) noexcept {
  return {to_ns(config.degraded_after_s), to_ns(config.session_limit_s), to_ns(config.grace_s), to_ns(kUnusedKeyLimit)};
}

void Link::note_round_trip(std::optional<std::uint64_t> full, const SockAddr& with) noexcept {
  if (!full) return;
  full_round_trip = full;
  full_peer = with.empty() ? peer : with;
}

void Link::forget_session() noexcept {
  session.wipe();
  estimator = {};
  probes = {};
  announcements = {};
  paths_told = 0;
  if (finder) finder->forget();
  arrived = {};
  granted_ns = 0;
  peer = {};
  closed_by_peer = was_degraded = key_old = moved = false;
  full_round_trip.reset();
  local = {};
  remote.reset();
  next_report_ns = next_probe_ns = 0;
  role = StationRole::none;
  term = 0;
  role_repeats = 0;
  roused_ns = 0;
}

void Link::swap_sessions(Link& other) noexcept {
  std::swap<LinkSession>(*this, other);  // ids and indices stay: refresh_lookup() of both follows
  for (auto* each : {this, &other})
    if (each->finder) each->finder->forget();  // the bytes are counted by the link
}

std::optional<RunningSession> Link::running() const {
  const auto* chain = session.chain();
  if (chain == nullptr || !session.current()) return std::nullopt;
  const auto& info = *session.current();
  return RunningSession{info.id,       info.epoch,    SecretBytes(chain->view()),
                        info.suite,    info.hybrid,   info.drone_signed,
                        info.features, info.ratchets, info.full_boot_ns};
}

bool Link::grant_due(std::uint64_t now) const noexcept {
  if (granted_ns == 0 || !session.can_send() || peer.empty()) return false;
  return now - granted_ns >= to_ns(kGrantAge) || peer.ip16() != granted_for;
}

KnownLink Link::known() const noexcept {
  const auto loss = std::max(local.loss_ppm, remote ? remote->loss_ppm : 0);
  const auto full = full_peer == peer ? full_round_trip : std::nullopt;
  const auto wire_ns = by_wire() ? wire->radio().datagram_ns(shaper ? shaper->kbit() : 0) : 0;
  return KnownLink::of({full, probes.rtt_ns(), probes.least_ns(), loss, wire_ns});
}

bool Link::report_due(bool drone, bool silent, std::uint64_t now) noexcept {
  local = estimator.report(now);
  for (std::size_t i = 0; i < kDropKinds; ++i) local.drops[i] = counters.drops[i].get();
  // What a gcs reports is what the drone's policy decides by, and comes down the way that is seldom full.
  if (!drone) return true;
  UpkeepPace::Signs signs{bytes_sent(), 0, probes.rtt_ns(), probes.least_ns()};
  if (shaper)
    for (const auto& each : shaper->counts(now)) signs.left_out += each.replaced + each.dropped;
  return pace.due(signs) || silent;
}

bool Link::probe_due(bool drone, bool silent, std::uint64_t now) const noexcept {
  if (drone) return silent || !pace.seldom();
  // Each costs the drone an answer: as often as that one reports.
  return remote_at_ns >= last_probe_ns || now >= last_probe_ns + to_ns(std::chrono::seconds(kUpkeepSeldom));
}

bool Link::make_room(std::uint32_t timeouts, std::uint64_t now) noexcept {
  yield.consider({timeouts, probes.rtt_ns(), probes.least_ns(), remote ? remote->packets_per_s_milli : 0}, now);
  return yield.active();
}

Plaintext Link::exchange_plain(Plaintext with) {
  const std::lock_guard lock(mutex_);
  std::swap(plain, with.socket);
  std::swap(plain_local, with.local);
  std::swap(plain_peer, with.peer);
  std::swap(learn_plain_peer, with.learns_peer);
  std::swap(hub, with.hub);
  plain_learner = {};
  plain_kernel_drops = {};
  return with;
}

void Link::publish(std::uint64_t now) {
  const std::lock_guard lock(mutex_);
  static_cast<LinkFacts&>(picture_) = *this;
  picture_.current = session.current();
  picture_.pending = session.pending();
  picture_.plain_peer = plain_peer;
  picture_.plain_local = plain_local;
  picture_.heard_silence_ns = session.silence(now);
  picture_.key_use = session.key_use();
  picture_.can_send = session.can_send();
  picture_.degraded = degraded(now);
  picture_.heard_ns = session.heard_ns();
  picture_.answered_ns = probes.answered_ns();
  picture_.moved = moved;
  picture_.ended = session.ended();
  picture_.rtt_ns = probes.rtt_ns();
  picture_.rtt_min_ns = probes.rtt_min_ns();
  picture_.clock_offset_ns = probes.offset_ns();
  if (shaper) {
    picture_.shape_kbit = shaper->kbit();
    picture_.shaping = shaper->counts(now);
  }
}

}  // namespace pqcmav
