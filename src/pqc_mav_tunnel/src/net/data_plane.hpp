// SPDX-License-Identifier: Apache-2.0
// The data thread. The way of a packet:
//
//   plain socket of a drone --recvmmsg--> slot with room for header and tag --seal in place--> runs
//     --sendmmsg/GSO--> encrypted socket
//   encrypted socket --recvmmsg/GRO--> datagrams of a run --header, session lookup, open in place--> runs per drone
//     --sendmmsg/GSO--> its plain socket
//
// One thread owns every session, key and counter; other threads reach it only through post() (handed over by an
// eventfd), so there is no lock and no allocation on the packet path. Ten times a second a timer does what is due: key
// expiry, keepalives, probes, link reports, pictures for readers.
//
// With data_threads the first plane has further ones, each with a thread, a socket and some of the drones; the kernel
// hands each the packets of its own (docs/architecture.md, "Several data threads"). Handshakes stay with the first.
#pragma once

#include <sys/epoll.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "alarm_board.hpp"
#include "handshake/handshake.hpp"
#include "net/address_book.hpp"
#include "net/air_side.hpp"
#include "net/data_share.hpp"
#include "net/drone_paths.hpp"
#include "net/handshake_port.hpp"
#include "net/link.hpp"
#include "net/plain_side.hpp"
#include "net/plain_tap.hpp"
#include "net/refused_sources.hpp"
#include "net/snapshot_watch.hpp"
#include "net/udp_batch.hpp"
#include "pqc_mav_tunnel/config.hpp"
#include "pqc_mav_tunnel/events.hpp"
#include "shape/mavlink_walk.hpp"
#include "shape/message_class.hpp"

namespace pqcmav {

/// What the data thread tells the control side. Called in the data thread: must be quick and must not block.
struct ControlHooks {
  std::function<void(std::size_t link, const RekeyRequest& request)> rekey_requested;
  std::function<void(std::size_t link, const RekeyResult& result)> rekey_answered;
  std::function<void(std::size_t link)>
      changed;  // keys installed, switched, wiped, peer closed, silence began or ended
  std::function<void(std::uint32_t term)> term_told;  // drone: a gcs knows this one
  std::function<void()> set_back;                     // gcs: this machine was; all sessions are about to end
};

/// drone: with which of its ground stations a session is, and what for.
struct StationPart {
  std::size_t station = 0;  // place in 'peer'
  StationRole role = StationRole::none;
  std::uint32_t term = 0;
};

/// Were keys put in place? Not when the thread is not running, nor under an id of another session: a captured station
/// would take that one's packets away.
enum class Installed : std::uint8_t { yes, no, id_taken };

class HandshakeRelay;

class DataPlane {
 public:
  /// Opens all sockets (throws TunnelError); the thread runs from start() to stop().
  DataPlane(const EngineConfig& config, EventQueue& events, ControlHooks hooks);
  ~DataPlane();
  DataPlane(const DataPlane&) = delete;
  DataPlane& operator=(const DataPlane&) = delete;

  void start();
  /// Says CLOSE to every peer, ends the thread, wipes the keys, closes the sockets.
  void stop();

  /// What one wake-up found.
  struct Round {
    std::size_t datagrams = 0;
    bool more = false;     // a batch was full: the socket may hold more
    bool traffic = false;  // a socket had something
  };

