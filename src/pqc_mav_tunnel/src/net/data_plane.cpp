// SPDX-License-Identifier: Apache-2.0
#include "net/data_plane.hpp"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "crypto/wipe_stack.hpp"
#include "net/handshake_relay.hpp"
#include "net/timer.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"
#include "thread.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kPlainSlots = 64;
constexpr std::size_t kEncryptedSlots = 64, kGroSlots = 16, kGroCapacity = 65535;
// After a round of so many datagrams that left none behind, more are on their way: let them gather for a moment. At
// high rates the fixed costs of a round (wake-up, system calls, one GSO run) are shared by twice as many datagrams; a
// link of ordinary telemetry never gets here.
constexpr std::size_t kCrowd = 8;
constexpr std::uint64_t kGatherNs = 150'000;
constexpr std::uint64_t kTickNs = 100'000'000;
const std::string kEncryptedPurpose = "encrypted packets (UDP)";
// epoll tags below the plain sockets' indices.
constexpr std::uint32_t kWake = 0, kTimer = 1, kEncrypted = 2, kHandshakeTimer = 3, kShapeTimer = 4, kBundleTimer = 5,
                        kTap = 6, kSnapshot = 7, kFirstPath = 8, kFirstPlain = kFirstPath + kPathsMost;

}  // namespace

DataPlane::DataPlane(const EngineConfig& config, EventQueue& events, ControlHooks hooks, DataPlane* first)
    : config_(config.lean()),
      events_(events),
      hooks_(std::move(hooks)),
      first_(first),
      epoll_(made_fd(::epoll_create1(EPOLL_CLOEXEC), "an epoll descriptor")),
      wake_(event_descriptor()),
      timer_(made_fd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "a timer")),
      handshake_timer_(made_fd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "a timer")),
      shape_timer_(made_fd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "a timer")),
      bundle_timer_(made_fd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "a timer")),
      plain_in_(kPlainSlots, config.max_payload, kHeaderSize, kTagSize, true),
      encrypted_in_(config.gso ? kGroSlots : kEncryptedSlots,
                    config.gso ? kGroCapacity : std::max<std::size_t>(2048, config.max_payload + kOverhead), 0, 0,
                    true),
      encrypted_out_(false),
      plain_out_(false) {
  bundles_ = config_.bundle_ms != 0;
  open_encrypted();
  encrypted_out_ = UdpSender(config_.gso && supports_gso());
  watch(wake_.get(), kWake);
  watch(timer_.get(), kTimer);
  watch(handshake_timer_.get(), kHandshakeTimer);
  watch(shape_timer_.get(), kShapeTimer);
  watch(bundle_timer_.get(), kBundleTimer);
  if (encrypted_) watch(encrypted_.get(), kEncrypted);
}

DataPlane::DataPlane(const EngineConfig& config, EventQueue& events, ControlHooks hooks)
    : DataPlane(config, events, std::move(hooks), nullptr) {
  const bool drone = config_.role == Role::drone;
  for (std::size_t i = 1; i < config_.data_threads; ++i)
    others_.push_back(std::unique_ptr<DataPlane>(new DataPlane(config, events, hooks_, this)));

  auto entries = config.drones;
  if (drone)
    entries = {
        DroneEntry{config_.drone_id, config_.plain_bind, config_.plain_peer, config_.plain_endpoints, false, {}}};
  if (drone) entries.front().radio = config_.peers.front().radio;
  air_ = std::make_unique<AirSide>(drone, local_, events_);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto wire = open_radio(entries[i]);
    put_link(i, make_link(i, entries[i], open_plain(entries[i]), std::move(wire)));
  }
  if (paths_) {
    paths_->open_radios(*air_, config_.drone_id);
    (void)links_[0]->exchange_wire(air_->first());
    paths_->publish(now_ns());
    for (std::size_t i = 0; i < paths_->count(); ++i) watch_path(i);
  }
  if (drone && config_.standby && config_.peers.size() > 1) {
    links_.push_back(std::make_shared<Link>(config_.drone_id, true, session_timers(config_), config_.replay_window));
    links_.back()->station = kNoStation;
  }
  // A run towards a local UDP socket that did not ask for runs arrives as single datagrams; that has nothing to do with
  // what the air's network can.
  const bool runs = std::ranges::all_of(entries, [](const auto& entry) { return entry.plain_endpoints.empty(); });
  for_each_plane([&](DataPlane& plane) {
    plane.plain_out_ = UdpSender(runs && supports_gso());
    plane.shape_now(config_.shape_kbit, config_.shape_auto, now_ns());
    plane.bundling_.reserve(links_.size());
  });
  if (drone && !config_.plain_tap.empty()) {
    const auto to = resolve_endpoint(config_.plain_tap, "plain_tap");
    check_plain_addresses("", links_[0]->plain_local, links_[0]->plain_peer, to);
    tap_ = std::make_unique<PlainTap>(to, kPlainSlots, config_.max_payload);
  }
  if (tap_ && config_.plain_tap_requests) watch(tap_->socket().get(), kTap);
  for (std::size_t i = 0; i < link_count(); ++i) owner(i).watch_plain(i);
  if (snapshots_.emplace().fd() >= 0) watch(snapshots_->fd(), kSnapshot);
  publish_links();
}

