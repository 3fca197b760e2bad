// SPDX-License-Identifier: Apache-2.0
// What the detectors of a link's ends say, and who is to hear it: the ground of its drones, and a drone of its ground
// station and of the drones on the same network (docs/protocol.md section 11).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "bytes.hpp"
#include "nanoseconds.hpp"
#include "pqc_mav_tunnel/status.hpp"

namespace pqcmav {

/// How long one lasts after it was last told: whoever found it may have died, or may not get through.
inline constexpr std::uint64_t kAlarmLasts_s = 10;

/// From any thread; times are of a monotonic clock.
class AlarmBoard {
 public:
  /// Sources that are told here, of which all but one are other stations; more are left out.
  static constexpr std::size_t kSourcesMost = 32;

  /// Of a detector of this end (`from` is ""), or of another station.
  void tell(const std::string& from, Alarm alarm, std::uint64_t now) {
    const std::lock_guard lock(mutex_);
    if (told_.size() >= kSourcesMost) std::erase_if(told_, [now](const auto& each) { return each.second.over(now); });
    if (told_.size() < kSourcesMost || told_.contains(from)) put(told_, from, {std::move(alarm), now, {}});
  }
  /// What the other end of a link said, and from which network. True if an attack is news.
  bool hear(const std::string& drone, const ByteArray<16>& network, Alarm alarm, std::uint64_t now) {
    const std::lock_guard lock(mutex_);
    if (!heard_.contains(drone)) std::erase_if(heard_, [now](const auto& each) { return each.second.over(now); });
    const bool news = alarm.level >= kAlarmAttack && of(heard_, drone, now).level < kAlarmAttack;
    put(heard_, drone, {std::move(alarm), now, network});
    return news;
  }
  /// What the other end of that link says now.
  [[nodiscard]] Alarm heard(const std::string& drone, std::uint64_t now) const {
    const std::lock_guard lock(mutex_);
    return of(heard_, drone, now);
  }
  /// What was told here of a detector of this end, or of that station.
  [[nodiscard]] Alarm told(const std::string& from, std::uint64_t now) const {
    const std::lock_guard lock(mutex_);
    return of(told_, from, now);
  }
  /// The worst that the other end of that link has to hear: what was told here, and what others on its network said.
  [[nodiscard]] Alarm for_peer(const std::string& drone, const ByteArray<16>& network, std::uint64_t now) const {
    const std::lock_guard lock(mutex_);
    Alarm out;
    for (const auto& [from, entry] : told_) raise(out, entry, now);
    for (const auto& [other, entry] : heard_) {
      if (out.level >= kAlarmAttack) break;  // with thousands that say so none looks at all of them
      if (other != drone && entry.network == network) raise(out, entry, now);
    }
    return out;
  }

 private:
  struct Entry {
    Alarm alarm;
    std::uint64_t at = 0;
    ByteArray<16> network{};
    [[nodiscard]] bool over(std::uint64_t now) const noexcept { return now >= at + kAlarmLasts_s * kS; }
  };
  using Entries = std::map<std::string, Entry>;
  /// One that is over needs no place.
  static void put(Entries& entries, const std::string& of, Entry entry) {
    if (entry.alarm.level == 0)
      entries.erase(of);
    else
      entries[of] = std::move(entry);
  }
  static void raise(Alarm& out, const Entry& entry, std::uint64_t now) {
    if (entry.alarm.level > out.level && !entry.over(now)) out = entry.alarm;
  }
  [[nodiscard]] static Alarm of(const Entries& entries, const std::string& source, std::uint64_t now) {
    const auto found = entries.find(source);
    return found == entries.end() || found->second.over(now) ? Alarm{} : found->second.alarm;
  }

  mutable std::mutex mutex_;
  Entries told_, heard_;
};

}  // namespace pqcmav
