// SPDX-License-Identifier: Apache-2.0
// A drone and a gcs in a simulated world: real handshakes message by message, rekeys inside the session that they
// replace, sessions over a radio that loses, doubles, holds back and overtakes, blackouts, crashes, goodbyes. The
// transport of the handshakes is not here (test_transport.cpp): a message comes late or never. Time is a number,
// every schedule follows from a seed, and what must never happen is checked at every step. A test adds accidents by
// chance, or one accident at one named step of a rekey.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <set>

#include "control/drone_control.hpp"
#include "handshake_fixture.hpp"
#include "session_judge.hpp"

namespace pqcmav::test {

/// The boundaries of a rekey. m1 to m4: the message is about to arrive. The others: it has just happened.
enum class Step { m1, m2, m3, gcs_installed, m4, drone_installed, switched, heard, gcs_retired, drone_retired };
inline constexpr std::array kSteps = {
    Step::m1,       Step::m2,    Step::m3,          Step::gcs_installed, Step::m4, Step::drone_installed,
    Step::switched, Step::heard, Step::gcs_retired, Step::drone_retired};
inline constexpr std::array kStepNames = {"M1",       "M2",    "M3",          "gcs installed", "M4", "drone installed",
                                          "switched", "heard", "gcs retired", "drone retired"};

enum class Accident { cut, crash_drone, crash_gcs, dark_up, dark_down, dark, stall };
inline constexpr std::array kAccidents = {Accident::cut,     Accident::crash_drone, Accident::crash_gcs,
                                          Accident::dark_up, Accident::dark_down,   Accident::dark,
                                          Accident::stall};
inline constexpr std::array kAccidentNames = {"handshake cut",  "drone crashes", "gcs crashes",      "up link dark",
                                              "down link dark", "link dark",     "message held back"};

struct Plan {
  Step at = Step::m1;
  Accident what = Accident::cut;
  std::uint64_t duration = 0;  // of dark and stall
};

struct Chances {  // of 1000: per packet, per packet, per packet, per handshake message, and per 20 ms
  unsigned loss = 0, duplicate = 0, hold_back = 0, cut = 0, rekey = 0, crash = 0, close = 0, blackout = 0;
};

class SessionWorld {
 public:
  static constexpr std::uint64_t kStep = 20 * kMs, kTick = 100 * kMs;
  static constexpr std::uint64_t kKeepalive = kS / 2, kReconnect = 2 * kS, kNoProgress = 10 * kS;
  /// Silence until the drone notices, an attempt that gets nowhere or the longest back-off, and a handshake: so long may
  /// the ends be apart on a network that works.
  static constexpr std::uint64_t kApartMost = kReconnect + kNoProgress + kS;

  explicit SessionWorld(std::uint64_t seed, const Chances& chances = {})
      : random_(seed), backoff_(seed + 1), chances_(chances) {}

  void run(std::uint64_t duration) {
    run_until([] { return false; }, duration);
  }
  /// True when `done` became true in time.
  bool run_until(const std::function<bool()>& done, std::uint64_t limit) {
    for (const auto until = now_ + limit; now_ < until && !::testing::Test::HasFatalFailure(); now_ += kStep) {
      if (done()) return true;
      step();
    }
    return done();
  }
  /// From now on nothing goes wrong; what is still on the way comes within a second.
  void heal() {
    chances_ = Chances{};
    plan_.reset();
    dark_until_ = {now_, now_};
    disturbed_until_ = now_ + kS;
    for (auto& each : attempts_) each->arrives = std::min(each->arrives, now_ + kS);
  }
  void stop_sending() { sending_ = false; }
  /// The next rekey meets this accident; see happened().
  void plan(const Plan& accident) {
    plan_ = accident;
    happened_ = false;
  }
  void rekey_now() { rekey_wanted_ = true; }

