// SPDX-License-Identifier: Apache-2.0
// Whose handshake is computed next where many wait: turns between kinds of askers, then between the askers of a kind, so
// that whoever asks a hundred times waits for its own hundred and not the others with it. No threads, no clock. What may
// wait at all is for the caller to limit.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace pqcmav {

/// Kinds of askers. A stranger is who has shown a PSK and nothing else: its M1 may be a copy of somebody's, played again.
enum class Standing : std::uint8_t { session, known, stranger };
inline constexpr std::size_t kStandings = 3;

template <typename Job>
class FairQueue {
 public:
  /// `owner` is who shares its turns: a drone, or the address that a stranger's M1 came from.
  void push(Standing standing, const std::string& owner, std::uint64_t id, Job job) {
    auto& kind = kinds_[place(standing)];
    auto& own = kind.owners[owner];
    if (own.empty()) kind.ring.push_back(owner);
    own.push_back({id, std::move(job)});
    ++kind.size;
  }

  /// The next one: of eight turns while all kinds wait the sessions have five, who is known two, strangers one.
  std::optional<Job> pop() {
    for (std::size_t tried = 0; tried < kTurns.size(); ++tried) {
      auto& kind = kinds_[place(kTurns[turn_++ % kTurns.size()])];
      if (kind.size > 0) return take(kind);
    }
    return std::nullopt;
  }

  /// Takes out what nobody waits for any more.
  void drop(std::uint64_t id) {
    for (auto& kind : kinds_)
      for (auto it = kind.owners.begin(); it != kind.owners.end(); ++it) {
        const auto before = it->second.size();
        std::erase_if(it->second, [id](const auto& waiting) { return waiting.id == id; });
        if (it->second.size() == before) continue;
        kind.size -= before - it->second.size();
        if (it->second.empty()) {
          std::erase(kind.ring, it->first);
          kind.owners.erase(it);
        }
        return;
      }
  }

  void clear() { kinds_ = {}; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t out = 0;
    for (const auto& kind : kinds_) out += kind.size;
    return out;
  }
  /// How many are computed before one that comes now, at most. Others may come and have their turns meanwhile.
  [[nodiscard]] std::size_t ahead(Standing standing) const noexcept {
    const auto own = kinds_[place(standing)].size;
    const auto turns = turns_of(standing);
    std::size_t out = own;
    for (std::size_t i = 0; i < kStandings; ++i)
      if (i != place(standing))
        out += std::min(kinds_[i].size, (own + 1) * turns_of(static_cast<Standing>(i)) / turns + 1);
    return out;
  }

 private:
  static constexpr std::array<Standing, 8> kTurns = {Standing::session, Standing::known,    Standing::session,
                                                     Standing::session, Standing::stranger, Standing::session,
                                                     Standing::known,   Standing::session};
  struct Waiting {
    std::uint64_t id;
    Job job;
  };
  struct Kind {
    std::unordered_map<std::string, std::deque<Waiting>> owners;  // none of them empty
    std::deque<std::string> ring;                                 // in the order of their turns
    std::size_t size = 0;
  };

  static constexpr std::size_t place(Standing standing) noexcept { return static_cast<std::size_t>(standing); }
  static constexpr std::size_t turns_of(Standing standing) noexcept {
    return static_cast<std::size_t>(std::count(kTurns.begin(), kTurns.end(), standing));
  }

  Job take(Kind& kind) {
    auto owner = std::move(kind.ring.front());
    kind.ring.pop_front();
    const auto it = kind.owners.find(owner);
    auto job = std::move(it->second.front().job);
    it->second.pop_front();
    --kind.size;
    if (it->second.empty())
      kind.owners.erase(it);
    else
      kind.ring.push_back(std::move(owner));
    return job;
  }

  std::array<Kind, kStandings> kinds_;
  std::size_t turn_ = 0;
};

}  // namespace pqcmav