  // Any thread, but for what says otherwise.
  /// Data thread. Places of drones, of which some may be empty; a drone's second session, the standby, is not counted.
  [[nodiscard]] std::size_t link_count() const noexcept {
    return config_.role == Role::drone ? std::min<std::size_t>(links_.size(), 1) : links_.size();
  }
  [[nodiscard]] bool has_standby_link() const noexcept { return links_.size() > link_count(); }
  /// Data thread; at a drone any: its links stay.
  [[nodiscard]] const Link& link(std::size_t index) const noexcept { return *links_[index]; }
  /// Any thread. Visits every drone's link with its index; one that is removed meanwhile may be among them.
  template <typename Visit>
  void for_each_link(Visit visit) const {
    const auto all = snapshot();
    for (std::size_t i = 0; i < all->size(); ++i)
      if ((*all)[i] && (i == 0 || config_.role == Role::gcs)) visit(i, *(*all)[i]);
  }
  /// Any thread. Nothing once the drone was removed.
  [[nodiscard]] std::optional<LinkPicture> picture_of(std::size_t index) const {
    const auto all = snapshot();
    return index < all->size() && (*all)[index] ? std::optional((*all)[index]->picture()) : std::nullopt;
  }
  /// Of all data threads.
  [[nodiscard]] ProcessCounters totals() const noexcept;
  [[nodiscard]] std::optional<RefusedShare> refused_from() const;
  /// What detectors say at both ends of the links.
  [[nodiscard]] AlarmBoard& alarms() noexcept { return first().alarms_; }
  /// Frames of handshakes that found no place on their way between two data threads.
  [[nodiscard]] std::uint64_t handover_full() const noexcept;
  /// How many data threads there are, and which of them has this link.
  [[nodiscard]] DataShare share_of(std::size_t link) const noexcept { return DataShare::of(link, threads()); }
  [[nodiscard]] std::size_t threads() const noexcept { return others_.size() + 1; }
  [[nodiscard]] std::uint16_t data_port() const noexcept { return port_; }
  /// Of the address of a serial radio, where nobody forges one: how long a full datagram takes on its line. Else 0.
  [[nodiscard]] std::uint64_t wire_ns(const SockAddr& address) const noexcept {
    const auto wire = air().at(address);
    return wire ? wire->radio().datagram_ns(shape_kbit_) : 0;
  }
  /// As people know it.
  [[nodiscard]] std::string text_of(const SockAddr& address) const {
    const auto wire = air().at(address);
    return wire ? wire->radio().name() : address.text();
  }
  /// drone: where its radio is, if it has one; with several paths, if this one is a radio.
  [[nodiscard]] std::optional<SockAddr> wire_address(std::size_t path) const {
    if (paths_) return paths_->wire_address(path);
    const auto wire = air_->first();
    return wire ? std::optional(wire->address()) : std::nullopt;
  }
  /// Can the encrypted socket send there? An IPv4 socket reaches IPv4 alone, one bound to "::" both.
  [[nodiscard]] bool reaches(const SockAddr& address) const noexcept {
    if (paths_) return paths_->reaches(address.path, address);
    return address.family() == local_.family() || local_.host_text() == "::";
  }
  /// drone: sends from another UDP port from now on: a free one, then that of 'local_data_port' again, in turns.
  void change_port();
  /// drone: its paths, where it has several.
  [[nodiscard]] const DronePaths* paths() const noexcept { return paths_.get(); }
  /// drone: where the ground station is by each path; empty: not known. An address has its path with it.
  void know_paths(std::vector<SockAddr> addresses);
  /// drone: an operator's word about a path. False for the last one that is on, and when the thread is not running.
  bool use_path(std::size_t path, PathWord word);
  /// Opens the plaintext of a drone, which is not in use yet. Throws TunnelError, and nothing stays open.
  Plaintext open_plain(const DroneEntry& entry);
  /// gcs: a drone more at a place that is free, or the next one. False when the thread is not running.
  bool add_link(std::size_t index, const DroneEntry& entry, Plaintext plain, std::shared_ptr<const Wire> wire);
  /// gcs: says CLOSE, ends its session and handshakes, wipes its keys, closes its plaintext.
  bool remove_link(std::size_t index);
  /// The plaintext of a drone is another one from now on; its session stays. Throws TunnelError, and then it is the one
  /// before again.
  void replace_plain(std::size_t index, const DroneEntry& before, const DroneEntry& wanted);
  /// Opens the radio by which a drone comes; nothing where it comes by none. Throws TunnelError, and nothing stays open.
  std::shared_ptr<const Wire> open_radio(const DroneEntry& entry);
  /// Throws what open_radio() would.
  void try_radio(const DroneEntry& entry) const;
  void close_radio(const std::shared_ptr<const Wire>& wire);
  /// From now on the drone comes by this radio, or by none; its session goes on. The one before is closed. False when
  /// the thread is not running.
  bool replace_radio(std::size_t index, std::shared_ptr<const Wire> wire);
  /// Throws what replace_plain() would, and changes nothing. A port that a drone has itself is not tried.
  void try_plain(const DroneEntry& before, const DroneEntry& wanted);
  /// Closes what open_plain() opened.
  void close_plain(Plaintext plain);
  /// Puts keys in place and returns when they receive. `peer`: where the handshake came from; empty inside a session,
  /// which stays where it is.
  /// `part`: of a drone's first handshake, the station that it was with; a session with another one in this link ends.
  /// `life`: set_backs() when the handshake began. If it is another one now, nothing is installed, as when the thread is
  /// not running.
  Installed install(std::size_t link, SessionKeys keys, const SockAddr& peer, const std::optional<StationPart>& part,
                    std::uint64_t life);
  /// How often this machine was set back to a snapshot, or copied, since the start.
  [[nodiscard]] std::uint64_t set_backs() const noexcept { return totals_.set_back.get(); }
  /// drone: the standby's session and the active one change places, under a new term. False when the standby cannot
  /// send, or when the active one was heard after the given time: then all is as before.
  bool take_over(std::uint32_t term, std::optional<std::uint64_t> unless_heard_after);
  /// drone: both stations hear of the term that counts now.
  void tell_roles(std::uint32_t term);
  /// drone: ends the standby's session.
  void leave_standby();
  /// The current session of a link with its chain secret, for a rekey inside it; none when it cannot send.
  std::optional<RunningSession> running_session(std::size_t link);
  /// Does something in the data thread. False when it is not running (then it is not done).
  bool post(std::function<void()> task);
  /// The same, and waits for its answer; false when the thread is not running.
  bool ask(std::function<bool()> question);
  /// Sends control messages to a peer if there is a session; `drone_id`, where given, must be whose place that still is.
  void send_control(std::size_t link, std::vector<std::uint8_t> tlvs, const std::string& drone_id = {});
  /// The rate that the packets to each peer are shaped to; 0 = as they come. False when the thread is not running.
  /// With `finds` it is found.
  bool set_shaping(std::uint32_t kbit, bool finds);