  [[nodiscard]] bool happened() const { return happened_; }
  [[nodiscard]] bool rekeying() const { return rekey_wanted_ || running_ != nullptr; }
  /// Both ends use the same newest keys and can talk.
  [[nodiscard]] bool agree() const {
    const auto &d = drone_.session.current(), &g = gcs_.session.current();
    return d && g && d->id == g->id && drone_.session.can_send() && gcs_.session.can_send();
  }
  [[nodiscard]] std::optional<SessionId> drone_session() const { return id_of(drone_.session.current()); }
  [[nodiscard]] std::optional<SessionId> gcs_session() const { return id_of(gcs_.session.current()); }
  [[nodiscard]] std::size_t sent() const { return nonces_.count(); }
  [[nodiscard]] std::size_t delivered() const { return drone_.got.size() + gcs_.got.size(); }
  [[nodiscard]] std::size_t in_flight() const { return drone_.incoming.size() + gcs_.incoming.size(); }
  [[nodiscard]] std::size_t handshakes() const { return handshakes_; }
  [[nodiscard]] std::uint64_t longest_apart() const { return longest_apart_; }

 private:
  struct Packet {
    std::uint64_t arrives;
    Bytes bytes;
    std::uint64_t content;
  };
  struct End {
    explicit End(bool is_drone) : drone(is_drone), session(is_drone, kTimers, 1024), judge(is_drone) {}
    bool drone;
    unsigned life = 0;  // counts crashes
    Session session;
    LifetimeJudge judge;
    std::vector<Packet> incoming;
    std::set<std::uint64_t> got;
  };
  /// The drone may have given up while the gcs still waits for what is on the way.
  struct Attempt {
    Attempt(InitiatorParams params, std::shared_ptr<const ResponderEnv> env, std::optional<RunningSession> session)
        : drone(std::move(params)), gcs(std::move(env), std::move(session)) {}
    HandshakeInitiator drone;
    HandshakeResponder gcs;
    SessionId prev{};
    Bytes message;
    std::size_t index = 1;
    std::uint64_t arrives = 0, deadline = 0;
    bool drone_there = true, lost = false, over = false, replaces = false;
  };

  static std::optional<SessionId> id_of(const std::optional<Session::Info>& info) {
    return info ? std::optional(info->id) : std::nullopt;
  }
  bool chance(unsigned per_mille) { return per_mille != 0 && random_() % 1000 < per_mille; }
  [[nodiscard]] bool dark(bool upwards) const { return now_ < dark_until_[upwards ? 0 : 1]; }
  void disturbed(std::uint64_t until) { disturbed_until_ = std::max(disturbed_until_, until); }

  void step() {
    if (chance(chances_.blackout)) go_dark(true, true, random_() % (240 * kS));
    deliver(drone_);
    deliver(gcs_);
    carry_on();
    accidents();
    decide();
    for (auto* end : {&drone_, &gcs_}) {
      const bool idle = now_ - end->session.last_sent_ns() >= kKeepalive;
      if ((sending_ && chance(300)) || idle) send(*end);
    }
    if (now_ % kTick == 0) {
      tick(drone_, Step::drone_retired);
      tick(gcs_, Step::gcs_retired);
    }
    check_apart();
  }

  void tick(End& end, Step retired) {
    const auto before = receive_ids(end.session);
    end.session.tick(now_);
    end.judge.check(end.session, now_);
    const bool heard_newest = end.session.current() && before.size() > 1 && receive_ids(end.session).size() == 1;
    if (heard_newest) reach(retired);
  }

  // --- accidents ---

  void accidents() {
    if (chance(chances_.crash)) crash(random_() % 2 == 0 ? drone_ : gcs_);
    if (chance(chances_.close)) close(random_() % 2 == 0 ? drone_ : gcs_);
  }

  void go_dark(bool up, bool down, std::uint64_t duration) {
    if (up) dark_until_[0] = std::max(dark_until_[0], now_ + duration);
    if (down) dark_until_[1] = std::max(dark_until_[1], now_ + duration);
    disturbed(now_ + duration);
  }

  /// The planned accident, when this is its step. Returns true when it happened.
  bool reach(Step at, Attempt* attempt = nullptr) {
    if (!plan_ || plan_->at != at) return false;
    const auto [step, what, duration] = *plan_;
    plan_.reset();
    happened_ = true;
    disturbed(now_);
    switch (what) {
      case Accident::cut:
        for (auto& each : attempts_) cut(*each);
        break;
      case Accident::crash_drone: crash(drone_); break;
      case Accident::crash_gcs: crash(gcs_); break;
      case Accident::dark_up: go_dark(true, false, duration); break;
      case Accident::dark_down: go_dark(false, true, duration); break;
      case Accident::dark: go_dark(true, true, duration); break;
      case Accident::stall:
        if (attempt != nullptr) attempt->arrives = now_ + duration;
        disturbed(now_ + duration);
        break;
    }
    return true;
  }

