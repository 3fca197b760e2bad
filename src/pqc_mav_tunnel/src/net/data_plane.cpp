#include "net/data_plane.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <future>

#include "pqc_mav_tunnel/error.hpp"
#include "thread.hpp"

namespace pqcmav {
namespace {

constexpr std::size_t kPlainSlots = 64;
constexpr std::size_t kEncryptedSlots = 64, kGroSlots = 16, kGroCapacity = 65535;
// After a round of so many datagrams that left none behind, more are on their way: let them gather for a moment. At high rates the fixed costs of a round (wake-up,
// system calls, one GSO run) are shared by twice as many datagrams; a link of ordinary telemetry never gets here.
constexpr std::size_t kCrowd = 8;
constexpr std::uint64_t kGatherNs = 150'000;
constexpr std::uint64_t kInstallNs = 50'000;
constexpr std::uint64_t kTickNs = 100'000'000, kLogEveryNs = 60'000'000'000;
// epoll tags below the plain sockets' indices.
constexpr std::uint32_t kWake = 0, kTimer = 1, kEncrypted = 2, kFirstPlain = 3;

std::uint64_t key_of(const SessionId& id) noexcept { return load_be<std::uint64_t>(id.data()); }
std::uint64_t ns(double s) noexcept { return static_cast<std::uint64_t>(s * 1e9); }
constexpr std::uint64_t ns(nanoseconds duration) noexcept { return static_cast<std::uint64_t>(duration.count()); }

SessionTimers timers_of(const EngineConfig& config) {
  return {ns(config.degraded_after_s), ns(config.session_limit_s), ns(config.grace_s), ns(kUnusedKeyLimit)};
}

Fd checked(int fd, const char* what) {
  if (fd < 0) throw TunnelError(Errc::io, std::string("Cannot create ") + what + ": " + std::generic_category().message(errno) + ".");
  return Fd(fd);
}

}  // namespace

DataPlane::DataPlane(const EngineConfig& config, EventQueue& events, ControlHooks hooks)
    : config_(config),
      events_(events),
      hooks_(std::move(hooks)),
      epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "an epoll descriptor")),
      wake_(checked(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "an event descriptor")),
      timer_(checked(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "a timer")),
      plain_in_(kPlainSlots, config.max_payload, kHeaderSize, kTagSize, true),
      encrypted_in_(config.gso ? kGroSlots : kEncryptedSlots, config.gso ? kGroCapacity : std::max<std::size_t>(2048, config.max_payload + kOverhead), 0, 0,
                    true),
      encrypted_out_(false),
      plain_out_(false) {
  const bool drone = config_.role == Role::drone;
  const auto port = drone ? config_.local_data_port : config_.data_port;
  const UdpOptions options{config_.socket_buffer_kib, config_.dscp, config_.gso};
  const std::string purpose = "encrypted packets (UDP)";
  // The name of a drone's peer may resolve only after the network is there, and to addresses of either kind.
  if (drone && config_.bind.empty() && !is_ipv4(config_.peer))
    encrypted_ = open_udp_both(port, options, purpose, &gro_);
  else
    encrypted_ = open_udp(resolve(config_.bind, port, true, SOCK_DGRAM), options, purpose, &gro_);
  local_ = local_address(encrypted_);
  const bool gso = config_.gso && supports_gso(encrypted_);
  encrypted_out_ = UdpSender(gso);

  std::vector<DroneEntry> entries = config_.drones;
  if (drone) entries = {DroneEntry{config_.drone_id, config_.plain_bind, config_.plain_peer, false, {}}};
  for (const auto& entry : entries) {
    auto link = std::make_unique<Link>(entry.id, drone, timers_of(config_), config_.replay_window);
    const auto prefix = drone ? std::string{} : "drone." + entry.id + ".";
    link->plain = open_udp(resolve_endpoint(entry.plain_bind, prefix + "plain_bind"), {config_.socket_buffer_kib, -1, false},
                           "plaintext MAVLink of " + entry.id + " (UDP)");
    link->plain_local = local_address(link->plain);
    // A run towards a local socket that did not ask for runs arrives as single datagrams; that has nothing to do with what the air's network can.
    plain_out_ = UdpSender(supports_gso(link->plain));
    link->learn_plain_peer = entry.plain_peer.empty();
    if (!link->learn_plain_peer) {
      link->plain_peer = resolve_endpoint(entry.plain_peer, prefix + "plain_peer");
      if (link->plain_peer.family() != link->plain_local.family())
        throw TunnelError(Errc::address, "'" + prefix + "plain_bind' and '" + prefix + "plain_peer' must both be IPv4 or both IPv6.");
    }
    link->publish(now_ns());
    links_.push_back(std::move(link));
  }
  if (drone && !config_.plain_tap.empty()) {
    tap_ = std::make_unique<PlainTap>(config_.plain_tap, kPlainSlots, config_.max_payload);
    if (tap_->reaches(links_[0]->plain_local) || tap_->reaches(links_[0]->plain_peer))
      throw TunnelError(Errc::address, "'plain_tap' is the same address as 'plain_bind' or 'plain_peer': the vehicle's packets would come back to it.");
  }

  const auto watch = [&](int fd, std::uint32_t tag) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u32 = tag;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      throw TunnelError(Errc::io, "Cannot watch a socket: " + std::generic_category().message(errno) + ".");
  };
  watch(wake_.get(), kWake);
  watch(timer_.get(), kTimer);
  watch(encrypted_.get(), kEncrypted);
  for (std::size_t i = 0; i < links_.size(); ++i) watch(links_[i]->plain.get(), kFirstPlain + static_cast<std::uint32_t>(i));
}

