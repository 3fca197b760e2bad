// SPDX-License-Identifier: Apache-2.0
#include "relay/relay_table.hpp"

#include <algorithm>

#include "constants.hpp"
#include "net/handshake_port.hpp"
#include "session/compact_header.hpp"

namespace pqcmav {
namespace {

constexpr unsigned kHop = 16, kFirstTtl = 3 * kHop;

/// By their first byte (docs/protocol.md section 3): a packet of a session, of either end.
bool is_packet(ByteView datagram) noexcept {
  const bool long_header = (datagram[0] & 0x0f) == kVersion && datagram[0] >> 4 <= int(FrameType::bundle);
  return long_header || is_compact(datagram);
}
bool of_drone(ByteView datagram) noexcept {
  return !datagram.empty() && (is_packet(datagram) || datagram[0] == kFromDroneType);
}
/// Whoever sends a packet of no session gets a RESTART: that lets nobody in.
bool is_for_anybody(ByteView datagram) noexcept { return datagram[0] == kRetryType || datagram[0] == kRestartType; }
bool of_gcs(ByteView datagram) noexcept {
  return !datagram.empty() && (is_packet(datagram) || datagram[0] == kFromGcsType || is_for_anybody(datagram));
}

}  // namespace

RelayTable::RelayTable(std::vector<Network> from, std::uint32_t kbit)
    : from_(std::move(from)), bits_per_s_(std::uint64_t{kbit} * 1000) {
  const auto burst = static_cast<std::int64_t>(bits_per_s_ / 8 * kBurst / kS);
  for (auto& place : places_) place.share = TokenBucket(std::max(burst, kLeastBurstBytes));
  strangers_ = TokenBucket(kLeastBurstBytes);
  strangers_.set_rate(bits_per_s_ / kStrangersShare, 0);
}

std::optional<std::uint8_t> RelayTable::next_ttl(std::uint8_t ttl) noexcept {
  const auto out = std::min<unsigned>(kFirstTtl, (ttl - 1U) / kHop * kHop);
  return ttl == 0 || out == 0 ? std::nullopt : std::optional(static_cast<std::uint8_t>(out));
}

RelayTable::Up RelayTable::up(const SockAddr& client, ByteView datagram, std::uint8_t ttl, std::uint64_t now) noexcept {
  const auto ip = client.ip16();
  if (std::ranges::none_of(from_, [&](const Network& network) { return network.has(ip); })) return {Verdict::stranger};
  if (!of_drone(datagram)) return {Verdict::malformed};
  const auto next = next_ttl(ttl);
  if (!next) return {Verdict::hops};
  const auto found = place_for(client);
  if (!found) return {Verdict::full};
  auto& place = places_[*found];
  Up out{Verdict::pass, *found, place.client.empty(), *next};
  auto& bucket = place.answered ? place.share : strangers_;
  if (bucket.ready_at(datagram.size(), now) > now) return {Verdict::rate};
  bucket.spend(datagram.size());
  // An address that nobody answers does not keep its place by going on.
  if (out.fresh || place.answered) place.heard = now;
  place.client = client;
  return out;
}

RelayTable::Down RelayTable::down(std::size_t at, ByteView datagram, std::uint64_t now) noexcept {
  auto& place = places_[at];
  if (place.client.empty() || !of_gcs(datagram)) return {};
  if (is_for_anybody(datagram)) return {true, false};
  place.heard = now;
  const Down out{true, !place.answered};
  place.answered = true;
  if (out.first) share_anew(now);
  return out;
}

std::optional<std::size_t> RelayTable::expire(std::uint64_t now) noexcept {
  for (auto& place : places_) {
    if (place.client.empty() || now - place.heard < (place.answered ? kIdle : kUnanswered)) continue;
    place.client = {};
    place.answered = false;
    share_anew(now);
    return static_cast<std::size_t>(&place - places_.data());
  }
  return std::nullopt;
}

std::optional<std::size_t> RelayTable::place_for(const SockAddr& client) noexcept {
  const auto with = [&](const SockAddr& wanted) {
    return std::ranges::find_if(places_, [&](const Place& place) { return place.client == wanted; });
  };
  auto found = with(client);
  if (found == places_.end())
    found = std::ranges::find_if(places_, [](const Place& place) { return place.client.empty(); });
  if (found == places_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - places_.begin());
}

/// The answered clients have the rate in equal parts.
void RelayTable::share_anew(std::uint64_t now) noexcept {
  const auto many = std::ranges::count(places_, true, &Place::answered);
  for (auto& place : places_)
    if (place.answered) place.share.set_rate(bits_per_s_ / static_cast<std::uint64_t>(many), now);
}

}  // namespace pqcmav
