// SPDX-License-Identifier: Apache-2.0
// A drone with several ways to its ground station (docs/paths.md): packets take one of them, and another one when that
// falls silent, in the same session.
#include <array>
#include <cstdio>
#include <utility>

#include "net/data_plane.hpp"

namespace pqcmav {
namespace {

std::string tenths(std::uint64_t ns) {
  std::array<char, 32> out{};
  (void)std::snprintf(out.data(), out.size(), "%.1f s", static_cast<double>(ns) / 1e9);
  return out.data();
}

}  // namespace

void DataPlane::count_sent(const SockAddr& to, std::size_t packets, std::size_t bytes) noexcept {
  if (paths_) paths_->count_sent(to.path, packets, bytes);
}

/// Whatever belongs to the way that packets take now: where that is a radio its bundles and its rate, elsewhere those of
/// the configuration.
void DataPlane::settle_on_peer(Link& link, std::uint64_t now) {
  if (paths_)
    if (auto wire = paths_->wire(link.peer.path)) (void)link.exchange_wire(std::move(wire));
  const auto* radio = link.by_wire() ? &link.wire->radio().settings() : nullptr;
  const auto wait_ns = (radio != nullptr ? radio->bundle_ms : config_.bundle_ms) * 1'000'000;
  const auto bytes = radio != nullptr ? radio->bundle_bytes : config_.bundle_bytes;
  if (wait_ns != link.bundler.wait_ns() || bytes != link.bundler.most()) {
    send_bundle(link, now);
    send_sealed(link);  // the bytes are the bundler's
    std::erase(bundling_, &link);
    link.bundling = false;
    link.bundler = Bundler(wait_ns, bytes);
    bundles_ = bundles_ || link.bundler.on();
  }
  shape_link(link, rate_of(link, now), now);
}

void DataPlane::heard_by_path(const Link& link, const SockAddr& source, std::size_t size, std::uint64_t now) {
  paths_->count_came(source.path, size);
  paths_->choice().heard(source.path, now);
  if (source.path != link.peer.path) choose_path(now);
}

/// Ten times a second.
void DataPlane::tend_paths(std::uint64_t now) {
  for (const auto path : paths_->tend(now)) watch_path(path);
  auto& link = *links_[0];
  auto& choice = paths_->choice();
  if (!link.session.can_send() || link.peer.empty()) choice.end();
  choose_path(now);
  tell_paths(now);
  for (std::size_t i = 0; i < paths_->count(); ++i) {
    const auto& to = paths_->peer(i);
    if (to.empty() || !choice.probe_due(i, now)) continue;
    send_control_to(link, &to, OneControl(paths_->ask(i, now_ns())), now);
  }
  paths_->publish(now);
}

void DataPlane::choose_path(std::uint64_t now) {
  const auto& choice = paths_->choice();
  const auto to = choice.next(now);
  if (!to || paths_->peer(*to).empty()) return;
  const auto from = *choice.active();
  const auto state = choice.state(from, now);
  const auto& name = paths_->entry(from).name;
  take_path(*to,
            state == PathChoice::State::off ? "'" + name + "' was switched off"
            : state == PathChoice::State::dead
                ? "'" + name + "' has not answered for " + tenths(choice.silence(from, now))
                : "'" + paths_->entry(*to).name + "' answers, and comes before it",
            now);
}

/// The ground station is told by each path, a standby by the one that its packets take; and both again with each control
/// frame until they answer.
void DataPlane::tell_paths(std::uint64_t now) {
  paths_->refresh_word(now);
  const auto& word = paths_->word();
  for (auto& link : links_) {
    if (!link->session.agreed(features::kPaths) || !link->session.can_send() || word.serial == 0 ||
        link->paths_told == word.serial)
      continue;
    link->paths_told = word.serial;
    link->announcements.put(Announcements::of(word));
    const OneControl told(word);
    link == links_[0] ? send_control_by_all(*link, told, now) : send_control_now(*link, told, now);
  }
}

/// A standby's few packets go by the path that those of the active station take.
void DataPlane::lead_standby(std::uint8_t path, std::uint64_t now) {
  if (!has_standby_link() || links_[1]->peer.empty()) return;
  links_[1]->peer.path = path;
  links_[1]->next_probe_ns = now;
}

/// What waits goes on by the new path.
void DataPlane::take_path(std::size_t path, const std::string& why, std::uint64_t now) {
  auto& link = *links_[0];
  const auto before = link.peer.path;
  paths_->choice().moved(path, now);
  paths_->count_taken(path);
  link.peer = paths_->peer(path);
  link.probes.forget_least();
  if (link.finder) *link.finder = {};  // what it found is another way's
  settle_on_peer(link, now);
  paths_->tell_move(before, path, why);
  tell_paths(now);
  send_control_now(link, OneControl(paths_->ask(path, now_ns())), now, true);
  lead_standby(link.peer.path, now);
  paths_->publish(now);
  changed(0, now);
}

void DataPlane::know_paths(std::vector<SockAddr> addresses) {
  post([this, addresses = std::move(addresses)] {
    for (const auto& each : addresses) paths_->set_peer(each);
  });
}

bool DataPlane::use_path(std::size_t path, PathWord word) {
  return ask([this, path, word] {
    auto& choice = paths_->choice();
    if (word == PathWord::first)
      choice.prefer(path);
    else if (!choice.use(path, word == PathWord::on))
      return false;
    const auto now = now_ns();
    choose_path(now);
    tell_paths(now);
    paths_->publish(now);
    return true;
  });
}

}  // namespace pqcmav