DataPlane::~DataPlane() { stop(); }

void DataPlane::start() {
  itimerspec period{};
  period.it_interval.tv_nsec = period.it_value.tv_nsec = static_cast<long>(kTickNs);
  ::timerfd_settime(timer_.get(), 0, &period, nullptr);
  {
    const std::lock_guard lock(tasks_mutex_);
    accepting_ = true;
  }
  thread_ = std::thread([this] {
    name_this_thread("pqc-data");
    run();
  });
}

void DataPlane::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(tasks_mutex_);
    accepting_ = false;
  }
  stopping_ = true;
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
  thread_.join();
  run_tasks();  // accepted before the end: their callers wait
  const auto now = now_ns();
  std::array<std::uint8_t, 16> tlvs{};
  const auto size = append_control(tlvs, 0, Close{1});
  for (auto& link : links_) {
    send_control_now(*link, ByteView(tlvs).first(*size), now);
    link->session.wipe();
    link->publish(now);
    link->plain.reset();
  }
  encrypted_.reset();
}

bool DataPlane::post(Task task) {
  {
    const std::lock_guard lock(tasks_mutex_);
    if (!accepting_) return false;
    tasks_.push_back(std::move(task));
  }
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
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
  std::uint64_t spin_until = 0;
  while (!stopping_.load(std::memory_order_relaxed)) {
    const bool spin = spin_ns != 0 && now_ns() < spin_until;
    const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), spin ? 0 : -1);
    if (count <= 0) continue;
    const auto now = now_ns();
    Round round;
    for (int i = 0; i < count; ++i) {
      switch (const auto tag = ready[static_cast<std::size_t>(i)].data.u32; tag) {
        case kWake: {
          std::uint64_t value = 0;
          (void)!::read(wake_.get(), &value, sizeof value);
          run_tasks();
          break;
        }
        case kTimer: {
          std::uint64_t value = 0;
          (void)!::read(timer_.get(), &value, sizeof value);
          tick(now);
          break;
        }
        case kEncrypted:
          spin_until = now + spin_ns;
          read_encrypted(now, round);
          break;
        default:
          spin_until = now + spin_ns;
          read_plain(tag - kFirstPlain, now, round);
      }
    }
    if (spin_ns == 0 && round.datagrams >= kCrowd && !round.more) {
      const timespec moment{0, static_cast<long>(kGatherNs)};
      ::nanosleep(&moment, nullptr);
    }
  }
}