  // Data thread only.
  /// Who handles handshakes; set before start(), and alive until stop() has returned.
  void set_handshakes(HandshakePort* port);
  /// First data thread. While this lives, the link's own thread leaves the link alone. Needed before the first thread
  /// reads or changes anything of a link that may belong to another thread.
  class Hold;
  [[nodiscard]] Hold hold(std::size_t link) const;
  /// `peers`: who answered in a first handshake; none inside a session, which stays where it is.
  void install_now(std::size_t link, SessionKeys keys, std::vector<SockAddr> peers, std::uint64_t now);
  void send_datagram(ByteView datagram, const SockAddr& to) noexcept;
  /// A handshake datagram inside the current session of a link; nothing without one.
  void send_handshake_part(std::size_t link, ByteView value, std::uint64_t now);
  /// Says this at once, and then with every control frame until the peer has got it.
  void announce(std::size_t link, std::vector<Announcements::Value> values, std::uint64_t now);
  /// The round trip of a full datagram in a handshake with that address; the next one may use it.
  void note_round_trip(std::size_t link, std::optional<std::uint64_t> full, const SockAddr& with);
  /// A rekey inside the session has come to so many time-outs without progress. True while the data plane makes room.
  bool make_room(std::size_t link, std::uint32_t timeouts, std::uint64_t now);
  /// Wipes the keys of a link at once.
  void end_session(std::size_t link, std::uint64_t now, KeyEnd why = KeyEnd::none);
  void rekey_over(std::size_t link);
  /// Is it the address of a drone?
  [[nodiscard]] bool knows_peer(const SockAddr& address) const noexcept { return peers_.contains(address); }
  [[nodiscard]] const Session& session(std::size_t link) const noexcept { return links_[link]->session; }