/// With several threads each has a socket at the same address. To be told of another program there, the address is tried
/// alone first: sockets that share one do not get into each other's way.
void DataPlane::open_encrypted() {
  const bool drone = config_.role == Role::drone;
  if (drone && !config_.paths.empty()) {
    paths_ = std::make_unique<DronePaths>(config_, events_);
    paths_->open_sockets();
    return;
  }
  UdpOptions options{config_.socket_buffer_kib, config_.dscp, config_.gso, true};
  if (drone && config_.peers.front().radio) {
    encrypted_ = open_udp(resolve("127.0.0.1", 0, true, SOCK_DGRAM), options, kEncryptedPurpose, &gro_);
  } else if (drone) {
    encrypted_ = open_drone(config_.local_data_port);
  } else if (first_ != nullptr) {
    options.shared = true;
    encrypted_ = open_udp(first_->local_, options, kEncryptedPurpose, &gro_);
  } else {
    auto where = resolve(config_.bind, config_.data_port, true, SOCK_DGRAM);
    if (config_.data_threads > 1) {
      where = local_address(open_udp(where, options, kEncryptedPurpose));
      options.shared = true;
    }
    encrypted_ = open_udp(where, options, kEncryptedPurpose, &gro_);
    if (options.shared) steer_packets(encrypted_, config_.data_threads);
  }
  local_ = local_address(encrypted_);
  port_ = local_.port();
}

Fd DataPlane::open_drone(std::uint16_t port) {
  const UdpOptions options{config_.socket_buffer_kib, config_.dscp, config_.gso, true};
  // The name of a drone's peer may resolve only after the network is there, and to addresses of either kind.
  const bool both =
      config_.bind.empty() && !std::ranges::all_of(config_.peers, [](const auto& each) { return is_ipv4(each.host); });
  return both ? open_udp_both(port, options, kEncryptedPurpose, &gro_)
              : open_udp(resolve(config_.bind, port, true, SOCK_DGRAM), options, kEncryptedPurpose, &gro_);
}

/// Whatever lies in the old socket is lost: it is for a drone that nobody answers.
void DataPlane::change_port() {
  post([this] {
    if (paths_) {
      for (const auto path : paths_->change_ports()) watch_path(path);
      return;
    }
    if (config_.peers.front().radio) return;
    const auto known = config_.local_data_port, next = port_ == known ? std::uint16_t{0} : known;
    for (const std::uint16_t port : {next, std::uint16_t{0}}) {  // somebody may have the known one meanwhile
      try {
        encrypted_ = open_drone(port);
      } catch (const TunnelError&) {
        continue;
      }
      port_ = local_address(encrypted_).port();
      kernel_drops_ = {};
      return watch(encrypted_.get(), kEncrypted);
    }
  });
}

void DataPlane::watch(int fd, std::uint32_t tag) const {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = tag;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    throw TunnelError(Errc::io, "Cannot watch a socket: " + system_reason(errno) + ".");
}

void DataPlane::watch_path(std::size_t path) const {
  if (const int fd = paths_->socket(path); fd >= 0) watch(fd, kFirstPath + static_cast<std::uint32_t>(path));
}

void DataPlane::watch_plain(std::size_t index) const {
  watch(links_[index]->plain.get(), kFirstPlain + static_cast<std::uint32_t>(index));
}

DataPlane::~DataPlane() { stop(); }

void DataPlane::start() {
  {
    const std::lock_guard lock(tasks_mutex_);
    accepting_ = true;
  }
  {
    const std::lock_guard lock(side_mutex_);
    side_runs_ = true;
    if (side_) side_->start();
  }
  air_->start();
  for_each_plane([](DataPlane& plane) { plane.begin(); });
}

void DataPlane::begin() {
  itimerspec period{};
  period.it_interval.tv_nsec = period.it_value.tv_nsec = static_cast<long>(kTickNs);
  ::timerfd_settime(timer_.get(), 0, &period, nullptr);
  thread_ = std::thread([this] {
    name_this_thread("pqc-data");
    run();
    wipe_stack();
  });
}

void DataPlane::end() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  ring(wake_);
  thread_.join();
}

