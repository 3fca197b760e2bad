// SPDX-License-Identifier: Apache-2.0
// Drones of a gcs that are added, changed and removed while it serves the others.
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "control/gcs_control.hpp"
#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

bool same_plain(const DroneEntry& a, const DroneEntry& b) {
  return a.plain_bind == b.plain_bind && a.plain_peer == b.plain_peer && a.plain_endpoints == b.plain_endpoints;
}

/// Do both name a port that is the same?
bool shares_port(const DroneEntry& a, const DroneEntry& b) {
  if (a.plain_endpoints.empty() && b.plain_endpoints.empty()) return a.plain_bind == b.plain_bind;
  return std::ranges::find_first_of(a.plain_endpoints, b.plain_endpoints) != a.plain_endpoints.end();
}

bool same_radio(const DroneEntry& a, const DroneEntry& b) {
  const auto text = [](const DroneEntry& entry) { return entry.radio ? entry.radio->text : std::string(); };
  const auto id = [](const DroneEntry& entry) { return entry.radio ? entry.radio->radio_id : 0; };
  return text(a) == text(b) && id(a) == id(b);
}

bool same_rules(const DroneEntry& a, const DroneEntry& b) {
  return a.require_signature == b.require_signature && a.allowed_suites == b.allowed_suites;
}

constexpr const char* kShutDown = "The engine is shutting down; nothing was changed.";

}  // namespace

std::size_t GcsControl::free_place(std::size_t from) const {
  const std::shared_lock lock(drones_mutex_);
  const auto begin = drones_.begin() + static_cast<std::ptrdiff_t>(from);
  return static_cast<std::size_t>(std::find(begin, drones_.end(), nullptr) - drones_.begin());
}

DroneChanges GcsControl::set_drones(const std::vector<DroneEntry>& wanted, bool dry_run) {
  const std::lock_guard one_at_a_time(changes_mutex_);
  const auto before = all_drones();
  std::unordered_set<std::string_view> names;
  for (const auto& entry : wanted) names.insert(entry.id);
  // All that can fail comes first, and opens what it needs without touching what is there.
  struct Newcomer {
    const DroneEntry* entry;
    Psk psk;
    Plaintext plain;
    std::shared_ptr<const Wire> wire;
  };
  std::vector<Newcomer> newcomers;
  std::vector<std::pair<std::size_t, const DroneEntry*>> changed;
  std::vector<std::size_t> moved;  // of `changed`, those whose plaintext is another one already
  std::map<std::size_t, std::shared_ptr<const Wire>> wires;  // by place, of those whose radio is to be another one
  const auto undo = [&] {
    for (auto& each : newcomers) data_->close_plain(std::move(each.plain));
    for (const auto& each : newcomers) data_->close_radio(each.wire);
    for (const auto& [place, wire] : wires) data_->close_radio(wire);
  };
  // What another drone gives up in the same change is open still.
  const auto opened = [&](const DroneEntry& entry, const auto& open) {
    try {
      return open();
    } catch (const TunnelError& error) {
      for (const auto& drone : before)
        if (error.code() == Errc::port_in_use && drone && drone->id != entry.id && shares_port(drone->entry, entry))
          throw TunnelError(Errc::port_in_use, "'" + drone->id + "' still has a plaintext port that '" + entry.id +
                                                   "' is to have: hand it on in two reloads, the first without '" +
                                                   entry.id + "' there.");
      throw;
    }
  };
  DroneChanges out;
  for (const auto& drone : before)
    if (drone && !names.contains(drone->id)) out.removed.push_back(drone->id);
  try {
    for (const auto& entry : wanted) {
      const auto place = find(entry.id);
      if (!place) {
        auto psk = keys_.psk(entry.id);
        newcomers.push_back({&entry, std::move(psk), opened(entry, [&] { return data_->open_plain(entry); }), nullptr});
        if (dry_run)
          data_->try_radio(entry);
        else
          newcomers.back().wire = data_->open_radio(entry);
        if (dry_run) out.added.push_back(entry.id);
      } else if (const auto& is = before[*place]->entry;
                 !same_plain(is, entry) || !same_rules(is, entry) || !same_radio(is, entry)) {
        if (dry_run && !same_plain(is, entry)) opened(entry, [&] { data_->try_plain(is, entry); });
        if (dry_run && !same_radio(is, entry)) data_->try_radio(entry);
        if (dry_run) out.changed.push_back(entry.id);
        if (!dry_run && !same_radio(is, entry)) wires[*place] = data_->open_radio(entry);
        changed.emplace_back(*place, &entry);
      }
    }
    if (dry_run) {
      undo();
      return out;
    }
    for (std::size_t i = 0; i < changed.size(); ++i) {
      const auto [place, entry] = changed[i];
      if (same_plain(before[place]->entry, *entry)) continue;
      opened(*entry, [&] { data_->replace_plain(place, before[place]->entry, *entry); });
      moved.push_back(i);
    }
  } catch (...) {
    undo();
    for (const auto i : moved)
      data_->replace_plain(changed[i].first, *changed[i].second, before[changed[i].first]->entry);
    throw;
  }

  for (const auto& id : out.removed) {
    const auto place = *find(id);
    {
      // From here on its M1 is that of a stranger.
      const std::lock_guard lock(drones_mutex_);
      by_id_.erase(id);
    }
    data_->remove_link(place);
    const std::lock_guard lock(drones_mutex_);
    drones_[place]->psk.reset();  // wipes it, whoever still holds the rest
    drones_[place].reset();
  }
  for (const auto& [place, entry] : changed) {
    if (const auto wire = wires.find(place); wire != wires.end())
      (void)data_->replace_radio(place, std::move(wire->second));
    const std::lock_guard lock(drones_mutex_);
    drones_[place]->entry = *entry;
    out.changed.push_back(entry->id);
  }
  std::size_t place = 0;
  for (auto& each : newcomers) {
    place = free_place(place);
    // The link first: who is known may send M1 at once.
    if (!data_->add_link(place, *each.entry, std::move(each.plain), std::move(each.wire)))
      throw TunnelError(Errc::state, kShutDown);
    auto drone = std::make_shared<Drone>(*each.entry, std::move(each.psk), events_);
    const std::lock_guard lock(drones_mutex_);
    if (place == drones_.size()) drones_.emplace_back();
    drones_[place] = std::move(drone);
    by_id_[each.entry->id] = place;
    out.added.push_back(each.entry->id);
  }
  data_->post([this, count = wanted.size()] { server_->set_drones(count); });
  return out;
}

}  // namespace pqcmav