void DataPlane::read_plain(std::size_t index, std::uint64_t now, Round& round) {
  auto& link = *links_[index];
  const auto got = plain_in_.receive(link.plain.get());
  round.datagrams += got;
  round.more = round.more || got == plain_in_.capacity();
  for (std::size_t i = 0; i < got; ++i) {
    const auto slot = plain_in_.slot(i);
    link.counters.plain_rx_packets.add();
    link.counters.plain_rx_bytes.add(slot.bytes.size());
    if (link.learn_plain_peer && !(link.plain_peer == plain_in_.source(i))) link.plain_peer = plain_in_.source(i);
    if (slot.truncated) {
      link.counters.plain_dropped_too_big.add();
      if (now >= link.next_log_ns) {
        link.next_log_ns = now + kLogEveryNs;
        events_.log(
            LogLevel::warning, link.id,
            "A plaintext datagram longer than max_payload (" + std::to_string(config_.max_payload) + " bytes) was refused; more of them are counted only.");
      }
      continue;
    }
    if (tap_) tap_->take(slot.bytes, plain_in_.source(i), link.counters);  // now, before it is sealed in place
    if (!link.session.can_send() || link.peer.empty()) {
      link.counters.plain_dropped_no_session.add();
      continue;
    }
    const auto packet = plain_in_.with_room(i);
    const bool timed = link.counters.seal_time.due();
    const auto before = timed ? now_ns() : 0;
    const bool sealed = link.session.seal(FrameType::data, packet, now);
    if (timed) link.counters.seal_time.record(now_ns() - before);
    if (!sealed) {
      link.counters.plain_dropped_no_session.add();
      continue;
    }
    encrypted_out_.add(packet);
  }
  if (!encrypted_out_.empty()) {
    const auto sent = encrypted_out_.flush(encrypted_.get(), link.peer);
    link.counters.enc_tx_packets.add(sent.packets);
    link.counters.enc_tx_bytes.add(sent.bytes);
    link.counters.enc_dropped_send.add(sent.dropped);
  }
  if (tap_) tap_->flush(link.counters);
}

void DataPlane::read_encrypted(std::uint64_t now, Round& round) {
  const auto got = encrypted_in_.receive(encrypted_.get());
  round.more = round.more || got == encrypted_in_.capacity();
  for (std::size_t i = 0; i < got; ++i) {
    const auto slot = encrypted_in_.slot(i);
    const auto& source = encrypted_in_.source(i);
    if (slot.truncated) {
      totals_.enc_rx_datagrams.add();
      count_drop(nullptr, Drop::malformed);
      continue;
    }
    auto rest = slot.bytes;
    do {  // once for an empty datagram too
      const auto size = std::min(slot.segment, rest.size());
      on_datagram(rest.first(size), source, now);
      ++round.datagrams;
      rest = rest.subspan(size);
    } while (!rest.empty());
  }
  flush_delivery();
}

void DataPlane::on_datagram(MutableBytes datagram, const SockAddr& source, std::uint64_t now) {
  totals_.enc_rx_datagrams.add();
  const auto header = parse_header(datagram);
  if (!header || datagram.size() > kOverhead + std::max(config_.max_payload, kControlFrameMax)) return count_drop(nullptr, Drop::malformed);
  std::size_t index = 0;
  auto* link = find(header->session_id, index);
  if (link == nullptr) return count_drop(nullptr, Drop::unknown);

  const bool timed = link->counters.open_time.due();
  const auto before = timed ? now_ns() : 0;
  const auto opened = link->session.open(*header, datagram, now);
  if (timed) link->counters.open_time.record(now_ns() - before);
  if (opened.drop) return count_drop(link, *opened.drop);

  link->counters.enc_rx_packets.add();
  link->counters.enc_rx_bytes.add(datagram.size());
  if (opened.current) link->estimator.on_packet(now, key_of(header->session_id), header->sequence);
  if (config_.role == Role::gcs && (opened.switched || (opened.move_peer && !(link->peer == source)))) {
    if (!link->peer.empty() && !(link->peer == source)) {
      link->counters.roams.add();
      events_.log(LogLevel::info, link->id, "The drone's address is now " + source.text() + ".");
    }
    link->peer = source;
  }
  if (opened.switched) {
    std::array<std::uint8_t, 8> tlvs{};
    const auto size = append_control(tlvs, 0, Switched{header->epoch});
    send_control_now(*link, ByteView(tlvs).first(*size), now);
    changed(index, now);
  }
  if (opened.type == FrameType::data) {
    totals_.delivered.add();
    link->counters.delivered.add();
    deliver(index, opened.payload);
    return;
  }
  ControlList controls;
  if (!parse_controls(opened.payload, controls)) return count_drop(link, Drop::decrypt_fail);
  totals_.control.add();
  link->counters.control.add();
  on_control(*link, index, controls, opened.current, now);
}

