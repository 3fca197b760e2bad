// SPDX-License-Identifier: Apache-2.0
#include "net/radio_port.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "nanoseconds.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr std::uint64_t kReopenMostNs = 500 * kMs, kRadioShowNs = 100 * kMs;
constexpr std::uint64_t kNoFrameNs = 4 * kS, kActiveNs = 5 * kS;
constexpr double kUnknownMost = 5'500;       // bytes/s: a radio may have a port that is far quicker than its air
constexpr std::uint64_t kForeignLeast = 64;  // bytes: less than that is noise
constexpr std::uint64_t kBeatBusyNs = 250 * kMs, kBeatIdleNs = kS, kBeatForAllNs = 5 * kS;
constexpr std::size_t kQuantum = 256;                // bytes of a drone's turn
constexpr int kRadioReads = 8, kFetchesAtOnce = 32;  // then the others have their turn

SerialOptions options_of(const RadioSettings& settings) {
  return {settings.path, settings.baud, settings.flow_control, true};
}

/// Not beside the data port: IPv6 takes datagrams from outside that name an address of this machine as their source.
SockAddr loopback_like(const SockAddr& data) {
  const bool six = !data.any() && data.family() == AF_INET6;
  return resolve(six ? "::1" : "127.0.0.1", 0, true, SOCK_DGRAM);
}

}  // namespace

Wire::Wire(std::shared_ptr<const RadioPort> radio, std::uint8_t id, const SockAddr& data)
    : radio_(std::move(radio)), id_(id) {
  socket_ = open_udp(loopback_like(data), {}, "the radio " + radio_->name() + " (UDP)");
  address_ = local_address(socket_);
  auto to = data.any() ? resolve("127.0.0.1", data.port(), true, SOCK_DGRAM) : data;
  // From then on the kernel refuses what anybody else sends here.
  if (::connect(socket_.get(), to.get(), to.size) != 0)
    throw TunnelError(Errc::address,
                      "Cannot reach the tunnel's own port at " + to.text() + ": " + system_reason(errno) + ".");
}

RadioPort::RadioPort(const RadioSettings& settings, bool drone_end, std::string owner, EventQueue& events)
    : settings_(settings),
      drone_end_(drone_end),
      owner_(std::move(owner)),
      events_(events),
      opener_(options_of(settings), kReopenMostNs,
              [this](LogLevel level, std::string sentence) { events_.log(level, owner_, std::move(sentence)); }),
      pace_(settings.baud),
      rate_(settings.baud, settings.mavlink ? kUnknownMost : 1e9),
      bytes_per_s_(rate_.bytes_per_s(0)),
      state_("not open yet") {}

void RadioPort::close() noexcept {
  close_serial(port_);
  wires_.clear();  // each of which has this
}

std::shared_ptr<Wire> RadioPort::add(std::uint8_t id, const SockAddr& data) {
  wires_.push_back(std::make_shared<Wire>(shared_from_this(), id, data));
  return wires_.back();
}

void RadioPort::check(const RadioSettings& settings) {
  auto port = open_serial(options_of(settings));
  close_serial(port);
}

bool RadioPort::has(const Wire& wire) const noexcept {
  return std::ranges::any_of(wires_, [&](const auto& each) { return each.get() == &wire; });
}

bool RadioPort::remove(const Wire& wire) noexcept {
  const auto gone = std::erase_if(wires_, [&](const auto& each) { return each.get() == &wire; });
  turn_ = 0;
  return gone != 0 && wires_.empty();
}

std::string RadioPort::name() const { return settings_.text; }

std::string RadioPort::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

EndpointStatus RadioPort::status() const {
  const std::lock_guard lock(mutex_);
  const auto& c = counters_;
  return {"radio " + settings_.text,
          problem_.empty() ? state_ : problem_,
          problem_.empty(),
          {{"rx_packets", c.rx_frames.get()},
           {"rx_bytes", c.rx_bytes.get()},
           {"tx_packets", c.tx_frames.get()},
           {"tx_bytes", c.tx_bytes.get()},
           {"dropped", c.dropped.get()},
           {"line_errors", c.line_errors.get()},
           {"not_mine", c.not_mine.get()},
           {"copies", c.copies.get()},
           {"opened", c.opened.get()},
           {"stuck", c.stuck.get()}}};
}