  void crash(End& end) {
    end.session = Session(end.drone, kTimers, 1024);
    end.judge.crashed();
    ++end.life;
    disturbed(now_);
    for (auto& each : attempts_) {
      if (!end.drone) cut(*each);
      if (end.drone) each->drone_there = false;  // what it sent may still arrive
    }
    if (end.drone) {
      running_ = nullptr;
      backoff_.reset();
      next_attempt_ = now_;
    }
  }

  void close(End& end) {
    disturbed(now_);
    end.session.close(now_);
    end.judge.closed(end.session, now_);
  }

  // --- handshakes ---

  /// What the drone's control thread decides.
  void decide() {
    const auto& current = drone_.session.current();
    const bool silent = !current || !drone_.session.can_send() || drone_.session.silence(now_) >= kReconnect;
    if (running_ != nullptr) {
      // A rekey cannot outlive its session; and what answers first wins, the session or what would replace it.
      if (running_->prev != SessionId{} ? silent : running_->replaces && !silent) failed(*running_);
    }
    if (running_ != nullptr) return;
    if (silent) {
      if (now_ >= next_attempt_) begin(current && drone_.session.can_send());
    } else if (rekey_wanted_ || chance(chances_.rekey)) {
      rekey_wanted_ = false;
      begin_rekey();
    }
  }

  static Scene scene() {
    Scene out;
    out.hybrid = false;  // X25519 changes nothing here and costs most of the time
    return out;
  }

  void begin(bool replaces) {
    auto attempt = std::make_unique<Attempt>(drone_params(scene()), gcs_env(scene()), std::nullopt);
    attempt->replaces = replaces;
    begin(std::move(attempt));
  }

  /// Inside the session. The gcs holds the same one, else nothing of this is ever read there.
  void begin_rekey() {
    const auto& current = *drone_.session.current();
    auto params = drone_params(scene());
    params.prev_session = current.id;
    params.epoch = static_cast<std::uint8_t>(current.epoch + 1);
    params.chain_prev = SecretBytes(drone_.session.chain()->view());
    auto attempt = std::make_unique<Attempt>(
        std::move(params), gcs_env(scene()),
        RunningSession{current.id, current.epoch, SecretBytes(drone_.session.chain()->view())});
    attempt->prev = current.id;
    begin(std::move(attempt));
  }

  void begin(std::unique_ptr<Attempt> attempt) {
    attempt->deadline = now_ + kNoProgress;
    attempt->message = attempt->drone.start(now_);
    post(*attempt);
    running_ = attempt.get();
    attempts_.push_back(std::move(attempt));
  }

  /// What is lost is sent again: loss only delays.
  void post(Attempt& attempt) {
    attempt.arrives = now_ + 5 * kMs + random_() % (40 * kMs);
    for (std::uint64_t again = 200 * kMs; chance(chances_.loss) && again < 2 * kS; again += again / 2)
      attempt.arrives += again;
  }

  /// Brings a rekey's message over in a control frame of its session, as the two ends have it now. False when they do
  /// not have it any more.
  bool carried(const Attempt& attempt) {
    auto& from = attempt.index % 2 == 1 ? drone_ : gcs_;
    auto& to = attempt.index % 2 == 1 ? gcs_ : drone_;
    const auto is_current = [&](const End& end) {
      return end.session.current() && end.session.current()->id == attempt.prev && end.session.can_send();
    };
    if (!is_current(from)) return false;
    const auto content = next_content_++;
    const auto packet = seal(from.session, content, now_, FrameType::control);
    if (!packet) return false;
    nonces_.sealed(from.drone, from.life, *parse_header(*packet));
    from.judge.sent_under(attempt.prev);
    take(to, {now_, *packet, content});
    if (!is_current(to)) return false;
    if (attempt.index != 1) return true;
    // The gcs binds the keys to the secret that it has itself.
    EXPECT_TRUE(constant_time_equal(drone_.session.chain()->view(), gcs_.session.chain()->view()));
    return true;
  }

