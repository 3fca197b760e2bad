// SPDX-License-Identifier: Apache-2.0
// A drone, its ground stations and a bad network in virtual time: what StationChoice decides, and what each station
// believes. Stations crash, restart, close and are cut off at random; datagrams are lost and reordered; the drone
// restarts with the term that it stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "control/station_choice.hpp"
#include "nanoseconds.hpp"

namespace pqcmav::test {

class StationWorld {
 public:
  using Act = StationChoice::Act;

  StationWorld(std::uint32_t seed, bool standby)
      : random_(seed), standby_(standby), lost_percent_(seed % 3 * 10), stations_(2 + seed % 2) {
    power_on();
  }

  void run(std::uint64_t for_ns) {
    const auto until_ns = now_ + for_ns;
    auto next_event = now_ + pick(3 * kS, 9 * kS);
    for (; now_ < until_ns && problem_.empty(); now_ += kStep) {
      if (now_ >= next_event) {
        something_happens();
        next_event = now_ + pick(kS / 2, 9 * kS);
      }
      deliver();
      drone_works();
      stations_work();
      check();
    }
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  [[nodiscard]] std::uint64_t failovers_checked() const { return failovers_; }

 private:
  static constexpr std::uint64_t kStep = 5 * kMs;
  enum class Kind { hello, answer, finish, done, packet, token, role, got, term, close };
  struct Datagram {
    Kind kind;
    bool up;  // from the drone
    std::size_t station;
    std::uint64_t at, session;
    bool active = false;
    std::uint32_t term = 0;
  };
  struct Station {
    bool alive = true, cut = false;
    std::uint64_t session = 0, offered = 0;  // 0: none
    bool active = false, offered_active = false, got_term = true;
    std::uint32_t term = 0, offered_term = 0, highest = 0;
    [[nodiscard]] bool believes() const { return alive && session != 0 && active; }
    [[nodiscard]] bool reachable() const { return alive && !cut; }
  };
  struct Attempt {
    StationChoice::Step step;
    std::uint64_t session, next_send;
    bool finishing = false;
    std::uint32_t term = 0;  // in its last datagram
  };
  struct Role {
    bool active, open;
    std::uint32_t term;
  };

  std::uint64_t pick(std::uint64_t from, std::uint64_t to) {
    return from + static_cast<std::uint64_t>(random_()) * kMs % (to - from);
  }
  bool one_in(std::uint32_t n) { return random_() % n == 0; }

  void power_on() {
    choice_ = std::make_unique<StationChoice>(stations_.size(), standby_, StationTimers{2 * kS, 0, 16 * kS, 5 * kS},
                                              stored_term_);
    sessions_.assign(stations_.size(), 0);
    roles_.assign(stations_.size(), Role{});
    attempt_.reset();
    last_packet_.assign(stations_.size(), 0);
  }

  void send(Datagram datagram) {
    auto& station = stations_[datagram.station];
    if (!station.reachable() || random_() % 100 < lost_percent_) return;
    datagram.at = now_ + pick(10 * kMs, 20 * kMs);
    on_the_way_.push_back(datagram);
  }

  void something_happens() {
    auto& station = stations_[random_() % stations_.size()];
    const auto index = static_cast<std::size_t>(&station - stations_.data());
    const bool was_active = choice_->active() == index;
    bool gone = false;
    if (!station.alive || station.cut) {
      if (!station.alive) station = Station{.alive = true, .cut = station.cut};
      if (one_in(2)) station.cut = false;
      due_.reset();
      return;
    }
    switch (random_() % 8) {
      case 0:
      case 1:  // crash
        gone = true;
        station = Station{.alive = false};
        break;
      case 2:
      case 3:  // restart
        station = Station{};
        break;
      case 4:  // a goodbye
        if (station.session != 0) send({Kind::close, false, index, 0, station.session});
        station = Station{.alive = false};
        break;
      case 5:
      case 6:  // cut off; both live
        gone = station.cut = true;
        break;
      default:
        if (one_in(3)) power_on();
    }
    due_.reset();
    if (!gone || !was_active || sessions_[index] == 0 || lost_percent_ != 0) return;
    const auto waiting = choice_->standby();
    if (waiting && stations_[*waiting].reachable() && stations_[*waiting].session == sessions_[*waiting])
      due_ = {now_ + 2 * kS + 100 * kMs, index};
    else if (!standby_ && stations_.size() == 2 && stations_[1 - index].reachable())
      due_ = {now_ + 2 * kS + 400 * kMs, index};
  }

  void deliver() {
    std::deque<Datagram> ready;
    for (auto it = on_the_way_.begin(); it != on_the_way_.end();)
      if (it->at <= now_) {
        if (stations_[it->station].reachable()) ready.push_back(*it);
        it = on_the_way_.erase(it);
      } else {
        ++it;
      }
    for (const auto& each : ready) each.up ? to_station(each) : to_drone(each);
  }

  void to_station(const Datagram& in) {
    auto& station = stations_[in.station];
    switch (in.kind) {
      case Kind::hello: send({Kind::answer, false, in.station, 0, in.session}); return;
      case Kind::finish:
        if (station.session == in.session) return send({Kind::done, false, in.station, 0, in.session});
        station.offered = in.session;
        station.offered_active = in.active;
        station.offered_term = in.term;
        return send({Kind::done, false, in.station, 0, in.session});
      default: break;
    }
    if (station.offered != 0 && in.session == station.offered) {
      station.session = std::exchange(station.offered, 0);
      station.active = station.offered_active;
      station.term = station.offered_term;
      station.got_term = station.highest <= station.term;
      station.highest = std::max(station.highest, station.term);
    }
    if (in.session != station.session) {
      send({Kind::token, false, in.station, 0, in.session});
      return;
    }
    if (in.kind == Kind::close) station.session = 0;
    if (in.kind == Kind::got) station.got_term = true;
    if (in.kind != Kind::role) return;
    if (in.term >= station.term) {
      station.active = in.active;
      station.term = in.term;
      station.highest = std::max(station.highest, in.term);
    }
    send({Kind::got, false, in.station, 0, in.session, in.active, in.term});
  }

  void to_drone(const Datagram& in) {
    const auto from = in.station;
    if (attempt_ && attempt_->session == in.session && in.kind == Kind::answer) {
      choice_->answered();
      attempt_->finishing = true;
      attempt_->next_send = now_;
    }
    if (attempt_ && attempt_->session == in.session && in.kind == Kind::done) return installed();
    if (in.session == 0 || in.session != sessions_[from]) return;
    if (in.kind == Kind::token) return choice_->restarted(from, 300 * kMs, now_, now_);
    choice_->heard(from, now_);
    if (in.kind == Kind::close) {
      sessions_[from] = 0;
      choice_->ended(from, now_);
    } else if (in.kind == Kind::got && in.term == roles_[from].term && in.active == roles_[from].active) {
      roles_[from].open = false;
    } else if (in.kind == Kind::term) {
      send({Kind::got, true, from, 0, in.session});
      if (choice_->told(in.term)) say_roles();
    }
  }

  void installed() {
    const auto step = attempt_->step;
    const auto before = choice_->active(), waited = choice_->standby();
    const auto session = attempt_->session;
    const auto hello_term = attempt_->term;
    const auto term = choice_->term_of(step);
    attempt_.reset();
    if (step.act == Act::connect && before && *before != step.station) {
      note_change(*before);
      leave(*before);
    }
    if (step.act == Act::join && waited && *waited != step.station) leave(*waited);
    choice_->succeeded(step, now_);
    sessions_[step.station] = session;
    roles_[step.station] = Role{step.act == Act::connect, false, term};
    stored_term_ = std::max(stored_term_, choice_->term());
    send({Kind::packet, true, step.station, 0, session});
    if (hello_term != choice_->term()) say_roles();
  }

  void leave(std::size_t station) {
    if (sessions_[station] != 0) send({Kind::close, true, station, 0, sessions_[station]});
    sessions_[station] = 0;
  }

  void say_roles() {
    stored_term_ = std::max(stored_term_, choice_->term());
    for (std::size_t i = 0; i < stations_.size(); ++i)
      if (sessions_[i] != 0) roles_[i] = Role{choice_->active() == i, true, choice_->term()};
  }

  void note_change(std::size_t from) {
    ++changes_;
    if (!choice_->in_trouble(now_)) problem_ = "left a station without need";
    if (due_ && due_->from == from) {
      ++failovers_;
      due_.reset();
    }
  }

  void drone_works() {
    if (now_ % (50 * kMs) == 0) decide();
    if (attempt_ && now_ >= attempt_->next_send) {
      attempt_->next_send = now_ + 200 * kMs;
      attempt_->term = choice_->term_of(attempt_->step);
      send({attempt_->finishing ? Kind::finish : Kind::hello, true, attempt_->step.station, 0, attempt_->session,
            attempt_->step.act == Act::connect, attempt_->term});
    }
    for (std::size_t i = 0; i < stations_.size(); ++i) {
      if (sessions_[i] == 0) continue;
      const bool active = choice_->active() == i;
      const auto pause = active ? 20 * kMs : choice_->in_trouble(now_) || silent_ ? 250 * kMs : 5 * kS;
      if (roles_[i].open && now_ % (100 * kMs) == 0)
        send({Kind::role, true, i, 0, sessions_[i], roles_[i].active, roles_[i].term});
      if (now_ < last_packet_[i] + pause) continue;
      last_packet_[i] = now_;
      send({Kind::packet, true, i, 0, sessions_[i]});
    }
  }

  void decide() {
    silent_ = choice_->deadline() < now_ + kS;
    const auto step = choice_->next(now_);
    if (attempt_ && attempt_->step == step) return;
    if (attempt_) {
      choice_->failed(0, now_);
      attempt_.reset();
      return;
    }
    switch (step.act) {
      case Act::none: return;
      case Act::forget: leave(step.station); return choice_->ended(step.station, now_);
      case Act::take_over:
        note_change(*choice_->active());
        choice_->took_over(now_);
        return say_roles();
      case Act::connect:
      case Act::join: choice_->begin(step, now_); attempt_ = Attempt{step, ++last_session_, now_};
    }
  }

  void stations_work() {
    for (std::size_t i = 0; i < stations_.size(); ++i) {
      auto& station = stations_[i];
      if (!station.alive || station.session == 0) continue;
      const auto pause = station.active ? 100 * kMs : silent_ ? 250 * kMs : 5 * kS;
      if (now_ % pause == 0) send({Kind::packet, false, i, 0, station.session});
      if (!station.got_term && now_ % (500 * kMs) == 0)
        send({Kind::term, false, i, 0, station.session, false, station.highest});
    }
  }

  /// At every moment, whatever was lost: at most one station believes under the drone's term, none under a higher one,
  /// and never two under the same.
  void check() {
    const auto term = choice_->term();
    if (term < last_term_) problem_ = "the term fell";
    last_term_ = std::max(last_term_, term);
    for (std::size_t i = 0; i < stations_.size(); ++i) {
      if (!stations_[i].believes()) continue;
      if (stations_[i].term > last_term_) problem_ = "a station believes under a term of the future";
      if (stations_[i].term == last_term_ && choice_->active() && choice_->active() != i)
        problem_ = "the newest term is another station's than the drone's";
      for (std::size_t j = 0; j < i; ++j)
        if (stations_[j].believes() && stations_[j].term == stations_[i].term) problem_ = "two believe under one term";
    }
    if (due_ && now_ > due_->at)
      problem_ = "station " + std::to_string(due_->from) + " was not left in time at " + std::to_string(now_ / kMs);
  }

  struct Due {
    std::uint64_t at;
    std::size_t from;
  };
  std::mt19937 random_;
  bool standby_, silent_ = false;
  std::uint32_t lost_percent_;
  std::vector<Station> stations_;
  std::unique_ptr<StationChoice> choice_;
  std::vector<std::uint64_t> sessions_, last_packet_;
  std::vector<Role> roles_;
  std::optional<Attempt> attempt_;
  std::deque<Datagram> on_the_way_;
  std::uint64_t now_ = 100 * kS, last_session_ = 0, changes_ = 0, failovers_ = 0;
  std::uint32_t stored_term_ = 0, last_term_ = 0;
  std::optional<Due> due_;
  std::string problem_;
};

}  // namespace pqcmav::test