RadioQuality RadioPort::quality() const {
  const std::lock_guard lock(mutex_);
  auto out = quality_;
  out.line_errors = counters_.line_errors.get();
  out.not_mine = counters_.not_mine.get();
  out.dropped = counters_.dropped.get();
  out.stuck = counters_.stuck.get();
  return out;
}

std::uint64_t RadioPort::datagram_ns(std::uint32_t kbit) const noexcept {
  const auto bytes = static_cast<double>(kDatagramSmall + (settings_.mavlink ? 3 : 1) * around());
  const auto carried = bytes_per_s_.load(std::memory_order_relaxed);
  return static_cast<std::uint64_t>(1e9 * bytes / (kbit == 0 ? carried : std::min(carried, kbit * 125.0)));
}

// --- Waiting ------------------------------------------------------------------------------------------------------

void RadioPort::watch(std::vector<pollfd>& on) const {
  const bool blocked = out_begin_ != out_end_;
  on.push_back({port_ ? port_.get() : -1, static_cast<short>(POLLIN | (blocked ? POLLOUT : 0)), 0});
  for (const auto& wire : wires_) on.push_back({wire->socket_.get(), POLLIN, 0});
}

std::uint64_t RadioPort::due(std::uint64_t now) const noexcept {
  if (!port_) return opener_.due();
  auto out = std::min(messages_.due(), stuck_.due());
  for (const auto& wire : wires_) out = std::min(out, wire->again_.due());
  if (foreign_ >= kForeignLeast && !foreign_only_) out = std::min(out, quiet_since_ns_ + kNoFrameNs);
  if (out_begin_ != out_end_) return out;
  const auto ready = std::max(pace_.ready_at(queued(), now), now + kMs);
  const bool waits = std::ranges::any_of(wires_, [](const auto& wire) { return !wire->queue_.empty(); });
  return std::min(out, waits ? ready : std::max(heartbeat_due(), ready));
}

bool RadioPort::idle() const noexcept {
  return !port_ ||
         (out_begin_ == out_end_ && std::ranges::all_of(wires_, [](const auto& wire) { return wire->queue_.empty(); }));
}

void RadioPort::work(std::span<const pollfd> ready, std::uint64_t now) {
  for (std::size_t i = 0; i < wires_.size(); ++i)
    if (ready[i + 1].revents != 0) fetch(*wires_[i], now);
  if (!port_) {
    if (now >= opener_.due()) open(now);
    if (!port_) return show(now);
  }
  if (ready[0].revents != 0 && ready[0].fd == port_.get()) read(now);
  if (port_ && now >= messages_.due()) decode({}, now);
  for (const auto& wire : wires_) {
    counters_.dropped.add(wire->queue_.expire(now));
    push_again(*wire, false, now);
  }
  if (port_) write(now);
  if (port_) unstick(now);
  look_for_frames(now);
  show(now);
}

// --- The port -----------------------------------------------------------------------------------------------------

void RadioPort::open(std::uint64_t now) {
  auto port = opener_.open(now);
  if (!port) return;
  port_ = std::move(*port);
  counters_.opened.add();
  frames_.reset();
  messages_.reset();
  pace_.forget();
  out_[0] = 0;  // ends whatever a reader has begun with
  out_begin_ = 0;
  out_end_ = settings_.mavlink ? 0 : 1;
  heard_ours();
  opened_ns_ = now;
  stuck_ = {};
  beat_ns_ = 0;
}

void RadioPort::lost(std::uint64_t now) {
  opener_.lost(std::move(port_), now);
  out_begin_ = out_end_ = 0;
  for (const auto& wire : wires_) {
    counters_.dropped.add(wire->queue_.clear());
    wire->again_.clear();
  }
}

// --- From the air -------------------------------------------------------------------------------------------------

void RadioPort::read(std::uint64_t now) {
  for (int i = 0; i < kRadioReads; ++i) {
    ByteArray<4096> bytes;
    const auto got = ::read(port_.get(), bytes.data(), bytes.size());
    if (got <= 0) {
      if (got == 0 || !try_again(errno)) lost(now);
      return;
    }
    const auto size = static_cast<std::size_t>(got);
    counters_.rx_bytes.add(size);
    if (foreign_ == 0) quiet_since_ns_ = now;
    foreign_ += size;
    decode(ByteView(bytes).first(size), now);
    if (size < bytes.size()) return;
  }
}