  /// Nothing of it arrives any more, at either end. Nobody says so: the drone notices when nothing comes.
  void cut(Attempt& attempt) {
    if (attempt.over) return;
    attempt.lost = true;
    attempt.over = !attempt.drone_there;
    disturbed(now_);
  }

  /// The drone's side of an attempt is at an end without keys.
  void failed(Attempt& attempt) {
    attempt.drone_there = false;
    if (attempt.lost) attempt.over = true;
    if (running_ != &attempt) return;
    running_ = nullptr;
    // An attempt that heard nothing lasted long enough already, and one that gave way has nothing to wait for.
    next_attempt_ = attempt.drone.error() == HandshakeError::none ? now_ : now_ + backoff_.next_ns();
  }

  void carry_on() {
    for (std::size_t i = 0; i < attempts_.size(); ++i) {  // by index: what happens may end others
      auto& attempt = *attempts_[i];
      if (!attempt.over && attempt.drone_there && now_ >= attempt.deadline) failed(attempt);
      if (!attempt.over && !attempt.lost && now_ >= attempt.arrives) arrive(attempt);
    }
    std::erase_if(attempts_, [](const auto& each) { return each->over; });
  }

  void arrive(Attempt& attempt) {
    const bool to_drone = attempt.index % 2 == 0;
    if (dark(!to_drone)) {
      attempt.arrives = now_ + 200 * kMs + random_() % kS;
      return;
    }
    static constexpr std::array kArrivals = {Step::m1, Step::m2, Step::m3, Step::m4};
    if (attempt.prev != SessionId{} && reach(kArrivals[attempt.index - 1], &attempt) &&
        (attempt.over || attempt.lost || attempt.arrives > now_))
      return;
    if (dark(!to_drone)) return;  // just now
    if (chance(chances_.cut)) return cut(attempt);
    if (to_drone && !attempt.drone_there) {
      attempt.over = true;  // nobody listens any more
      return;
    }
    if (attempt.prev != SessionId{} && !carried(attempt)) return cut(attempt);
    if (attempt.over || attempt.lost) return;  // by an accident that the frame met
    to_drone ? at_drone(attempt) : at_gcs(attempt);
    ++attempt.index;
  }

  void at_drone(Attempt& attempt) {
    attempt.deadline = now_ + kNoProgress;
    auto step = attempt.drone.on_data(attempt.message, now_);
    attempt.message = std::move(step.send);
    if (step.status == HandshakeStatus::working) return post(attempt);
    attempt.over = true;
    if (step.status == HandshakeStatus::failed) return failed(attempt);
    auto keys = attempt.drone.take_keys();
    const auto id = keys.session_id;
    const auto prev = attempt.prev;
    running_ = nullptr;
    backoff_.reset();
    nonces_.made(keys);
    drone_.session.install(std::move(keys), now_);
    drone_.judge.installed(drone_.session, id, now_);
    ++handshakes_;
    if (prev != SessionId{}) reach(Step::drone_installed);
    send(drone_);  // the drone speaks at once
  }

  void at_gcs(Attempt& attempt) {
    auto step = attempt.gcs.on_data(attempt.message, now_);
    if (attempt.gcs.gated()) {
      // A session runs one attempt. A first handshake ends nothing before its M3.
      for (auto& other : attempts_)
        if (other.get() != &attempt && attempt.prev != SessionId{} && other->prev == attempt.prev) cut(*other);
      step = attempt.gcs.go_on(now_);
    }
    attempt.message = std::move(step.send);
    if (step.status == HandshakeStatus::done) {
      install_at_gcs(attempt);
      if (attempt.over || attempt.lost) return;
    }
    attempt.message.empty() ? cut(attempt) : post(attempt);
  }

  void install_at_gcs(Attempt& attempt) {
    auto keys = attempt.gcs.take_keys();
    const auto id = keys.session_id;
    const auto prev = attempt.prev;
    nonces_.made(keys);
    for (auto& older : attempts_) {  // the attempts that began before it, in order
      if (older.get() == &attempt) break;
      cut(*older);
    }
    gcs_.session.install(std::move(keys), now_);
    gcs_.judge.installed(gcs_.session, id, now_);
    if (prev != SessionId{}) reach(Step::gcs_installed);
  }

