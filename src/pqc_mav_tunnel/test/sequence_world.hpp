// SPDX-License-Identifier: Apache-2.0
// The world of address_world.hpp with real handshakes, rekeys and ratchets inside the session, goodbyes and payloads both
// ways, on a link that whoever plays decides about (sequence_player.hpp). What must never happen is checked at every
// step, and ends the process.
#pragma once

#include <cstdlib>

#include "address_world.hpp"
#include "handshake/ratchet.hpp"
#include "handshake/ratchet_messages.hpp"
#include "handshake_fixture.hpp"
#include "session_judge.hpp"

namespace pqcmav::test {

inline void require(bool holds, const char* what) {
  if (holds) return;
  (void)std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

class SequenceWorld : public AddressWorld {
 public:
  static constexpr std::uint64_t kUpkeep = 100 * kMs, kIdle = 500 * kMs, kSilent = 2 * kS, kBackoff = 300 * kMs;
  /// An attempt that gets nowhere, silence until that is noticed, and again: so long may the ends be apart on a network
  /// that works.
  static constexpr std::uint64_t kApartMost = 30 * kS;

  SequenceWorld(std::uint64_t seed, std::uint64_t delay, bool hybrid)
      : AddressWorld(AddressAttack{.delay = delay, .addresses = 0}, seed, light()), hybrid_(hybrid) {
    AddressWorld::boot_gcs();  // with this world's environment
  }
  void start() {
    begin_attempt();
    upkeep();
  }

  /// Both ends use the same keys and can talk.
  [[nodiscard]] bool agree() const {
    const auto &d = drone_.current(), &g = gcs_->session.current();
    return d && g && drone_.can_send() && gcs_->session.can_send() && d->id == g->id && d->epoch == g->epoch &&
           d->suite == g->suite && d->hybrid == g->hybrid && d->ratchets == g->ratchets;
  }

 protected:
  /// What an end gave to the link. `at`: its source, or where it goes.
  struct Sent {
    bool up = true;
    std::shared_ptr<const Bytes> bytes;
    SockAddr at;
  };
  virtual void on_link(Sent sent) = 0;

  // --- The link

  void up(Bytes bytes) override {
    if (!bytes.empty()) leave({true, std::make_shared<const Bytes>(std::move(bytes)), home_});
  }
  void down(ByteView bytes, const SockAddr& to) override {
    if (to.empty() || bytes.empty()) return;  // a session that can send no more
    auto& who = account(to);
    who.out += bytes.size() + 28;
    // A return proof, also a copied one, speaks for the IP that it was given to: see section 16.
    const bool proven = ticketed_.contains(to.ip16());
    require(who.answers || proven || forged_ || who.out <= 3 * who.in, "more than three times to who never answered");
    leave({false, std::make_shared<const Bytes>(bytes.begin(), bytes.end()), to});
  }
  void leave(Sent sent) {
    require(++left_ < kMostDatagrams, "datagrams without end");
    if (const auto header = parse_header(*sent.bytes)) {
      const auto key = std::tuple(header->session_id, header->epoch, sent.up);
      const auto hash = sha256({*sent.bytes});
      require(sealed_[key].try_emplace(header->sequence, hash).first->second == hash, "a sequence was used twice");
    }
    on_link(std::move(sent));
  }
  void arrive(const Sent& sent) {
    if (sent.up) return at_gcs(*sent.bytes, sent.at);
    account(sent.at).answers = true;  // what went there reaches the drone, which answers
    at_drone(*sent.bytes);
  }
  /// What carries no valid tag changes nothing.
  void arrive_forged(const Sent& sent) {
    const auto before = state();
    sent.up ? at_gcs(*sent.bytes, sent.at) : at_drone(*sent.bytes);
    require(before == state(), "what failed authentication changed something");
  }
  [[nodiscard]] std::vector<std::uint64_t> state() const {
    std::vector<std::uint64_t> out;
    for (const Session* session : {&drone_, static_cast<const Session*>(&gcs_->session)}) {
      for (const auto& info : {session->current(), session->pending()})
        out.push_back(info ? load_be<std::uint64_t>(info->id.data()) ^ info->epoch : 0);
      for (const auto& id : receive_ids(*session)) out.push_back(load_be<std::uint64_t>(id.data()));
      for (const auto each : {session->heard_ns(), session->last_sent_ns(), session->key_use()}) out.push_back(each);
    }
    const auto add = [&out](const Transport& transport) {
      out.push_back(transport.counts().received);
      out.push_back(transport.last_progress());
    };
    for (const auto* attempt : gcs_->attempts.of_link(0)) add(attempt->transport);
    for (const auto* client : {&client_, &inner_})
      if (*client) add(*(*client)->transport);
    for (const auto each : {gcs_->paths.revision(), gcs_->paths.deadline()}) out.push_back(each);
    return out;
  }

  // --- Payloads

  void send_data(bool drone) {
    Bytes packet(kOverhead + 8);
    store_be(packet.data() + kHeaderSize, ++content_);
    if (drone) {
      if (!drone_.seal(FrameType::data, packet, now(), true)) return;
      sent_[0].insert(content_);
      return up(std::move(packet));
    }
    auto& session = gcs_->session;
    if (session.can_send()) {
      if (!session.seal(FrameType::data, packet, now(), true)) return;
      sent_[1].insert(content_);
      return to_all(packet);
    }
    if (const auto early = session.seal_early(packet, now())) {
      sent_[1].insert(content_);
      for (const auto& each : gcs_->pending) down(*early, each);
    }
  }
  void to_all(ByteView packet) {
    down(packet, gcs_->paths.path());
    gcs_->paths.for_each_other(packet.size(), [&](const SockAddr& to) { down(packet, to); });
  }
  template <typename Tlv>
  void tell(bool drone, const Tlv& tlv) {
    auto& session = drone ? drone_ : gcs_->session;
    if (!session.can_send()) return;
    auto packet = control_frame(session, tlv);
    if (packet.empty()) return;
    drone ? up(std::move(packet)) : to_all(packet);
  }

  void on_opened(bool at_drone, const Header& header, const Session::Opened& opened) override {
    auto& tally = tallies_[{header.session_id, header.epoch, at_drone}];
    ++tally.opened;
    if (opened.behind == 0) {
      require(header.sequence == tally.next + opened.skipped, "numbers that were left out do not add up");
      tally.next = header.sequence + 1;
    }
    require(header.sequence + opened.behind + 1 == tally.next && tally.opened <= tally.next, "packets do not add up");
    if (opened.switched) on_switched(header.epoch);
    if (opened.type != FrameType::data) return;
    const auto content = opened.payload.size() == 8 ? load_be<std::uint64_t>(opened.payload.data()) : 0;
    require(sent_[at_drone].contains(content), "a payload that nobody sent");
    require(got_[at_drone].insert(content).second, "a payload twice");
  }
  void on_control(bool at_drone, const Session::Opened& opened, const Control& control) override {
    AddressWorld::on_control(at_drone, opened, control);
    if (const auto* part = std::get_if<HandshakePart>(&control); part != nullptr && opened.current)
      return at_drone ? part_at_drone(part->value) : part_at_gcs(part->value);
    if (std::holds_alternative<Close>(control) && opened.current) return close(at_drone);
    if (const auto* request = std::get_if<RekeyRequest>(&control); request != nullptr && at_drone)
      begin_inner(request->ratchet, true);
  }
  void close(bool drone) {
    (drone ? drone_ : gcs_->session).close(now());
    if (drone) return inner_.reset();
    for (auto* each : gcs_->attempts.of_link(0))
      if (each->session) end(*each);
  }

  // --- Time

  void upkeep() {
    for (const bool drone : {true, false}) {
      auto& session = drone ? drone_ : gcs_->session;
      (void)session.tick(now());
      require(receive_ids(session).size() <= Session::kSlots, "too many keys");
      if (now() >= session.last_sent_ns() + kIdle) tell(drone, Keepalive{});
    }
    if (!drone_.can_send() || drone_.silence(now()) >= kSilent) {
      inner_.reset();
      if (!client_ && now() >= next_attempt_) begin_attempt();
    } else if (inner_ && now() >= inner_->transport->last_progress() + 10 * kS) {
      inner_.reset();
    }
    serve_inner();
    require(gcs_->attempts.size() <= kMostAttempts, "handshakes without end");
    clock_.at(now() + kUpkeep, [this] { upkeep(); });
  }
  void crash_gcs() {
    boot_gcs();
    accounts_.clear();
  }
  void crash_drone() {
    drone_ = Session(true, kTimers, 1024);
    client_.reset();
    inner_.reset();
    next_attempt_ = now();
  }

  // --- Handshakes: the drone

  /// What an initiator does, whichever it is.
  struct Talk {
    std::function<HandshakeStep(ByteView)> take;
    std::function<std::vector<FrameLimits>()> expecting;
    std::function<SessionKeys()> keys;
    bool ratchet = false;
  };
  template <typename Initiator>
  Bytes talk_with(Talk& talk, std::shared_ptr<Initiator> initiator) {
    talk.take = [this, initiator](ByteView message) { return initiator->on_data(message, now()); };
    talk.expecting = [initiator] { return initiator->expecting(); };
    talk.keys = [initiator] { return initiator->take_keys(); };
    talk.ratchet = std::is_same_v<Initiator, RatchetInitiator>;
    return initiator->start(now());
  }
  InitiatorParams initiator_params() {
    Scene scene;
    scene.hybrid = hybrid_;
    auto params = drone_params(scene);
    params.psk = psk_.clone();
    params.features = features::kRatchet;
    params.random = [this](MutableBytes out) { fill(out); };
    return params;
  }
  static RunningSession running(const Session& session) {
    const auto& info = *session.current();
    return {info.id,       info.epoch,    SecretBytes(session.chain()->view()),
            info.suite,    info.hybrid,   info.drone_signed,
            info.features, info.ratchets, 0};
  }
  Bytes hello(const AttemptId&) override {
    auto params = initiator_params();
    if (ticket_) params.ticket = ticket_->clone();
    return talk_with(first_, std::make_shared<HandshakeInitiator>(std::move(params)));
  }
  /// Asks for fresh keys inside the session, where it may be.
  void begin_inner(bool ratchet, bool fresh) {
    if (inner_ || client_ || !drone_.can_send()) return;
    const auto session = running(drone_);
    if (ratchet ? bar_of(session.features, session.ratchets, false) != RatchetBar::none : session.epoch == 255) return;
    Client client;
    fill(client.name);
    TransportOptions options;
    options.attempt = client.name;
    options.in_session = true;
    client.transport = std::make_unique<Transport>(options, FragmentKeys{});
    Bytes first;
    if (ratchet) {
      RatchetParams params;
      params.session = running(drone_);
      params.psk = psk_.clone();
      params.fresh = fresh;
      params.random = [this](MutableBytes out) { fill(out); };
      first = talk_with(second_, std::make_shared<RatchetInitiator>(std::move(params)));
    } else {
      auto params = initiator_params();
      params.prev_session = session.id;
      params.epoch = static_cast<std::uint8_t>(session.epoch + 1);
      params.chain_prev = SecretBytes(session.chain.view());
      first = talk_with(second_, std::make_shared<HandshakeInitiator>(std::move(params)));
    }
    client.transport->expect(second_.expecting());
    client.transport->start(std::move(first), now());
    inner_.emplace(std::move(client));
    serve_inner();
  }
  void serve_inner() {
    while (inner_ && drone_.can_send()) {
      const auto out = inner_->transport->poll(now());
      if (!out) break;
      up(control_frame(drone_, HandshakePart{out->datagram}));
    }
    if (!inner_) return;
    wake(inner_, inner_->transport->deadline(), [this] { serve_inner(); });
  }
  void part_at_drone(ByteView value) {
    if (!inner_ || value.size() < kAttemptSize || !std::ranges::equal(inner_->name, value.first(kAttemptSize))) return;
    (void)inner_->transport->on_datagram(value, 0, now());
    if (auto whole = inner_->transport->take_message()) answer(inner_, second_, std::move(*whole));
    serve_inner();
  }
  void on_whole(Bytes frame) override { answer(client_, first_, std::move(frame)); }
  /// After the time that it takes.
  void answer(std::optional<Client>& client, Talk& talk, Bytes frame) {
    clock_.at(now() + 2 * kMs, [this, &client, &talk, name = client->name, frame = std::move(frame)] {
      if (!client || client->name != name) return;
      auto step = talk.take(frame);
      auto& transport = *client->transport;
      if (step.status == HandshakeStatus::done) {
        install_at_drone(talk.keys(), talk.ratchet);
        client.reset();
      } else if (step.status == HandshakeStatus::failed) {
        next_attempt_ = now() + kBackoff;
        client.reset();
      } else if (step.busy_ms) {
        transport.expect(talk.expecting());
        transport.hold_hello(now() + *step.busy_ms * kMs);
      } else {
        transport.expect(talk.expecting());
        transport.start(std::move(step.send), now());
      }
      &client == &client_ ? serve_client() : serve_inner();
    });
  }
  void install_at_drone(SessionKeys keys, bool ratchet) {
    ++(ratchet ? ratchets_ : handshakes_);
    nonces_.made(keys);
    drone_.install(std::move(keys), now());
    tell(true, Keepalive{});
  }

  // --- Handshakes: the gcs

  std::shared_ptr<ResponderEnv> environment() override {
    Scene scene;
    auto env = gcs_env(scene);
    env->find_drone = [this](std::string_view id) {
      return id == "uav1" ? std::optional(DroneRecord{psk_.clone(), false, false, true}) : std::nullopt;
    };
    env->features = features::kRatchet;
    env->random = [this](MutableBytes out) { fill(out); };
    env_ = env;
    return env;
  }
  void part_at_gcs(ByteView value) {
    const auto& session = gcs_->session;
    if (value.size() < kHandshakePartHeader || session.chain() == nullptr) return;
    AttemptId name;
    std::copy_n(value.begin(), kAttemptSize, name.begin());
    auto* attempt = gcs_->attempts.in_session(0, session.current()->id);
    if (attempt == nullptr || attempt->name != name) attempt = begin_at_gcs(attempt, name, value);
    if (attempt == nullptr) return;
    (void)attempt->transport.on_datagram(value, 0, now());
    if (auto whole = attempt->transport.take_message()) on_message(*attempt, std::move(*whole));
    serve_gcs();
  }
  HandshakeAttempt* begin_at_gcs(HandshakeAttempt* replaced, const AttemptId& name, ByteView value) {
    const auto frames = parse_frames(value.subspan(kHandshakePartHeader), FramesOf::session);
    if (!frames || frames->fragment_count == 0 || gcs_->reception->admission().has_ended("uav1", name)) return nullptr;
    const bool ratchet = frames->fragments[0].message == static_cast<std::uint8_t>(MessageType::ratchet_hello);
    if (!ratchet && !whole_message_of(*frames, 1)) return nullptr;
    if (replaced != nullptr) end(*replaced);
    TransportOptions options;
    options.side = HandshakeSide::gcs;
    options.attempt = name;
    options.in_session = true;
    auto attempt = std::make_unique<HandshakeAttempt>(gcs_->next_id++, Transport(options, FragmentKeys{}));
    attempt->name = name;
    attempt->session = gcs_->session.current()->id;
    attempt->facts = {"uav1", {}, true, true, false};
    attempt->began_ns = now();
    attempt->transport.expect(ratchet ? ratchet_hello_limits() : client_hello_limits());
    if (ratchet) {
      attempt->kind = HandshakeKind::ratchet;
      attempt->responder = std::make_shared<RatchetResponder>(
          RatchetTerms{running(gcs_->session), psk_.clone(), false, {}, {}, env_->random});
    } else {
      attempt->kind = HandshakeKind::rekey;
      attempt->responder = std::make_shared<HandshakeResponder>(env_, running(gcs_->session));
    }
    return &gcs_->attempts.add(std::move(attempt));
  }
  void on_message(HandshakeAttempt& attempt, Bytes whole) override {
    using Phase = HandshakeAttempt::Phase;
    if (attempt.phase != Phase::waiting) return;
    attempt.phase = Phase::with_worker;
    if (!attempt.responder) attempt.responder = std::make_shared<HandshakeResponder>(env_);
    clock_.at(now() + 3 * kMs, [this, of = gcs_.get(), id = attempt.id, whole = std::move(whole)] {
      if (of != gcs_.get()) return;
      auto* found = gcs_->attempts.find(id);
      if (found == nullptr) return;
      auto step = found->responder->take(whole, now());
      found->phase = Phase::waiting;
      found->computed = true;
      if (step.status == HandshakeStatus::done) {
        auto keys = found->responder->take_keys();
        nonces_.made(keys);
        learn(keys);
        complete(*found, std::move(keys), step.send);
      } else {
        gcs_->attempts.offer(*found, found->responder->session_id());
        if (!step.send.empty()) {
          found->transport.expect(found->responder->expecting());
          found->transport.start(std::move(step.send), now());
        }
      }
      const bool failed = step.status == HandshakeStatus::failed;
      serve_gcs();
      if (failed) end(*found);
    });
  }
  void part_down(const HandshakeAttempt& attempt, ByteView value) override {
    const auto& current = gcs_->session.current();
    if (current && current->id == attempt.session) tell(false, HandshakePart{value});
  }
  void on_switched(std::uint8_t) {
    for (auto* each : gcs_->attempts.of_link(0))
      if (each->phase == HandshakeAttempt::Phase::lingering) end(*each);
  }
  /// For who plays the holder of the keys.
  virtual void learn(const SessionKeys& keys) = 0;

  static constexpr std::size_t kMostDatagrams = 200'000, kMostAttempts = 300;

  bool hybrid_ = false;
  bool forged_ = false;  // somebody with keys spoke: he can answer for any address
  Talk first_, second_;
  std::optional<Client> inner_;
  std::shared_ptr<ResponderEnv> env_;
  std::uint64_t next_attempt_ = 0, content_ = 0, left_ = 0, handshakes_ = 0, ratchets_ = 0;
  std::array<std::set<std::uint64_t>, 2> sent_, got_;  // up, down: by whether they are at, or for, the drone
  NonceJudge nonces_;
  std::map<std::tuple<SessionId, std::uint8_t, bool>, std::map<std::uint64_t, Hash>> sealed_;
  struct Tally {
    std::uint64_t opened = 0, next = 0;
  };
  std::map<std::tuple<SessionId, std::uint8_t, bool>, Tally> tallies_;
};

}  // namespace pqcmav::test
