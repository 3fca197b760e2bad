// SPDX-License-Identifier: Apache-2.0
// A drone, a gcs and an attacker without a key on a simulated link, around the classes that decide in the engine whose
// address counts: Reception (Admission, cookies, proofs), Transport, Session and PathValidator. M2 and M3 are made up.
//
// The attacker sees all of the link and drops nothing of it. He has addresses of his own, from which his copies of what
// the drone sends come first, and passes on what the gcs sends there, or a part of it. He puts any source on a copy.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "addresses.hpp"
#include "control/reception.hpp"
#include "handshake/handshake_messages.hpp"
#include "net/path_validator.hpp"
#include "session/control_frame.hpp"
#include "session_fixture.hpp"
#include "transport_world.hpp"

namespace pqcmav::test {

enum class Policy { silent, withholds_data, withholds_half, stalls, holds_back, passes_all };

struct AddressAttack {
  std::uint64_t delay = 30 * kMs, lead = 20 * kMs;  // one way; by how much his copies are earlier
  unsigned addresses = 1;
  Policy policy = Policy::withholds_data;
  std::uint64_t begins = 0, leaves = ~std::uint64_t{0};  // after the start
  unsigned forged_hellos = 0, forged_packets = 0;        // copies of each datagram, from sources of nobody
  std::uint64_t moves = 0, restarts = 0;                 // 0: never
  unsigned recordings = 0;                               // old M1s with good proofs, played from the restart on
  unsigned telemetry = 20;                               // a second
};

class AddressWorld {
 public:
  static constexpr std::uint64_t kEnd = 40 * kS, kRest = 500 * kMs;
  static constexpr unsigned kCommands = 20;  // a second
  static constexpr std::size_t kCommandBytes = 80, kReportBytes = 90;

  AddressWorld(const AddressAttack& attack, std::uint64_t seed,
               const Suite& suite = require_suite("cs-mlkem768-aesgcm-mldsa65"))
      : attack_(attack), random_(seed), keys_(seed), suite_(suite) {
    psk_.mut()[0] = 9;
    for (auto& byte : restart_secret_.mut()) byte = static_cast<std::uint8_t>(random_());
    restart_key_.emplace(restart_secret_.clone());
    start_ = from_ = clock_.now();
    boot_gcs();
    record();
  }
  virtual ~AddressWorld() = default;
  AddressWorld(const AddressWorld&) = delete;
  AddressWorld& operator=(const AddressWorld&) = delete;

  void run() {
    begin_attempt();
    for (std::uint64_t i = 0; i < kEnd / kS * attack_.telemetry; ++i)
      later(i * kS / attack_.telemetry, [this] { report(false); });
    for (std::uint64_t i = 0; i < kEnd / kS * 2; ++i) later(i * kS / 2 + 7 * kMs, [this] { report(true); });
    for (std::uint64_t i = 0; i < kEnd / kS * kCommands; ++i)
      later(i * kS / kCommands + 3 * kMs, [this] { command(); });
    if (attack_.moves != 0) later(attack_.moves, [this] { home_ = address(1, kHome + 1); });
    if (attack_.restarts != 0) later(attack_.restarts, [this] { restart(); });
    clock_.run(start_ + kEnd, [] { return false; });
  }