void RadioPort::decode(ByteView bytes, std::uint64_t now) {
  const auto on_datagram = [this](LineAddress line, ByteView datagram) { on_frame(line, datagram); };
  if (settings_.mavlink) {
    const auto on_other = [this, now](ByteView message) { on_message(message, now); };
    const auto parts = messages_.parts();
    messages_.feed(bytes, now, on_datagram, on_other);
    messages_.poll(now, on_datagram, on_other);
    if (messages_.parts() != parts) heard_ours();
  } else {
    frames_.feed(bytes, on_datagram);
  }
  const auto errors = frames_.errors() + messages_.errors();
  counters_.line_errors.add(errors - errors_);
  errors_ = errors;
}

void RadioPort::heard_ours() noexcept {
  foreign_ = 0;
  foreign_only_ = false;
}

void RadioPort::on_frame(LineAddress line, ByteView datagram) noexcept {
  heard_ours();
  const auto wire = std::ranges::find_if(wires_, [&](const auto& each) { return each->id_ == line.radio_id; });
  if (line.to_drone != drone_end_ || wire == wires_.end()) return counters_.not_mine.add();
  counters_.rx_frames.add();
  if ((*wire)->copies_.is_copy(datagram)) return counters_.copies.add();
  // What finds no room is lost like any other packet.
  (void)::send((*wire)->socket_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void RadioPort::on_message(ByteView message, std::uint64_t now) noexcept {
  if (!is_of_radio(message)) return;
  foreign_ -= std::min<std::uint64_t>(foreign_, message.size());  // no sign of a wrong rate
  const auto word = parse_radio_status(message);
  if (!word) return;
  status_ = word;
  rate_.on_word(word->free_percent, waiting_bytes(), now);
}

/// Bytes come, and none of them are ours: nothing else tells a wrong baud rate from a silent peer.
void RadioPort::look_for_frames(std::uint64_t now) {
  if (!port_ || foreign_only_ || foreign_ < kForeignLeast || now < quiet_since_ns_ + kNoFrameNs) return;
  foreign_only_ = true;
  shown_ns_ = 0;
  events_.log(
      LogLevel::warning, owner_,
      "The radio at " + settings_.path +
          " brings bytes, but no frame of ours for 4 s: set the baud rate that the radio has, ':mavlink' at both "
          "ends or at none, and a PQC-MAV tunnel at the other end.");
}

// --- Into the air -------------------------------------------------------------------------------------------------

void RadioPort::fetch(Wire& wire, std::uint64_t now) noexcept {
  ByteArray<kLineDatagramMost + 1> datagram;
  for (int i = 0; i < kFetchesAtOnce; ++i) {
    const auto got = ::recv(wire.socket_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT);
    if (got < 0) return;
    wire.used_ns_ = now;
    const auto size = static_cast<std::size_t>(got);
    if (!port_ || size > kLineDatagramMost)
      counters_.dropped.add();
    else if (const auto view = ByteView(datagram).first(size); !wire.again_.take(view, now)) {
      counters_.dropped.add(wire.queue_.push(view, now));
      push_again(wire, true, now);
    }
  }
}

void RadioPort::push_again(Wire& wire, bool company, std::uint64_t now) noexcept {
  while (const auto again = wire.again_.next(now, company)) counters_.dropped.add(wire.queue_.push(*again, now));
}

std::size_t RadioPort::queued() const noexcept { return held_output(port_); }

std::size_t RadioPort::waiting_bytes() const noexcept {
  std::size_t out = out_end_ - out_begin_;
  for (const auto& wire : wires_) out += wire->queue_.bytes();
  return out;
}

std::uint64_t RadioPort::heartbeat_due() const noexcept {
  if (!settings_.mavlink) return kNever;
  return beat_ns_ + (rate_.is_busy() ? kBeatBusyNs : kBeatIdleNs);
}

/// The drones of a radio take turns of about the same length.
Wire* RadioPort::next_wire() noexcept {
  if (std::ranges::all_of(wires_, [](const auto& wire) { return wire->queue_.empty(); })) return nullptr;
  for (;; turn_ = (turn_ + 1) % wires_.size()) {
    auto& wire = *wires_[turn_];
    if (wire.queue_.empty()) {
      wire.credit_ = 0;
      continue;
    }
    if (wire.credit_ >= wire.queue_.front().size()) return &wire;
    wire.credit_ += kQuantum;
    if (wire.credit_ >= wire.queue_.front().size()) return &wire;
  }
}

bool RadioPort::load_next(std::uint64_t now) {
  out_begin_ = out_end_ = 0;
  if (now >= heartbeat_due()) {
    beat_ns_ = now;
    const auto beat = heartbeat_.next(!rate_.speaks(now) && now >= opened_ns_ + kBeatForAllNs);
    std::copy(beat.begin(), beat.end(), out_.begin());
    out_end_ = beat.size();
    return true;
  }
  auto* const wire = next_wire();
  if (wire == nullptr) return false;
  const LineAddress line{!drone_end_, wire->id_};
  const auto datagram = wire->queue_.front();
  out_end_ = settings_.mavlink ? writer_.write(line, datagram, out_) : write_line_frame(line, datagram, out_);
  wire->credit_ -= datagram.size();
  wire->queue_.pop();
  counters_.tx_frames.add();
  rate_.on_sent(out_end_);
  return true;
}

/// False while some of it is left: the port takes no more now, or is lost.
bool RadioPort::write_rest(std::uint64_t now) {
  while (out_begin_ != out_end_) {
    const auto rest = ByteView(out_).subspan(out_begin_, out_end_ - out_begin_);
    const auto taken = ::write(port_.get(), rest.data(), rest.size());
    if (taken < 0 && !try_again(errno)) lost(now);
    if (taken <= 0) return false;
    out_begin_ += static_cast<std::size_t>(taken);
    counters_.tx_bytes.add(static_cast<std::uint64_t>(taken));
    pace_.wrote(static_cast<std::size_t>(taken), now);
  }
  return true;
}

void RadioPort::write(std::uint64_t now) {
  while (write_rest(now) && pace_.ready_at(queued(), now) <= now && load_next(now)) {
  }
}

/// With flow control a radio may refuse bytes for long: what waits is worth nothing then, and a frame of which a part
/// left is lost to its reader in any case.
void RadioPort::unstick(std::uint64_t now) {
  if (!stuck_.is_stuck(queued(), out_end_ - out_begin_, counters_.tx_bytes.get(), now)) return;
  counters_.stuck.add();
  stuck_.threw_away(forget_output(port_));
  pace_.forget();
  for (const auto& wire : wires_) counters_.dropped.add(wire->queue_.clear());
  out_[0] = 0;
  out_begin_ = 0;
  out_end_ = settings_.mavlink ? 0 : 1;
}

// --- What others see ----------------------------------------------------------------------------------------------

void RadioPort::show(std::uint64_t now) {
  if (now < shown_ns_ + kRadioShowNs && port_) return;
  shown_ns_ = now;
  const auto active = std::max<std::ptrdiff_t>(
      1, std::ranges::count_if(wires_, [&](const auto& wire) { return now - wire->used_ns_ < kActiveNs; }));
  bytes_per_s_ = rate_.bytes_per_s(now);
  const auto kbit = std::max(1U, static_cast<std::uint32_t>(bytes_per_s_ * 8 / 1000));
  for (const auto& wire : wires_) {
    wire->kbit_ = std::max(1U, kbit / static_cast<std::uint32_t>(active));
    wire->speaks_ = rate_.speaks(now);
  }
  std::string state = "open, " + std::to_string(kbit) + " kbit/s";
  RadioQuality quality;
  quality.kbit = port_ ? kbit : 0;
  if (status_ && rate_.speaks(now)) {
    const auto full = 100 - std::min<unsigned>(status_->free_percent, 100);
    quality.rssi = status_->rssi;
    quality.remote_rssi = status_->remote_rssi;
    quality.noise = status_->noise;
    quality.remote_noise = status_->remote_noise;
    quality.fill = full / 100.0;
    state += ", signal " + std::to_string(status_->rssi) + "/" + std::to_string(status_->remote_rssi) + ", noise " +
             std::to_string(status_->noise) + "/" + std::to_string(status_->remote_noise) + ", buffer " +
             std::to_string(full) + " % full";
  }
  const std::lock_guard lock(mutex_);
  quality_ = quality;
  state_ = std::move(state);
  problem_ = foreign_only_ ? "bytes come, no frame of ours: check the baud rate, ':mavlink', and the other end"
                           : opener_.problem();
}

}  // namespace pqcmav
