// SPDX-License-Identifier: Apache-2.0
#include "fleet.hpp"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <ranges>
#include <sstream>

#include "crypto/kdf.hpp"
#include "keys/gcs_psk.hpp"
#include "keys/key_folders.hpp"
#include "mavlink_messages.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav::fleet {
namespace {

constexpr std::size_t kSlots = 32, kLargestDatagram = 2'048;
// A limit, and no memory before something waits: the longest flight of a gcs, which are some datagrams of a handshake,
// has room however late this thread is.
constexpr std::size_t kBufferKib = 128;
constexpr std::size_t kBeside = 64;       // descriptors that are no drone's
constexpr std::size_t kPerNetwork = 250;  // addresses used of the last byte
constexpr std::uint64_t kSecondNs = 1'000'000'000, kMillisecondNs = 1'000'000;
constexpr std::uint64_t kGroundTag = ~std::uint64_t{0}, kCommandTag = kGroundTag - 1, kSignalTag = kGroundTag - 2;

/// The folders of the drones, the first `count` by name.
std::vector<std::filesystem::path> drone_folders(const std::string& keys, std::size_t count) {
  std::vector<std::filesystem::path> out;
  std::error_code failed;
  for (const auto& each : std::filesystem::directory_iterator(keys + "/drones", failed))
    if (each.is_directory()) out.push_back(each.path());
  if (failed)
    throw TunnelError(Errc::key_missing, "Cannot read " + keys + "/drones: " + failed.message() +
                                             ". '--keys' is the folder that 'pqcmav keys init' made.");
  if (out.size() < count)
    throw TunnelError(Errc::key_missing, keys + "/drones has keys of " + std::to_string(out.size()) +
                                             " drones, which is fewer than '--drones' asks for.");
  std::ranges::sort(out);
  out.resize(count);
  return out;
}

Endpoint endpoint_of(const std::string& text, const char* option) {
  auto out = parse_endpoint(text);
  if (!out)
    throw TunnelError(Errc::config_invalid, std::string(option) + " '" + text + "' is no address" + kWriteHostPort);
  return *out;
}

DroneRules rules_of(const FleetOptions& options, const std::filesystem::path& folder) {
  const auto gcs = endpoint_of(options.gcs, "--gcs");
  FlatConfig values{{"role", "drone"},
                    {"keys", folder.string()},
                    {"drone_id", folder.filename().string()},
                    {"peer", gcs.host},
                    {"data_port", std::int64_t{gcs.port}},
                    {"rekey_interval_s", options.rekey_s}};
  DroneRules out;
  for (const auto part : std::views::split(options.suites, ',')) {
    out.suites.push_back(&require_suite(std::string_view(part.begin(), part.end())));
    if (out.suites.back()->sig != out.suites.front()->sig)
      throw TunnelError(Errc::config_invalid,
                        "The suites of '--suites' have several signatures. A drone of the fleet "
                        "keeps the keys of one: name suites that end alike.");
  }
  if (!out.suites.empty()) values["suite"] = out.suites.front()->id;
  out.config = EngineConfig::from_flat(values);
  out.gcs = resolve(gcs.host, gcs.port, false, SOCK_DGRAM);
  out.gcs_public_key = DroneKeys(folder).gcs_public(*out.config.suite->sig);
  return out;
}

/// Stopping by a signal is as by a command.
Fd stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  return Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

void watch(const Fd& epoll, int descriptor, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  // What epoll cannot watch is a plain file, as at the end of a pipe that nobody writes to.
  (void)::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &event);
}

}  // namespace

Fleet::Fleet(const FleetOptions& options)
    : options_(options),
      timers_(options.drones),
      messages_(options.drones),
      in_(kSlots, kLargestDatagram, 0, 0, true),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      signals_(stop_signals()) {
  const auto folders = drone_folders(options.keys, options.drones);
  rules_ = rules_of(options, folders.front());
  const auto& gcs_id = rules_.config.peers.front().gcs_id;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const auto id = folders[i].filename().string();
    const DroneKeys keys(folders[i], id);
    identities_.push_back({i, id, psk_of_gcs(keys.psk(), gcs_id), keys.own_secret(*rules_.config.suite->sig)});
  }
  if (!options.ground.empty()) {
    const auto at = endpoint_of(options.ground, "--ground");
    ground_.emplace(resolve(at.host, at.port, true, SOCK_DGRAM), options.drones);
    watch(epoll_, ground_->descriptor(), kGroundTag);
  }
  if (!options.events.empty()) {
    events_.open(options.events, std::ios::trunc);
    if (!events_) throw TunnelError(Errc::io, "Cannot write '" + options.events + "': " + system_reason(errno) + ".");
  }
  open_sockets(options.drones);
  watch(epoll_, STDIN_FILENO, kCommandTag);
  watch(epoll_, signals_.get(), kSignalTag);
}