 private:
  friend class HandshakeRelay;
  using Task = std::function<void()>;
  /// With `first` a further data thread of a gcs.
  DataPlane(const EngineConfig& config, EventQueue& events, ControlHooks hooks, DataPlane* first);
  void open_encrypted();
  [[nodiscard]] Fd open_drone(std::uint16_t port);
  void begin();
  void end();
  void run();
  Round work(std::span<const epoll_event> ready, std::uint64_t now);
  template <typename Visit>
  void for_each_plane(Visit visit) {
    visit(*this);
    for (auto& other : others_) visit(*other);
  }
  [[nodiscard]] std::size_t number_of(std::size_t link) const noexcept { return share_of(link).number; }
  [[nodiscard]] bool owns(std::size_t link) const noexcept { return first_ != nullptr || number_of(link) == 0; }
  /// First plane: the one that has this link.
  [[nodiscard]] DataPlane& owner(std::size_t link) const noexcept {
    const auto number = first_ != nullptr ? 0 : number_of(link);
    return number == 0 ? const_cast<DataPlane&>(*this) : *others_[number - 1];
  }
  [[nodiscard]] DataPlane& first() noexcept { return first_ != nullptr ? *first_ : *this; }
  [[nodiscard]] AddressBook& peers() noexcept { return first().peers_; }
  void put_link(std::size_t link, std::shared_ptr<Link> what);
  void run_tasks();
  std::shared_ptr<Link> make_link(std::size_t index, const DroneEntry& entry, Plaintext plain,
                                  std::shared_ptr<const Wire> wire) const;
  [[nodiscard]] const AirSide& air() const noexcept { return *(first_ != nullptr ? first_ : this)->air_; }
  Plaintext open_hub(const DroneEntry& entry, const std::string& prefix);
  /// What was there before comes back, still open.
  std::optional<Plaintext> exchange_plain(std::size_t index, Plaintext with);
  void watch(int fd, std::uint32_t tag) const;
  void watch_plain(std::size_t index) const;
  void watch_path(std::size_t path) const;
  void publish_links();
  [[nodiscard]] std::shared_ptr<const std::vector<std::shared_ptr<Link>>> snapshot() const {
    const std::lock_guard lock(snapshot_mutex_);
    return snapshot_;
  }
  void read_plain(std::size_t index, std::uint64_t now, Round& round);
  void pass_requests(std::uint64_t now);
  void refuse_too_big(Link& link, std::uint64_t now);
  void leave_out(Link& link, std::size_t datagrams) noexcept;
  [[nodiscard]] bool admits_plain(Link& link, std::uint64_t now, std::size_t datagrams = 1) noexcept;
  [[nodiscard]] bool ready(const Link& link) const noexcept {
    const bool waits = config_.role == Role::gcs && link.quiet();  // the drone would refuse it
    return link.session.can_send() && !link.peer.empty() && !stopped(link) && !waits;
  }
  void bundle_plain(Link& link, MutableBytes packet, std::uint64_t now) noexcept;
  bool send_early(Link& link, FrameType type, MutableBytes packet, std::uint64_t now) noexcept;
  void send_bundle(Link& link, std::uint64_t now) noexcept;
  void send_due_bundles(std::uint64_t now) noexcept;
  void arm_bundles() noexcept;
  [[nodiscard]] static bool shaped(const Link& link) noexcept { return link.shaper && link.shaper->on(); }
  void seal_plain(Link& link, MutableBytes packet, std::uint64_t now, FrameType type = FrameType::data,
                  std::size_t datagrams = 1, bool by_all = false) noexcept;
  void send_sealed(Link& link) noexcept;
  void read_encrypted(int socket, std::uint8_t path, std::uint64_t now, Round& round);
  void on_datagram(MutableBytes datagram, const SockAddr& source, std::uint64_t now);
  void on_compact(MutableBytes datagram, const SockAddr& source, std::uint64_t now);
  void on_packet(std::size_t index, const Header& header, std::size_t head, MutableBytes datagram,
                 const SockAddr& source, std::uint64_t now);
  [[nodiscard]] bool too_long(std::size_t datagram, std::size_t head) const noexcept {
    return datagram > head + kTagSize + std::max(config_.max_payload, kControlFrameMax);
  }
  bool on_handshake(ByteView datagram, const SockAddr& source, std::uint64_t now);
  void arm_handshakes() noexcept;
  void charge_lengths(Link& link, const Bundler::Packet& bundle) noexcept;
  [[nodiscard]] std::uint32_t rate_of(const Link& link, std::uint64_t now) const noexcept;
  void shape_now(std::uint32_t kbit, bool finds, std::uint64_t now);
  void shape_link(Link& link, std::uint32_t kbit, std::uint64_t now);
  void note_sent(Link& link) noexcept;
  void hear_alarm(Link& link, const AlarmTold& word, const SockAddr& source, std::uint64_t now);
  void hear_arrived(Link& link, const Arrived& word, std::uint64_t now);
  void follow_rate(Link& link, std::uint64_t now);
  void pace_autopilot(Link& link, std::uint64_t now);
  bool holds_parameter(Link& link, ByteView datagram, std::uint64_t now);
  void send_parameters(Link& link, std::uint64_t now);
  [[nodiscard]] bool paces_parameters(const Link& link) const noexcept;
  void make_shaper(Link& link);
  void shape_plain(Link& link, ByteView datagram, std::uint64_t now) noexcept;
  void send_shaped(Link& link, std::uint64_t now) noexcept;
  void send_alone(Link& link, const Shaper::Leaving& leaving, bool by_all, std::uint64_t now) noexcept;
  void make_way(std::size_t link, const StationPart& part, std::uint64_t now);
  void part_from(Link& link, std::uint64_t now);
  void tell_role(Link& link, StationRole role, std::uint32_t term, std::uint64_t now);
  void on_role(Link& link, std::size_t index, const RoleTold& told, std::uint64_t now);
  void say_role(Link& link, std::size_t index, std::uint64_t now);
  void begin_role(Link& link) noexcept;
  void say_little(Link& link, std::uint64_t now);
  void repeat_role(Link& link, std::uint64_t now);
  void send_due_shaped(std::uint64_t now) noexcept;
  void arm_shaping(std::uint64_t now) noexcept;
  /// drone: silence from which on it asks more often, so that it knows in time who answers.
  [[nodiscard]] std::uint64_t probe_silence_ns() const noexcept {
    const auto most = to_ns(kProbeSilence);
    return config_.peers.size() > 1 ? std::min(most, to_ns(config_.failover_after_s / 2)) : most;
  }
  [[nodiscard]] bool came_by_the_route(const Link& link, const SockAddr& source) const noexcept;
  [[nodiscard]] int socket_for(const SockAddr& to) const noexcept {
    return paths_ ? paths_->socket(to.path) : encrypted_.get();
  }
  void count_sent(const SockAddr& to, std::size_t packets, std::size_t bytes) noexcept;
  void settle_on_peer(Link& link, std::uint64_t now);
  void heard_by_path(const Link& link, const SockAddr& source, std::size_t size, std::uint64_t now);
  void tend_paths(std::uint64_t now);
  void choose_path(std::uint64_t now);
  void tell_paths(std::uint64_t now);
  [[nodiscard]] bool several(const Link& link) const noexcept;
  [[nodiscard]] bool goes_by_all(const Link& link, ByteView datagram) const noexcept;
  [[nodiscard]] bool cannot_wait(const MavlinkHeader& header) const noexcept;
  [[nodiscard]] bool path_takes(Link& link, ByteView datagram) noexcept;
  [[nodiscard]] bool commands_alone(const Link& link) const noexcept;
  void send_by_others(Link& link, ByteView packet, std::uint64_t now) noexcept;
  static bool may_copy(Link& link, const Wire& wire, std::size_t size, std::uint64_t now) noexcept;
  void copy_sealed(Link& link, ByteView packet, std::uint64_t now) noexcept;
  void repeat_before(Link& link, ByteView datagram, std::uint64_t now) noexcept;
  void send_again(Link& link, std::uint64_t due_by, std::uint64_t now) noexcept;
  [[nodiscard]] bool is_planned_copy(Link& link, ByteView payload, const SockAddr& source, std::uint64_t now) noexcept;
  void note_arrived(Link& link, std::uint64_t now);
  [[nodiscard]] bool comes_by_main(const Link& link, const SockAddr& source) const noexcept;
  void doubt_after(Link& link, std::uint64_t silence, std::uint64_t now) noexcept;
  void end_doubt(Link& link, const ControlList& controls, const Header& header) noexcept;
  [[nodiscard]] bool may_be_old(const Link& link, std::uint64_t key, std::uint64_t sequence,
                                std::uint64_t now) const noexcept;
  [[nodiscard]] bool is_outdated(const Link& link, ByteView datagram) const noexcept;
  void take_path(std::size_t path, const std::string& why, std::uint64_t now);
  void lead_standby(std::uint8_t path, std::uint64_t now);
  void on_control(Link& link, std::size_t index, const ControlList& controls, bool current, const SockAddr& source,
                  std::uint64_t now);
  void heard_at(Link& link, const SockAddr& source, std::size_t size, std::uint64_t now);
  void follow_path(Link& link, std::uint64_t now);
  void send_counted(Link& link, ByteView packet, const SockAddr& to) noexcept;
  void send_to_others(Link& link, ByteView packet) noexcept;
  bool watch_key_age(Link& link);
  [[nodiscard]] bool stopped(const Link& link) const noexcept { return link.key_old && config_.stop_on_old_keys; }
  void other_version(const SockAddr& source, std::uint64_t now);
  void on_data(std::size_t index, FrameType type, MutableBytes payload, bool old);
  void on_bundle(std::size_t index, MutableBytes payload, bool old);
  void count_delivered(Link& link, std::size_t datagrams) noexcept;
  void deliver(std::size_t index, MutableBytes payload);
  void flush_delivery();
  void acknowledge(Link& link, const Control& control, std::uint64_t now);
  void send_control_now(Link& link, ByteView tlvs, std::uint64_t now, bool long_form = false);
  void send_control_to(Link& link, const SockAddr* to, ByteView tlvs, std::uint64_t now, bool long_form = false);
  void send_control_by_all(Link& link, ByteView tlvs, std::uint64_t now);
  void answer_probe(Link& link, const Probe& probe, const SockAddr& source, std::uint64_t now);
  void say_arrived(Link& link, std::uint64_t now, std::optional<std::uint8_t> switched_to = std::nullopt);
  void tick(std::uint64_t now);
  void tick_link(std::size_t index, std::uint64_t now);
  void on_set_back(std::uint64_t now);
  static void count_kernel_drops(Link& link, std::uint64_t now) noexcept;
  void count_drop(Link* link, Drop drop) noexcept;
  /// The same of a datagram that came from there.
  void refuse(Link* link, Drop drop, const SockAddr& source) noexcept;
  void count_arrival(LinkEstimator::Arrival arrival) noexcept;
  void refresh_lookup(std::size_t index);
  Link* find(const SessionId& id, std::size_t& index) noexcept;
  void changed(std::size_t index, std::uint64_t now);