  // --- packets ---

  void send(End& from) {
    const auto content = next_content_;
    const auto packet = seal(from.session, content, now_);
    if (!packet) return;
    ++next_content_;
    const auto header = *parse_header(*packet);
    nonces_.sealed(from.drone, from.life, header);
    from.judge.sent_under(header.session_id);
    auto& to = from.drone ? gcs_ : drone_;
    for (unsigned copies = chance(chances_.duplicate) ? 2 : 1; copies > 0; --copies) {
      if (dark(from.drone) || chance(chances_.loss)) continue;
      const auto delay = chance(chances_.hold_back) ? random_() % kS : 5 * kMs + random_() % (40 * kMs);
      to.incoming.push_back({now_ + delay, *packet, content});
    }
  }

  void deliver(End& to) {
    std::vector<Packet> due;
    std::erase_if(to.incoming, [&](Packet& packet) {
      if (packet.arrives > now_) return false;
      due.push_back(std::move(packet));
      return true;
    });
    std::sort(due.begin(), due.end(), [](const auto& a, const auto& b) { return a.arrives < b.arrives; });
    for (auto& packet : due) take(to, packet);
  }

  void take(End& to, const Packet& packet) {
    const auto header = *parse_header(packet.bytes);
    const bool first_under_this = to.drone && to.session.current() && to.session.current()->id == header.session_id &&
                                  !heard_under_.contains(header.session_id);
    const auto received = open(to.session, packet.bytes, now_);
    if (received.opened.drop) {
      ASSERT_TRUE(received.opened.drop == Drop::unknown || received.opened.drop == Drop::replay)
          << static_cast<int>(*received.opened.drop);
      return;
    }
    ASSERT_EQ(received.content, packet.content);
    ASSERT_TRUE(to.got.insert(received.content).second) << "delivered twice";
    if (received.opened.current) {
      ASSERT_TRUE(to.session.current());
      ASSERT_EQ(to.session.current()->id, header.session_id);
      to.judge.heard(to.session, header.session_id, now_);
    }
    if (received.opened.switched) {
      const bool crashed = header.epoch != 0 && reach(Step::switched) && !gcs_.session.current();
      if (!crashed) send(gcs_);  // SWITCHED
    }
    if (first_under_this) {
      heard_under_.insert(header.session_id);
      if (header.epoch != 0) reach(Step::heard);
    }
  }

  // --- what must hold of both together ---

  /// Whatever one end seals now, the other can open.
  [[nodiscard]] bool understands(const End& from, const End& to) const {
    return from.session.current() && from.session.can_send() && receives(to.session, from.session.current()->id);
  }

  /// The ends may only be apart while something disturbs them, and for as long after it as silence takes to be noticed
  /// and cured.
  void check_apart() {
    if (understands(drone_, gcs_) && understands(gcs_, drone_)) {
      apart_since_.reset();
      return;
    }
    const auto since = std::max(apart_since_.value_or(now_), disturbed_until_);
    apart_since_ = apart_since_.value_or(now_);
    if (now_ <= since) return;
    longest_apart_ = std::max(longest_apart_, now_ - since);
    const auto allowance =
        chances_.loss != 0 || chances_.hold_back != 0 ? 15 * kS : 0;  // handshakes that lose messages take longer
    ASSERT_LE(now_ - since, kApartMost + allowance) << "the ends stay apart";
  }

  std::mt19937_64 random_;
  Backoff backoff_;
  Chances chances_;
  std::optional<Plan> plan_;
  bool happened_ = false, rekey_wanted_ = false, sending_ = true;
  End drone_{true}, gcs_{false};
  std::uint64_t now_ = 1000 * kS, next_attempt_ = 0, next_content_ = 1, disturbed_until_ = 0, longest_apart_ = 0;
  std::array<std::uint64_t, 2> dark_until_{};  // up, down
  std::optional<std::uint64_t> apart_since_;
  std::vector<std::unique_ptr<Attempt>> attempts_;
  Attempt* running_ = nullptr;  // the drone's own
  std::size_t handshakes_ = 0;
  NonceJudge nonces_;
  std::set<SessionId> heard_under_;
};

}  // namespace pqcmav::test