  // Results.
  [[nodiscard]] std::uint64_t sent() const { return commands_.size(); }
  [[nodiscard]] std::uint64_t delivered() const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(commands_, [&](const auto& each) { return arrived_.contains(each); }));
  }
  /// After the start, or the restart; kNever: not at all.
  [[nodiscard]] std::uint64_t up_after() const { return up_ == Transport::kNever ? up_ : up_ - from_; }
  /// The greatest excess over three times what came from an address that nobody answers at, in bytes.
  [[nodiscard]] std::uint64_t reflected() const {
    std::uint64_t worst = 0;
    for (const auto& [who, account] : accounts_)
      if (!account.answers && account.out > 3 * account.in) worst = std::max(worst, account.out - 3 * account.in);
    return worst;
  }
  [[nodiscard]] std::uint64_t to_attacker() const { return to_attacker_; }
  [[nodiscard]] std::uint64_t from_attacker() const { return from_attacker_; }

 protected:
  using Datagram = std::shared_ptr<const Bytes>;
  static constexpr std::uint32_t kHome = 0xc0000201, kAttacker = 0xc6336401, kNobody = 0xcb007100;
  struct Account {
    std::uint64_t in = 0, out = 0;
    bool answers = false;
  };

  void later(std::uint64_t after, std::function<void()> what) { clock_.at(start_ + after, std::move(what)); }
  [[nodiscard]] std::uint64_t now() const { return clock_.now(); }
  [[nodiscard]] bool attacks() const { return now() >= start_ + attack_.begins && now() < start_ + attack_.leaves; }
  [[nodiscard]] Account& account(const SockAddr& who) { return accounts_[who.text()]; }

  // --- The link

  virtual void up(Bytes bytes) {
    const auto datagram = std::make_shared<const Bytes>(std::move(bytes));
    const auto from = home_;
    clock_.at(now() + attack_.delay, [this, datagram, from] { at_gcs(*datagram, from); });
    if (!attacks()) return;
    const bool handshake = (*datagram)[0] == 0x33;
    const auto early = now() + std::max(kMs / 2, attack_.delay - std::min(attack_.delay, attack_.lead));
    const auto copy = [&](const SockAddr& source) {
      from_attacker_ += datagram->size() + 28;
      clock_.at(early, [this, datagram, source] { at_gcs(*datagram, source); });
    };
    const auto forged = handshake ? attack_.forged_hellos : attack_.forged_packets;
    for (unsigned i = 0; i < forged; ++i) copy(address(static_cast<std::uint16_t>(++nobody_ % 60'000 + 1), kNobody));
    for (unsigned i = 0; i < attack_.addresses; ++i) copy(address(static_cast<std::uint16_t>(i + 1), kAttacker));
  }

  virtual void down(ByteView bytes, const SockAddr& to) {
    account(to).out += bytes.size() + 28;
    const auto datagram = std::make_shared<const Bytes>(bytes.begin(), bytes.end());
    if (to == home_) {
      account(to).answers = true;
      clock_.at(now() + attack_.delay, [this, datagram, to] {
        if (to == home_) at_drone(*datagram);
      });
    } else if (to.ip16() == address(1, kAttacker).ip16()) {
      to_attacker_ += bytes.size() + 28;
      const auto extra = passes_on(bytes, to);
      if (!extra) return;
      account(to).answers = true;
      from_attacker_ += bytes.size() + 28;
      const auto early = std::max(kMs / 2, attack_.delay - std::min(attack_.delay, attack_.lead));
      clock_.at(now() + early + *extra, [this, datagram] { at_drone(*datagram); });
    }
  }

  /// How much later than he could; nullopt: not at all.
  std::optional<std::uint64_t> passes_on(ByteView bytes, const SockAddr& to) {
    const bool data = bytes[0] == 0x03, handshake = bytes[0] == 0x43;
    if (!attacks()) return std::nullopt;
    switch (attack_.policy) {
      case Policy::silent: return std::nullopt;
      case Policy::withholds_data: return data ? std::nullopt : std::optional(std::uint64_t{0});
      case Policy::withholds_half: return data && random_() % 2 == 0 ? std::nullopt : std::optional(std::uint64_t{0});
      case Policy::stalls:  // one datagram of each attempt, so that he is believed
        if (data ||
            (handshake && !stalled_.insert(to.text() + std::string(bytes.begin() + 1, bytes.begin() + 9)).second))
          return std::nullopt;
        return 0;
      case Policy::holds_back: return data ? std::nullopt : std::optional(random_() % (300 * kMs));
      case Policy::passes_all: return 0;
    }
    return std::nullopt;
  }

  // --- The drone

  struct Client {
    AttemptId name{};
    FragmentKeys keys;
    std::unique_ptr<Transport> transport;
    std::uint64_t wake = Transport::kNever;
  };

  virtual Bytes hello(const AttemptId&) {
    InitiatorParams params;
    params.suite = &suite_;
    params.drone_id = "uav1";
    params.psk = psk_.clone();
    params.gcs_public_key = Bytes(kVerifyKey);
    if (ticket_) params.ticket = ticket_->clone();
    params.random = [this](MutableBytes out) { fill(out); };
    return HandshakeInitiator(std::move(params)).start(now());
  }
  void fill(MutableBytes out) {
    for (auto& byte : out) byte = static_cast<std::uint8_t>(random_());
  }
  Client make_client() {
    Client client;
    fill(client.name);
    client.keys = derive_fragment_keys(psk_, client.name);
    TransportOptions options;
    options.attempt = client.name;
    client.transport = std::make_unique<Transport>(options, client.keys.clone());
    client.transport->expect(server_hello_limits(suite_, true));
    client.transport->start_hello(hello(client.name), longest_server_hello(suite_, true) + 200, ticket_.has_value(),
                                  now());
    return client;
  }
  void begin_attempt() {
    client_.emplace(make_client());
    serve_client();
  }
  void serve_client() {
    if (!client_) return;
    while (auto out = client_->transport->poll(now())) up(std::move(out->datagram));
    if (now() > client_->transport->last_progress() + 10 * kS) return begin_attempt();
    const auto due = std::min(client_->transport->deadline(), client_->transport->last_progress() + 10 * kS + 1);
    wake(client_, due, [this] { serve_client(); });
  }
  /// Serves a client again when it has something to do, unless it is gone by then.
  void wake(std::optional<Client>& client, std::uint64_t due, std::function<void()> serve) {
    if (due >= client->wake) return;
    client->wake = due;
    clock_.at(due, [&client, name = client->name, serve = std::move(serve)] {
      if (!client || client->name != name) return;
      client->wake = Transport::kNever;
      serve();
    });
  }
  virtual void on_whole(Bytes frame) {
    if (frame[4] == 2)
      return clock_.at(now() + 2 * kMs, [this, name = client_->name] {
        if (!client_ || client_->name != name) return;
        client_->transport->expect({{MessageType::server_finish, 32, 32}});
        client_->transport->start(made_up(MessageType::client_finish, kFinish), now());
        serve_client();
      });
    const auto made = made_.find(client_->name);
    if (frame[4] != 4 || made == made_.end()) return;
    drone_.install(std::move(made->second), now());
    made_.erase(made);
    client_.reset();
    if (up_ == Transport::kNever) up_ = now();
    report(true);
  }
  void at_drone(const Bytes& datagram) {
    if (datagram[0] == kRestartType) {
      const auto& current = drone_.current();
      if (!current || client_ || datagram.size() != 1 + kSessionIdSize + kRestartTokenSize ||
          !std::equal(current->id.begin(), current->id.end(), datagram.begin() + 1) ||
          !std::ranges::equal(restart_key_->token(current->id), ByteView(datagram).subspan(1 + kSessionIdSize)))
        return;
      if (restarted_sessions_.insert(current->id).second) begin_attempt();
      return;
    }
    if (datagram[0] == kRetryType || datagram[0] == 0x43) {
      if (!client_) return;
      if (const auto cookie = open_retry(datagram, client_->name, client_->keys.from_gcs)) {
        client_->transport->set_cookie(*cookie, now());
      } else if (const auto header = parse_handshake_header(datagram);
                 header && header->attempt == client_->name && tag_good(client_->keys.from_gcs, datagram)) {
        (void)client_->transport->on_datagram(datagram, 0, now());
        if (auto whole = client_->transport->take_message()) on_whole(std::move(*whole));
      }
      return serve_client();
    }
    auto packet = datagram;
    const auto header = parse_header(packet);
    if (!header) return;
    const auto opened = drone_.open(*header, packet, now());
    if (opened.drop) return;
    on_opened(true, *header, opened);
    if (opened.type == FrameType::data) return void(arrived_.insert(load_be<std::uint64_t>(opened.payload.data())));
    ControlList controls;
    if (!parse_controls(opened.payload, controls)) return;
    for (std::size_t i = 0; i < controls.count; ++i) on_control(true, opened, controls.items[i]);
  }
  /// What opened, before anything is made of it.
  virtual void on_opened(bool /*at_drone*/, const Header&, const Session::Opened&) {}
  virtual void on_control(bool at_drone, const Session::Opened&, const Control& control) {
    if (const auto* challenge = std::get_if<PathChallenge>(&control); at_drone && challenge != nullptr)
      say(PathResponse{challenge->random});
    if (const auto* response = std::get_if<PathResponse>(&control); !at_drone && response != nullptr) {
      gcs_->paths.on_response(response->random, now());
      follow_paths();
    }
  }
  template <typename Tlv>
  Bytes control_frame(Session& session, const Tlv& tlv, std::size_t pad = 0) {
    Bytes packet(kOverhead + kControlFrameMax);
    const auto used = append_control(MutableBytes(packet).subspan(kHeaderSize, kControlFrameMax), 0, tlv);
    packet.resize(kOverhead + std::max(*used, pad));
    return session.seal(FrameType::control, packet, now(), true) ? packet : Bytes{};
  }
  template <typename Tlv>
  void say(const Tlv& tlv) {
    if (drone_.can_send()) up(control_frame(drone_, tlv));
  }
  void report(bool control) {
    if (!drone_.can_send()) return;
    if (now() > drone_.heard_ns() + 2 * kS && !client_) begin_attempt();
    if (control) return say(Keepalive{});
    Bytes packet(kOverhead + kReportBytes);
    if (drone_.seal(FrameType::data, packet, now(), true)) up(std::move(packet));
  }

  // --- The gcs

  struct Gcs {
    HandshakeAttempts attempts;
    std::unique_ptr<Reception> reception;
    Session session{false, kTimers, 1024};
    PathValidator paths;
    std::vector<SockAddr> pending;
    std::uint64_t next_id = 1, wake = Transport::kNever, paths_wake = PathValidator::kNever;
  };

  virtual std::shared_ptr<ResponderEnv> environment() {
    auto env = std::make_shared<ResponderEnv>();
    env->find_drone = [this](std::string_view id) {
      return id == "uav1" ? std::optional(DroneRecord{psk_.clone(), false, false, true}) : std::nullopt;
    };
    return env;
  }
  void boot_gcs() {
    gcs_ = std::make_unique<Gcs>();
    Reception::Host host{environment(),
                         [](std::string_view) { return std::optional<std::size_t>(0); },
                         [](const SockAddr&) { return false; },
                         [](const SockAddr&) { return std::uint64_t{0}; },
                         [](const SigInfo&) { return std::uint64_t{0}; },
                         [](Standing) { return std::optional<std::uint16_t>(); },
                         [] { return std::uint32_t{60'000}; },
                         [](const std::string&, const std::string&, HandshakeError) {}};
    gcs_->reception = std::make_unique<Reception>(AdmissionLimits{}, *restart_key_, std::move(host), gcs_->attempts);
  }
  /// M1s of long ago with proofs that are good still: they never were the drone's newest.
  void record() {
    if (attack_.recordings == 0) return;
    give_ticket(home_);
    for (unsigned i = 0; i < attack_.recordings; ++i) {
      auto client = make_client();
      if (auto out = client.transport->poll(now())) recorded_.push_back(std::move(out->datagram));
    }
    ticket_.reset();
  }
  void restart() {
    boot_gcs();
    from_ = now();
    up_ = Transport::kNever;
    for (unsigned volley = 0; volley < 20; ++volley)
      for (unsigned i = 0; i < recorded_.size(); ++i)
        clock_.at(now() + volley * 50 * kMs + random_() % (50 * kMs), [this, i] {
          from_attacker_ += recorded_[i].size() + 28;
          at_gcs(recorded_[i], address(static_cast<std::uint16_t>(i + 1), kNobody + 1));
        });
  }
  void give_ticket(const SockAddr& where) {
    ticketed_.insert(where.ip16());
    const auto grant = restart_key_->make_return("uav1", where.ip16(), 60'000);
    ticket_.emplace(ReturnTicket{return_proof_prefix(grant.serial, grant.address_tag), grant.return_key.clone()});
  }

  void at_gcs(const Bytes& datagram, const SockAddr& source) {
    account(source).in += datagram.size() + 28;
    if (datagram[0] == 0x33) return on_handshake(datagram, source);
    auto packet = datagram;
    const auto header = parse_header(packet);
    if (!header) return;
    auto& session = gcs_->session;
    if (!receives(session, header->session_id)) {
      if (attempts_offer(header->session_id)) return;
      Bytes answer{kRestartType};
      append(answer, header->session_id);
      append(answer, restart_key_->token(header->session_id));
      return down(answer, source);
    }
    const auto opened = session.open(*header, packet, now());
    if (opened.drop) {
      if (opened.drop == Drop::replay && gcs_->paths.wants_repeat(source) &&
          session.is_repeat(*header, packet, kHeaderSize))
        heard(source, datagram.size());
      return;
    }
    on_opened(false, *header, opened);
    if (!opened.current) return;
    if (opened.switched && !gcs_->pending.empty()) {
      gcs_->paths.reset(gcs_->pending, now());
      give_ticket(gcs_->paths.path());
    }
    heard(source, datagram.size());
    if (opened.type != FrameType::control) return;
    ControlList controls;
    if (!parse_controls(opened.payload, controls)) return;
    for (std::size_t i = 0; i < controls.count; ++i) on_control(false, opened, controls.items[i]);
  }
  bool attempts_offer(const SessionId& session) const { return gcs_->attempts.offers(session); }
  void heard(const SockAddr& source, std::size_t size) {
    const auto round_trip = 2 * attack_.delay;
    gcs_->paths.on_packet(source, size, now(), round_trip + std::max(round_trip / 4, 10 * kMs) + 10 * kMs);
    follow_paths();
  }
  void follow_paths() {
    while (const auto challenge = gcs_->paths.poll(now()))
      down(control_frame(gcs_->session, PathChallenge{challenge->value}), challenge->to);
    const auto due = gcs_->paths.deadline();
    if (due >= gcs_->paths_wake) return;
    gcs_->paths_wake = due;
    clock_.at(due, [this, of = gcs_.get()] {
      if (of != gcs_.get()) return;
      gcs_->paths_wake = PathValidator::kNever;
      follow_paths();
    });
  }
  void command() {
    auto& session = gcs_->session;
    Bytes packet(kOverhead + kCommandBytes);
    store_be(packet.data() + kHeaderSize, ++command_);
    if (!session.can_send()) {
      if (const auto sealed = session.seal_early(packet, now()))
        for (const auto& each : gcs_->pending) down(*sealed, each);
      return;
    }
    if (!session.seal(FrameType::data, packet, now(), true)) return;
    // What is in flight while the drone moves, and until it has said so, is lost without any attacker.
    const auto moved = start_ + attack_.moves;
    const bool in_flight =
        attack_.moves != 0 && now() + attack_.delay >= moved && now() <= moved + attack_.delay + kS / attack_.telemetry;
    if (!in_flight && now() + kRest < start_ + kEnd && !restarting()) commands_.insert(command_);
    down(packet, gcs_->paths.path());
    gcs_->paths.for_each_other(packet.size(), [&](const SockAddr& to) { down(packet, to); });
  }
  /// What was on its way when the gcs went down says nothing.
  [[nodiscard]] bool restarting() const { return up_ == Transport::kNever; }

  void on_handshake(const Bytes& datagram, const SockAddr& source) {
    auto visit = gcs_->reception->on_datagram(datagram, source, now(), gcs_->next_id);
    if (!visit.retry.empty()) down(visit.retry, source);
    if (visit.newcomer) {
      if (visit.instead_of != nullptr) gcs_->attempts.remove(*visit.instead_of);
      ++gcs_->next_id;
      visit.newcomer->began_ns = now();
      visit.attempt = &gcs_->attempts.add(std::move(visit.newcomer));
      visit.attempt->transport.expect(client_hello_limits());
      visit.path = 0;
    }
    if (visit.attempt == nullptr) return;
    auto& attempt = *visit.attempt;
    if (visit.path == Transport::kElsewhere) attempt.elsewhere = source;
    (void)attempt.transport.on_datagram(datagram, visit.path, now());
    if (attempt.transport.answered()) gcs_->attempts.set_answered(attempt);
    if (auto whole = attempt.transport.take_message()) on_message(attempt, std::move(*whole));
    serve_gcs();
  }
  virtual void on_message(HandshakeAttempt& attempt, Bytes whole) {
    const auto of = gcs_.get();
    const auto type = whole[4];
    clock_.at(now() + (type == 1 ? 3 : 1) * kMs, [this, of, id = attempt.id, type] {
      if (of != gcs_.get()) return;
      auto* found = gcs_->attempts.find(id);
      if (found == nullptr) return;
      if (type == 1) {
        found->transport.expect({{MessageType::client_finish, kFinish - 5, kFinish - 5}});
        found->transport.start(made_up(MessageType::server_hello, longest_server_hello(suite_, true)), now());
      } else {
        auto pair = keys_.make(0, suite_);
        made_.insert_or_assign(found->name, std::move(pair.drone));
        complete(*found, std::move(pair.gcs), made_up(MessageType::server_finish, 37));
      }
      serve_gcs();
    });
  }
  void complete(HandshakeAttempt& attempt, SessionKeys keys, const Bytes& last) {
    gcs_->session.install(std::move(keys), now());
    gcs_->pending.clear();
    for (PathIndex path = 0; path < attempt.paths.size(); ++path)
      if (attempt.transport.has_answered(path)) gcs_->pending.push_back(attempt.paths[path]);
    attempt.transport.start(last, now());
    if (attempt.kind != HandshakeKind::ratchet) attempt.transport.linger(last);
    gcs_->attempts.linger(attempt);
    for (auto* each : gcs_->attempts.of_link(0))
      if (each->id < attempt.id && each->phase != HandshakeAttempt::Phase::lingering) end(*each);
  }
  void end(HandshakeAttempt& attempt) {
    gcs_->reception->admission().ended("uav1", attempt.name);
    gcs_->attempts.remove(attempt);
  }
  virtual void part_down(const HandshakeAttempt&, ByteView) {}  // of a handshake inside a session
  void serve_gcs() {
    auto due = Transport::kNever;
    for (auto* attempt : gcs_->attempts.of_link(0)) {
      while (auto out = attempt->transport.poll(now())) {
        if (attempt->session) {
          part_down(*attempt, out->datagram);
          continue;
        }
        down(out->datagram, out->path == Transport::kElsewhere ? attempt->elsewhere : attempt->paths[out->path]);
      }
      const bool lingers = attempt->phase == HandshakeAttempt::Phase::lingering;
      const auto limit = lingers ? attempt->began_ns + 40 * kS : attempt->transport.last_progress() + 10 * kS;
      if (now() >= limit) {
        end(*attempt);
        continue;
      }
      due = std::min({due, attempt->transport.deadline(), limit});
    }
    if (due >= gcs_->wake) return;
    gcs_->wake = due;
    clock_.at(due, [this, of = gcs_.get()] {
      if (of != gcs_.get()) return;
      gcs_->wake = Transport::kNever;
      serve_gcs();
    });
  }

  static constexpr std::size_t kFinish = 1169, kVerifyKey = 1952;  // of ML-DSA-65

  AddressAttack attack_;
  std::mt19937_64 random_;
  KeySource keys_;
  const Suite& suite_;
  Clockwork clock_;
  std::uint64_t start_ = 0, from_ = 0, up_ = Transport::kNever;
  Psk psk_;
  Secret<kRestartKeySize> restart_secret_;
  std::optional<RestartKey> restart_key_;
  std::optional<ReturnTicket> ticket_;
  std::set<ByteArray<16>> ticketed_;  // whose proofs there are
  SockAddr home_ = address(1, kHome);
  std::optional<Client> client_;
  Session drone_{true, kTimers, 1024};
  std::map<AttemptId, SessionKeys> made_;
  std::set<SessionId> restarted_sessions_;
  std::unique_ptr<Gcs> gcs_;
  std::vector<Bytes> recorded_;
  std::uint64_t command_ = 0, nobody_ = 0, to_attacker_ = 0, from_attacker_ = 0;
  std::set<std::uint64_t> commands_, arrived_;
  std::set<std::string> stalled_;
  std::map<std::string, Account> accounts_;
};

}  // namespace pqcmav::test