void DataPlane::on_control(Link& link, std::size_t index, const ControlList& controls, bool current, std::uint64_t now) {
  for (std::size_t i = 0; i < controls.count; ++i) {
    const auto& control = controls.items[i];
    if (const auto* probe = std::get_if<Probe>(&control)) {
      std::array<std::uint8_t, 64> tlvs{};
      const auto size = append_control(tlvs, 0, ProbeReply{probe->id, probe->t1, now, now_ns()});
      send_control_now(link, ByteView(tlvs).first(*size), now);
    } else if (const auto* reply = std::get_if<ProbeReply>(&control)) {
      link.probes.on_reply(*reply, now);
    } else if (const auto* report = std::get_if<LinkReport>(&control)) {
      link.remote = *report;
      link.remote_at_ns = now;
    } else if (const auto* request = std::get_if<RekeyRequest>(&control)) {
      if (hooks_.rekey_requested) hooks_.rekey_requested(index, request->request_id, std::string(request->suite), std::string(request->reason));
    } else if (const auto* result = std::get_if<RekeyResult>(&control)) {
      if (hooks_.rekey_answered) hooks_.rekey_answered(index, *result);
    } else if (std::holds_alternative<Close>(control) && current) {  // one that was held back says nothing about the session of now
      link.session.close(now);
      link.closed_by_peer = true;
      changed(index, now);
    }
  }
}

void DataPlane::deliver(std::size_t index, MutableBytes payload) {
  if (index != delivery_link_ || plain_out_.full()) flush_delivery();
  delivery_link_ = index;
  plain_out_.add(payload);
}

void DataPlane::flush_delivery() {
  if (plain_out_.empty()) return;
  auto& link = *links_[delivery_link_];
  // Nobody has spoken on the plaintext port yet: there is no one to deliver to, and sending fails with "no destination".
  const auto sent = plain_out_.flush(link.plain.get(), link.plain_peer);
  link.counters.plain_tx_packets.add(sent.packets);
  link.counters.plain_tx_bytes.add(sent.bytes);
  (link.plain_peer.empty() ? link.counters.plain_dropped_no_peer : link.counters.plain_dropped_send).add(sent.dropped);
}

void DataPlane::send_control_now(Link& link, ByteView tlvs, std::uint64_t now) {
  if (!link.session.can_send() || link.peer.empty()) return;
  std::array<std::uint8_t, kOverhead + kControlFrameMax> packet;
  std::memcpy(packet.data() + kHeaderSize, tlvs.data(), tlvs.size());
  const MutableBytes whole(packet.data(), kOverhead + tlvs.size());
  if (!link.session.seal(FrameType::control, whole, now)) return;
  if (::sendto(encrypted_.get(), whole.data(), whole.size(), MSG_DONTWAIT | MSG_NOSIGNAL, link.peer.get(), link.peer.size) >= 0) {
    link.counters.enc_tx_packets.add();
    link.counters.enc_tx_bytes.add(whole.size());
  } else {
    link.counters.enc_dropped_send.add();
  }
}

void DataPlane::tick(std::uint64_t now) {
  for (std::size_t i = 0; i < links_.size(); ++i) tick_link(i, now);
}