void Fleet::open_sockets(std::size_t count) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < count + kBeside)
    throw TunnelError(Errc::io, std::to_string(count) + " drones need as many descriptors, and this process may have " +
                                    std::to_string(limit.rlim_cur) + " ('ulimit -n').");
  members_.resize(count);
  const bool loopback = rules_.gcs.loopback() && rules_.gcs.family() == AF_INET;
  for (std::size_t i = 0; i < count; ++i) {
    const auto network = i / kPerNetwork;
    const auto own = "127." + std::to_string(1 + network / 256) + "." + std::to_string(network % 256) + "." +
                     std::to_string(1 + i % kPerNetwork);
    const auto* any = rules_.gcs.family() == AF_INET ? "0.0.0.0" : "::";
    const auto at = resolve(loopback ? own : any, 0, true, SOCK_DGRAM);
    members_[i].socket = open_udp(at, {kBufferKib, -1, false}, "a drone of the fleet (UDP)");
    watch(epoll_, members_[i].socket.get(), i);
  }
}

void Fleet::make_drones(std::uint64_t now) {
  DroneWorld& world = *this;
  const auto count = identities_.size();
  message_ns_ = options_.rate > 0 ? to_ns(1.0 / options_.rate) : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto begins = now + to_ns(options_.spread_s * static_cast<double>(i) / static_cast<double>(count));
    members_[i].drone = std::make_unique<FleetDrone>(rules_, tally_, world, std::move(identities_[i]),
                                                     random_number<std::uint32_t>(), begins);
    schedule(i);
    // Spread over one period, so that the drones do not speak in step.
    if (message_ns_ != 0) messages_.set(i, begins + message_ns_ * i / count);
  }
  identities_.clear();
}

void Fleet::run(const std::function<void(const std::string&)>& report) {
  began_ns_ = now_ns();
  make_drones(began_ns_);
  const auto end = options_.seconds > 0 ? began_ns_ + to_ns(options_.seconds) : TimerHeap::kNever;
  auto next_report = began_ns_ + kSecondNs;
  // All that have something: what came late for want of time is read before a timer counts it as lost.
  std::vector<epoll_event> ready(members_.size() + kBeside);
  for (auto now = began_ns_; !stopping_ && now < end; now = now_ns()) {
    do_due(now);
    if (now >= next_report) {
      report(line(now));
      next_report += (now - next_report) / kSecondNs * kSecondNs + kSecondNs;
    }
    const auto most = std::min(next_report, end);
    const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), wait_ms(now_ns(), most));
    for (int i = 0; i < count; ++i) {
      const auto tag = ready[static_cast<std::size_t>(i)].data.u64;
      if (tag == kGroundTag)
        ground_->read();
      else if (tag == kCommandTag)
        read_commands();
      else if (tag == kSignalTag)
        stopping_ = true;
      else
        read_socket(tag, now_ns());  // handshakes of those before it took their time
    }
  }
  report(line(now_ns()));
}

/// Whole milliseconds, as epoll counts: a timer may ring by so much too late.
int Fleet::wait_ms(std::uint64_t now, std::uint64_t most_ns) {
  const auto next = std::min({timers_.next(), messages_.next(), most_ns});
  return next <= now ? 0 : static_cast<int>((next - now + kMillisecondNs - 1) / kMillisecondNs);
}

void Fleet::do_due(std::uint64_t now) {
  while (const auto rung = timers_.take(now)) {
    latest_ns_ = std::max(latest_ns_, now - rung->first);
    members_[rung->second].drone->run(now_ns());
    schedule(rung->second);
  }
  while (const auto rung = messages_.take(now)) {
    if (!hushed_) say_message(rung->second, now);
    messages_.set(rung->second, rung->first + message_ns_);
  }
}

void Fleet::say_message(std::size_t number, std::uint64_t now) {
  std::array<std::uint8_t, kMessageLargest> room;
  auto& member = members_[number];
  const MessageName name{static_cast<std::uint32_t>(number), member.messages++};
  member.drone->say(write_message(room, options_.size, name), now);
}

void Fleet::read_socket(std::size_t number, std::uint64_t now) {
  auto& member = members_[number];
  const auto got = in_.receive(member.socket.get());
  for (std::size_t i = 0; i < got; ++i) {
    const auto slot = in_.slot(i);
    if (cut_off_)
      ++cut_;
    else
      member.drone->on_datagram(slot.bytes, in_.source(i), now);
  }
  schedule(number);
}

void Fleet::send(std::size_t drone, ByteView datagram) {
  if (cut_off_)
    ++cut_;
  else if (!send_one(members_[drone].socket.get(), datagram, rules_.gcs))
    ++send_errors_;
}

/// Words on a line each: "cut" and "restore" for all drones' links, "hush" and "speak" for their messages, "stop".
void Fleet::read_commands() {
  std::array<char, 256> text;
  const auto got = ::read(STDIN_FILENO, text.data(), text.size());
  if (got <= 0) {
    (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, STDIN_FILENO, nullptr);
    return;
  }
  std::istringstream words(std::string(text.data(), static_cast<std::size_t>(got)));
  for (std::string word; words >> word;) {
    if (word == "cut") cut_off_ = true;
    if (word == "restore") cut_off_ = false;
    if (word == "hush" || word == "speak") hushed_ = word == "hush";
    if (word == "stop") stopping_ = true;
  }
}

}  // namespace pqcmav::fleet
