// SPDX-License-Identifier: Apache-2.0
// What a fleet tells of itself: a line a second, and one for each event.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fleet.hpp"

namespace pqcmav::fleet {
namespace {

using Json = nlohmann::json;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}
double seconds_of(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

template <std::size_t N>
Json not_zero(const std::array<std::uint64_t, N>& counts, const std::array<const char*, N>& names) {
  auto out = Json::object();
  for (std::size_t i = 0; i < N; ++i)
    if (counts[i] != 0) out[names[i]] = counts[i];
  return out;
}

Json json_of(const Outcomes& outcomes) { return {{"done", outcomes.done}, {"failed", outcomes.failed}}; }

Json json_of(const GroundSink::Counts& counts) {
  return {{"received", counts.received},
          {"again", counts.again},
          {"spoiled", counts.spoiled},
          {"mixed_up", counts.mixed_up},
          {"answered", counts.answered},
          {"send_errors", counts.send_errors},
          {"kernel_dropped", counts.kernel_dropped}};
}

std::uint64_t resident_kib() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t whole = 0, resident = 0;
  file >> whole >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

}  // namespace

/// Counts since the start; "late_ms" is how late a timer was at most since the line before: a fleet that is late is
/// limited by itself.
std::string Fleet::line(std::uint64_t now) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto connected = static_cast<std::size_t>(
      std::ranges::count_if(members_, [](const Member& each) { return each.drone->connected(); }));
  for (auto& each : members_) kernel_dropped_ += each.drops.more(each.socket.get());
  static constexpr std::array<const char*, kDropKinds> kDrops{"malformed", "unknown",   "seq_old",
                                                              "replay",    "auth_fail", "decrypt_fail"};
  static constexpr std::array<const char*, kHandshakeDropKinds> kHandshakes{"taken", "repeated", "malformed", "unknown",
                                                                            "tag",   "gate",     "replay",    "limit"};
  Json out{{"t", seconds_of(now)},
           {"s", seconds_of(now - began_ns_)},
           {"connected", connected},
           {"connecting", members_.size() - connected},
           {"first", json_of(tally_.first)},
           {"rekeys", json_of(tally_.rekeys)},
           {"packets",
            {{"sent", tally_.packets_sent},
             {"handshake_datagrams_sent", tally_.handshake_datagrams_sent},
             {"received", tally_.received},
             {"delivered", tally_.delivered},
             {"control", tally_.control},
             {"lost", tally_.skipped - tally_.late},
             {"send_errors", send_errors_},
             {"cut", cut_},
             {"kernel_dropped", kernel_dropped_},
             {"drops", not_zero(tally_.drops, kDrops)},
             {"handshakes", not_zero(tally_.handshakes, kHandshakes)}}},
           {"messages",
            {{"sent", tally_.messages_sent},
             {"unsent", tally_.messages_unsent},
             {"received", tally_.messages_received},
             {"mixed_up", tally_.messages_mixed_up}}},
           {"cpu_s", {{"user", seconds_of(used.ru_utime)}, {"system", seconds_of(used.ru_stime)}}},
           {"rss_kib", resident_kib()},
           {"late_ms", static_cast<double>(std::exchange(latest_ns_, 0)) / 1e6}};
  if (ground_) out["ground"] = json_of(ground_->counts());
  if (events_.is_open()) events_.flush();
  return out.dump();
}

void Fleet::happened(std::size_t drone, const DroneEvent& event, std::uint64_t now) {
  if (!events_.is_open()) return;
  Json out{{"t", seconds_of(now)}, {"drone", drone}, {"event", to_string(event.what)}};
  if (!event.why.empty()) out["why"] = event.why;
  if (event.took_ns != 0) out["took_s"] = seconds_of(event.took_ns);
  if (event.since_ns != 0) out["since_lost_s"] = seconds_of(event.since_ns);
  events_ << out.dump() << '\n';
}

}  // namespace pqcmav::fleet