  EngineConfig config_;
  const MessageClasses classes_{config_.shape_ids};
  EventQueue& events_;
  ControlHooks hooks_;
  DataPlane* const first_ = nullptr;  // of a further data thread
  std::mutex side_mutex_;
  bool side_runs_ = false;
  std::unique_ptr<DronePaths> paths_;  // of a drone with several; encrypted_ is empty then
  std::unique_ptr<AirSide> air_;       // of the first plane
  bool bundles_ = false;               // of any link
  std::unique_ptr<PlainSide> side_;    // where a link's plaintext is not one UDP socket; outlives the links
  // By index; empty where a drone was removed. Data thread. The first plane has all of them, another one its own.
  std::vector<std::shared_ptr<Link>> links_;
  mutable std::mutex snapshot_mutex_;
  std::shared_ptr<const std::vector<std::shared_ptr<Link>>> snapshot_;  // the same for all other threads
  std::atomic<std::uint64_t> key_changes_{0};  // of the first plane: after each, no thread's stack holds an old key
  ProcessCounters totals_;
  RefusedSources refused_;
  AlarmBoard alarms_;  // of the first plane
  Fd encrypted_, epoll_, wake_, timer_, handshake_timer_, shape_timer_, bundle_timer_;
  HandshakePort* handshakes_ = nullptr;
  std::uint64_t armed_ns_ = ~std::uint64_t{0};  // when handshake_timer_ rings
  bool shaping_ = false;                        // packets may wait in a shaper
  std::atomic<std::uint32_t> shape_kbit_{0};
  bool finds_rate_ = false;
  std::uint64_t shape_armed_ns_ = ~std::uint64_t{0};
  std::uint64_t bundles_armed_ns_ = ~std::uint64_t{0};
  SockAddr local_;  // a drone's port may change
  std::atomic<std::uint16_t> port_{0};
  ByteArray<16> arrived_at_{};  // drone: the address of ours that the datagram in work was sent to
  bool gro_ = false;
  KernelDrops kernel_drops_;
  std::optional<SnapshotWatch> snapshots_;  // of the first plane
  std::uint64_t next_boot_ns_ = 0;
  std::uint64_t next_version_log_ns_ = 0;
  UdpReceiver plain_in_, encrypted_in_;
  UdpSender encrypted_out_, plain_out_;
  std::unique_ptr<PlainTap> tap_;  // of a drone, where configured
  std::size_t delivery_link_ = 0;
  AddressBook peers_;
  std::vector<Link*> bundling_;  // in whose bundlers something may wait; each once, with room for all
  std::unordered_map<std::uint64_t, std::size_t> by_session_;
  std::unordered_map<std::uint16_t, std::size_t> by_index_;  // with compact headers
  std::uint64_t cached_id_ = 0;
  std::size_t cached_link_ = 0;
  bool cache_valid_ = false;

  // Of a further data thread: it has its turn while it works, and the first one when it must reach one of its links.
  mutable std::recursive_mutex turn_;
  mutable std::atomic<unsigned> wanted_{0};
  std::unique_ptr<HandshakeRelay> relay_;
  std::vector<std::unique_ptr<DataPlane>> others_;  // of the first plane: the further data threads
  std::thread thread_;
  std::mutex tasks_mutex_;
  std::vector<Task> tasks_;
  bool accepting_ = false;  // under tasks_mutex_
  std::atomic<bool> stopping_{false};
};

}  // namespace pqcmav
