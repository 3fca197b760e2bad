// SPDX-License-Identifier: Apache-2.0
// The drone's control thread and its ground stations: what the choice of one is told, and doing what it says.
#include <algorithm>

#include "control/drone_control.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {

using Act = StationChoice::Act;

namespace {

constexpr std::uint64_t kWordEveryNs = 60'000'000'000;

}  // namespace

void DroneControl::take_news(std::uint64_t now) {
  std::vector<std::pair<SessionId, std::uint64_t>> restarted;
  std::optional<std::uint32_t> told;
  std::optional<std::string> wanted;
  bool keys_changed = false;
  {
    const std::lock_guard lock(mutex_);
    restarted.swap(restarted_);
    told = std::exchange(term_told_, std::nullopt);
    wanted = std::exchange(wanted_, std::nullopt);
    keys_changed = std::exchange(keys_changed_, false);
  }
  if (keys_changed) {
    choice_.keys_changed();
    other_keys_ = true;
  }
  look_at(0, choice_.active(), now);
  look_at(1, choice_.standby(), now);
  for (const auto& [session, at] : restarted)
    for (std::size_t i = 0; i <= (data_->has_standby_link() ? 1U : 0U); ++i) {
      const auto picture = data_->link(i).picture();
      if (!picture.current || picture.current->id != session) continue;
      const auto round_trip = picture.rtt_ns.value_or(0);
      choice_.restarted(picture.station, std::max(2 * (round_trip + round_trip / 4), to_ns(kRestartWait)), at, now);
    }
  if (told && choice_.told(*told)) {
    keep_term(choice_.term());
    data_->tell_roles(choice_.term());
  }
  if (wanted) {
    const auto it = std::ranges::find(stations_, *wanted, [](const Station& each) { return each.peer.gcs_id; });
    choice_.prefer(it == stations_.end() ? std::nullopt : std::optional<std::size_t>(it - stations_.begin()));
  }
  show_stations();
}

/// What the session of a link says about its station.
void DroneControl::look_at(std::size_t link, std::optional<std::size_t> station, std::uint64_t now) {
  if (!station || !choice_.has_session(*station)) return;
  const auto picture = data_->link(link).picture();
  if (picture.current && picture.can_send && picture.station == *station)
    choice_.heard(*station, picture.heard_ns, picture.answered_ns);
  else
    choice_.ended(*station, now);
}

bool DroneControl::follow_choice(std::uint64_t now) {
  decided_heard_ns_ = data_->link(0).picture().heard_ns;
  const auto step = choice_.next(now);
  switch (step.act) {
    case Act::none: return false;
    case Act::connect:
    case Act::join: first_handshake(step); return true;
    case Act::take_over: take_over(step, now); return true;
    case Act::forget:
      events_.log(LogLevel::warning, config_.drone_id,
                  "The standby '" + stations_[step.station].peer.gcs_id + "' is not heard any more.");
      data_->leave_standby();
      choice_.ended(step.station, now);
      return true;
  }
  return false;
}

void DroneControl::take_over(const StationChoice::Step& step, std::uint64_t now) {
  const auto before = choice_.active();
  const bool only_silent = before && choice_.has_session(*before) && choice_.in_trouble(now);
  const auto term = choice_.term_of(step);
  keep_term(term);
  if (!data_->take_over(term, only_silent ? std::optional(decided_heard_ns_) : std::nullopt)) return;
  choice_.took_over(now);
  learn_paths();
  say_change(before);
}

void DroneControl::keep_term(std::uint32_t term) {
  try {
    term_file_.keep(term);
    told_term_unwritable_ = false;
  } catch (const TunnelError& error) {
    if (std::exchange(told_term_unwritable_, true)) return;
    events_.log(LogLevel::warning, config_.drone_id,
                std::string("The term is kept in memory only, check 'state_dir': ") + error.what());
  }
}

void DroneControl::say_change(std::optional<std::size_t> before) {
  show_stations();
  const auto active = choice_.active();
  if (stations_.size() == 1 || before == active) return;
  events_.log(LogLevel::info, config_.drone_id,
              "The ground station is '" + stations_[*active].peer.gcs_id + "' now" +
                  (before ? ", no longer '" + stations_[*before].peer.gcs_id + "'" : "") + " (term " +
                  std::to_string(choice_.term()) + ").");
}

/// Once a minute for each station.
void DroneControl::say_unanswered(const StationChoice::Step& step, const ClientOutcome& outcome) {
  if (stations_.size() == 1 || outcome.error != HandshakeError::cancelled || !client_->silent()) return;
  auto& station = stations_[step.station];
  const auto now = now_ns();
  if (now < station.next_word_ns) return;
  station.next_word_ns = now + kWordEveryNs;
  const auto where = "No answer from the ground station '" + station.peer.gcs_id + "' at " + station.peer.host + ":" +
                     std::to_string(station.peer.port) + " (UDP); the drone asks it again";
  if (step.act == Act::join)
    events_.log(LogLevel::warning, config_.drone_id, where + ". There may be no standby until it answers.");
  else
    ledger_.waiting_for(where + " after the others. Check 'peer', the network and firewalls, and that both ends have " +
                        "the same PSK: a gcs does not answer strangers.");
}

void DroneControl::show_stations() {
  if (stations_.size() == 1) return;
  std::vector<StationStatus> out;
  for (std::size_t i = 0; i < stations_.size(); ++i) {
    const auto& peer = stations_[i].peer;
    const bool v6 = peer.host.find(':') != std::string::npos;
    const bool session = choice_.has_session(i);
    out.push_back({peer.gcs_id, (v6 ? "[" + peer.host + "]" : peer.host) + ":" + std::to_string(peer.port),
                   session && choice_.active() == i    ? "active"
                   : session && choice_.standby() == i ? "standby"
                                                       : "none"});
  }
  const std::lock_guard lock(mutex_);
  shown_ = std::move(out);
}

std::vector<StationStatus> DroneControl::stations() const {
  const std::lock_guard lock(mutex_);
  return shown_;
}

bool DroneControl::use_station(const std::string& gcs_id) {
  if (!gcs_id.empty() &&
      std::ranges::none_of(stations_, [&](const Station& each) { return each.peer.gcs_id == gcs_id; }))
    return false;
  {
    const std::lock_guard lock(mutex_);
    wanted_ = gcs_id;
    attention_ = true;
  }
  if (client_) client_->nudge();
  wake_.notify_all();
  return true;
}

void DroneControl::on_term_told(std::uint32_t term) {
  {
    const std::lock_guard lock(mutex_);
    term_told_ = std::max(term_told_.value_or(0), term);
    attention_ = true;
  }
  wake_.notify_all();
}

/// Only the active station may ask for anything.
void DroneControl::refuse_request(std::size_t link, std::uint32_t request_id) {
  answer_remote(link, request_id,
                {false, "", 0, 0, "This drone hears another ground station; ask there, or move the drone first."});
}

}  // namespace pqcmav