void DataPlane::tick_link(std::size_t index, std::uint64_t now) {
  auto& link = *links_[index];
  bool notify = link.session.tick(now);
  if (notify) refresh_lookup(index);
  const bool degraded = link.session.current() && link.session.degraded(now);
  notify = notify || degraded != link.was_degraded;
  link.was_degraded = degraded;

  std::array<std::uint8_t, 256> tlvs{};
  std::size_t used = 0;
  if (now >= link.next_report_ns) {
    link.next_report_ns = now + ns(kReportEvery);
    link.next_probe_ns = now + ns(kProbeAfterReport);
    link.local = link.estimator.report(now);
    for (std::size_t i = 0; i < kDropKinds; ++i) link.local.drops[i] = link.counters.drops[i].get();
    used = *append_control(tlvs, used, link.local);
  } else if (now >= link.next_probe_ns) {  // half-way to the next report, so that also an idle link is heard twice a second
    link.next_probe_ns = link.next_report_ns + ns(kProbeAfterReport);
    link.probes.open_id = link.probes.next_id++;
    link.probes.open_t1 = now_ns();
    used = *append_control(tlvs, used, Probe{link.probes.open_id, link.probes.open_t1});
  } else if (now - link.session.last_sent_ns() >= ns(config_.keepalive_s)) {
    used = *append_control(tlvs, used, Keepalive{});
  }
  if (used != 0) send_control_now(link, ByteView(tlvs).first(used), now);
  if (notify)
    changed(index, now);
  else
    link.publish(now);
}

void DataPlane::count_drop(Link* link, Drop drop) noexcept {
  const auto kind = static_cast<std::size_t>(drop);
  totals_.drops[kind].add();
  if (link != nullptr) link->counters.drops[kind].add();
}

void DataPlane::refresh_lookup(std::size_t index) {
  std::erase_if(by_session_, [&](const auto& item) { return item.second == index; });
  links_[index]->session.for_each_receive_id([&](const SessionId& id) { by_session_[key_of(id)] = index; });
  cache_valid_ = false;
}

Link* DataPlane::find(const SessionId& id, std::size_t& index) noexcept {
  const auto key = key_of(id);
  if (!cache_valid_ || key != cached_id_) {
    const auto it = by_session_.find(key);
    if (it == by_session_.end()) return nullptr;
    cached_id_ = key;
    cached_link_ = it->second;
    cache_valid_ = true;
  }
  index = cached_link_;
  return links_[index].get();
}

void DataPlane::changed(std::size_t index, std::uint64_t now) {
  auto& link = *links_[index];
  link.was_degraded = link.session.current() && link.session.degraded(now);
  link.publish(now);
  if (hooks_.changed) hooks_.changed(index);
}

bool DataPlane::install(std::size_t index, SessionKeys keys, const SessionId& prev, const SockAddr& peer) {
  std::promise<void> installed;
  auto done = installed.get_future();
  auto shared = std::make_shared<SessionKeys>(std::move(keys));
  const bool accepted = post([&, shared] {
    auto& link = *links_[index];
    const auto now = now_ns();
    const auto epoch = shared->epoch;
    try {
      link.session.install(std::move(*shared), prev, now);
    } catch (...) {
      installed.set_exception(std::current_exception());
      return;
    }
    refresh_lookup(index);
    link.closed_by_peer = false;
    if (config_.role == Role::drone) {
      link.peer = peer;
      // At once, so that the gcs switches also when no telemetry flows.
      std::array<std::uint8_t, 16> tlvs{};
      auto used = append_control(tlvs, 0, Switched{epoch});
      used = append_control(tlvs, *used, Keepalive{});
      send_control_now(link, ByteView(tlvs).first(*used), now);
    }
    changed(index, now);
    installed.set_value();
  });
  if (!accepted) return false;
  // The data thread takes about as long as falling asleep and being woken would; a handshake waits for this.
  for (const auto until = now_ns() + kInstallNs; done.wait_for(std::chrono::seconds(0)) != std::future_status::ready && now_ns() < until;)
    std::this_thread::yield();
  done.get();
  return true;
}

void DataPlane::send_control(std::size_t index, std::vector<std::uint8_t> tlvs) {
  post([this, index, tlvs = std::move(tlvs)] { send_control_now(*links_[index], tlvs, now_ns()); });
}

}  // namespace pqcmav