void DataPlane::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(tasks_mutex_);
    accepting_ = false;
  }
  for (auto& other : others_) other->end();
  end();
  run_tasks();  // accepted before the end: their callers wait
  {
    const std::lock_guard lock(side_mutex_);
    side_runs_ = false;
    if (side_) side_->stop();
  }
  const auto now = now_ns();
  for (auto& link : links_) {
    if (!link) continue;
    send_control_now(*link, OneControl(Close{1}), now);
    link->session.wipe();
    link->publish(now);
    link->plain.reset();
  }
  air_->stop();  // what was said last has left by then
  for_each_plane([](DataPlane& plane) {
    plane.encrypted_.reset();
    if (plane.paths_) plane.paths_->close();
  });
  wipe_stack();
}

bool DataPlane::post(Task task) {
  {
    const std::lock_guard lock(tasks_mutex_);
    if (!accepting_) return false;
    tasks_.push_back(std::move(task));
  }
  ring(wake_);
  return true;
}

void DataPlane::run_tasks() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(tasks_mutex_);
    tasks.swap(tasks_);
  }
  for (auto& task : tasks) task();
}

void DataPlane::run() {
  std::array<epoll_event, 64> ready{};
  const auto spin_ns = static_cast<std::uint64_t>(config_.busy_poll_us) * 1000;
  std::uint64_t spin_until = 0, key_changes = 0;
  std::unique_lock turn(turn_, std::defer_lock);
  while (!stopping_.load(std::memory_order_relaxed)) {
    const bool spin = spin_ns != 0 && now_ns() < spin_until;
    const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), spin ? 0 : -1);
    if (count <= 0) continue;
    if (first_ != nullptr) {
      while (wanted_.load(std::memory_order_relaxed) != 0) std::this_thread::yield();
      turn.lock();
    }
    const auto now = now_ns();
    const auto round = work(std::span(ready).first(static_cast<std::size_t>(count)), now);
    if (first_ != nullptr) turn.unlock();
    // OpenSSL's ChaCha20 copies the key to the stack, and only a packet of the same length would write over it.
    if (const auto all = first().key_changes_.load(std::memory_order_relaxed); all != key_changes) {
      key_changes = all;
      wipe_stack();
    }
    if (round.traffic) spin_until = now + spin_ns;
    if (spin_ns == 0 && round.datagrams >= kCrowd && !round.more) {
      const timespec moment{0, static_cast<long>(kGatherNs)};
      ::nanosleep(&moment, nullptr);
    }
  }
}

/// All that is ready, and what is due besides.
DataPlane::Round DataPlane::work(std::span<const epoll_event> ready, std::uint64_t now) {
  Round round;
  // Before anything is sealed under keys that may live twice.
  if (std::ranges::any_of(ready, [](const auto& event) { return event.data.u32 == kSnapshot; }) && snapshots_->told())
    on_set_back(now);
  for (const auto& event : ready) {
    switch (const auto tag = event.data.u32; tag) {
      case kWake: {
        drain(wake_);
        run_tasks();
        break;
      }
      case kTimer: {
        drain(timer_);
        tick(now);
        break;
      }
      case kHandshakeTimer: {
        drain(handshake_timer_);
        break;  // what is due is done below
      }
      case kShapeTimer: {
        drain(shape_timer_);
        send_due_shaped(now);
        break;
      }
      case kBundleTimer: {
        drain(bundle_timer_);
        break;  // what is due is done below
      }
      case kEncrypted:
        round.traffic = true;
        read_encrypted(encrypted_.get(), 0, now, round);
        break;
      case kTap: pass_requests(now); break;
      case kSnapshot: break;  // done above
      default:
        round.traffic = true;
        if (tag < kFirstPlain)
          read_encrypted(paths_->socket(tag - kFirstPath), static_cast<std::uint8_t>(tag - kFirstPath), now, round);
        else
          read_plain(tag - kFirstPlain, now, round);
    }
  }
  if (handshakes_ != nullptr && handshakes_->deadline() <= now) handshakes_->run(now);
  arm_handshakes();
  if (bundles_) {
    send_due_bundles(now);
    arm_bundles();
  }
  if (shaping_) arm_shaping(now);
  return round;
}

/// Rings when the handshakes are due next.
void DataPlane::arm_handshakes() noexcept {
  if (handshakes_ != nullptr) arm(handshake_timer_, handshakes_->deadline(), armed_ns_);
}

/// Rings when the first of what waits for company has waited long enough.
void DataPlane::arm_bundles() noexcept {
  auto due = Bundler::kNever;
  std::erase_if(bundling_, [](Link* link) { return !(link->bundling = !link->bundler.empty()); });
  for (const auto* link : bundling_) due = std::min(due, link->bundler.due());
  arm(bundle_timer_, due, bundles_armed_ns_);
}

}  // namespace pqcmav
