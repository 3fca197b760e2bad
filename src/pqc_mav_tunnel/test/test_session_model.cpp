// Two sessions in a simulated world: handshakes that half succeed, packets lost, doubled, held back and overtaken, blackouts, restarts, goodbyes. Every
// schedule comes from a seed; a failure names it.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "session_fixture.hpp"

namespace pqcmav {
namespace {

using test::kMs;
using test::kS;
using test::kTimers;

constexpr std::uint64_t kStep = 20 * kMs, kTick = 100 * kMs;
constexpr std::uint64_t kKeepalive = kS, kReconnect = 5 * kS, kBackoffMost = 10 * kS;

struct Chances {  // of 1000
  unsigned loss, duplicate, hold_back, handshake_lost, rekey, restart, close, blackout;
};

struct Packet {
  std::uint64_t arrives;
  Bytes bytes;
  std::uint64_t content;
};

/// What the test itself remembers of the keys of one end, to judge the Session by.
struct KeyHistory {
  std::uint64_t installed = 0;
  std::optional<std::uint64_t> replaced, next_heard;  // no longer the newest; the next one was heard here
};

struct End {
  explicit End(bool is_drone) : drone(is_drone), session(is_drone, kTimers, 1024) {}
  bool drone;
  Session session;
  std::map<SessionId, KeyHistory> keys;
  std::vector<SessionId> sent_under;  // in order of first use
  std::vector<Packet> incoming;
  std::set<std::uint64_t> got;
};

class World {
 public:
  World(std::uint64_t seed, const Chances& chances) : random_(seed), source_(seed + 1), chances_(chances) {}

  void run(std::uint64_t duration) {
    for (const auto until = now_ + duration; now_ < until && !::testing::Test::HasFailure(); now_ += kStep) step();
  }
  void heal() { chances_ = Chances{}; }
  [[nodiscard]] bool agree() const {
    const auto &d = drone_.session.current(), &g = gcs_.session.current();
    return d && g && d->id == g->id && drone_.session.can_send() && gcs_.session.can_send();
  }
  /// Data packets of which each end got none twice: how many were sent and how many arrived.
  [[nodiscard]] std::pair<std::size_t, std::size_t> data() const { return {sealed_contents_, drone_.got.size() + gcs_.got.size()}; }
  [[nodiscard]] std::size_t handshakes() const { return handshakes_; }
  [[nodiscard]] std::size_t in_flight() const { return drone_.incoming.size() + gcs_.incoming.size(); }
  void stop_sending() { sending_ = false; }

 private:
  bool chance(unsigned per_mille) { return random_() % 1000 < per_mille; }

  void step() {
    if (now_ >= blackout_until_ && chance(chances_.blackout)) blackout_until_ = now_ + random_() % (240 * kS);
    deliver(drone_);
    deliver(gcs_);
    act();
    for (auto* end : {&drone_, &gcs_}) {
      const bool idle = now_ - end->session.last_sent_ns() >= kKeepalive;
      if ((sending_ && chance(300)) || idle) send(*end);
    }
    if (now_ % kTick == 0) {
      drone_.session.tick(now_);
      gcs_.session.tick(now_);
      check_lifetimes(drone_);
      check_lifetimes(gcs_);
    }
  }

  /// What the drone's control thread does, and the accidents.
  void act() {
    if (chance(chances_.restart)) restart(random_() % 2 == 0 ? drone_ : gcs_);
    if (chance(chances_.close)) {
      auto& end = random_() % 2 == 0 ? drone_ : gcs_;
      close(end);
    }
    const auto& current = drone_.session.current();
    const bool fresh = !current || !drone_.session.can_send() || drone_.session.silence(now_) >= kReconnect;
    if (fresh) {
      if (now_ >= next_attempt_) {
        handshake(SessionId{}, 0);
        next_attempt_ = now_ + kBackoffMost / 20 + random_() % kBackoffMost;
      }
    } else if (chance(chances_.rekey)) {
      if (current->epoch == 255)
        handshake(SessionId{}, 0);
      else
        handshake(current->id, static_cast<std::uint8_t>(current->epoch + 1));
    }
  }

  /// Over TCP: either end may install, or the gcs alone when the last message is lost.
  void handshake(const SessionId& prev, std::uint8_t epoch) {
    if (now_ < blackout_until_) return;
    const auto known = [&](const auto& info) { return info && info->id == prev; };
    if (prev != SessionId{} && !known(gcs_.session.pending()) && !known(gcs_.session.current())) {
      next_attempt_ = now_;
      return;  // Reject: session unknown
    }
    if (chance(chances_.handshake_lost)) return;
    auto keys = source_.make(epoch);
    const auto id = keys.gcs.session_id;
    if (const auto pending = gcs_.session.pending(); pending && pending->id == prev) heard(gcs_, prev);
    gcs_.session.install(std::move(keys.gcs), prev, now_);
    for (auto& [other, history] : gcs_.keys)
      if (!gcs_.session.current() || other != gcs_.session.current()->id) history.replaced = history.replaced.value_or(now_);
    gcs_.keys[id].installed = now_;
    if (chance(chances_.handshake_lost)) return;
    drone_.session.install(std::move(keys.drone), prev, now_);
    for (auto& [other, history] : drone_.keys) history.replaced = history.replaced.value_or(now_);
    drone_.keys[id].installed = now_;
    ++handshakes_;
    send(drone_);  // the drone speaks at once
  }

  void restart(End& end) {
    end.session = Session(end.drone, kTimers, 1024);
    end.keys.clear();
    end.sent_under.clear();
  }

  void close(End& end) {
    end.session.close(now_);
    for (auto& [id, history] : end.keys)
      if (!end.session.pending() || end.session.pending()->id != id) {
        history.replaced = history.replaced.value_or(now_);
        history.next_heard = history.next_heard.value_or(now_);
      }
  }

  void send(End& from) {
    const auto content = next_content_;
    const auto packet = test::seal(from.session, content, now_);
    if (!packet) return;
    ++next_content_;
    ++sealed_contents_;
    const auto header = *parse_header(*packet);
    // The one thing that must never happen: one key, one nonce, two packets.
    ASSERT_TRUE(sealed_.emplace(header.session_id, from.drone, header.epoch, header.sequence).second)
        << (from.drone ? "drone" : "gcs") << " used sequence " << header.sequence << " twice";
    if (from.sent_under.empty() || from.sent_under.back() != header.session_id) {
      ASSERT_EQ(std::find(from.sent_under.begin(), from.sent_under.end(), header.session_id), from.sent_under.end()) << "went back to an older key";
      from.sent_under.push_back(header.session_id);
    }
    auto& to = from.drone ? gcs_ : drone_;
    const bool dark = now_ < blackout_until_;
    for (unsigned copies = chance(chances_.duplicate) ? 2 : 1; copies > 0; --copies) {
      if (dark || chance(chances_.loss)) continue;
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
    for (auto& packet : due) {
      const auto id = parse_header(packet.bytes)->session_id;
      const auto received = test::open(to.session, packet.bytes, now_);
      if (received.opened.drop) {
        ASSERT_TRUE(received.opened.drop == Drop::unknown || received.opened.drop == Drop::replay) << static_cast<int>(*received.opened.drop);
        continue;
      }
      ASSERT_EQ(received.content, packet.content);
      ASSERT_TRUE(to.got.insert(received.content).second) << "delivered twice";
      if (received.opened.current) {
        ASSERT_TRUE(to.session.current());
        ASSERT_EQ(to.session.current()->id, id);
        heard(to, id);
      }
    }
  }

  /// A packet under `id`, which is or becomes the current key of `end`.
  void heard(End& end, const SessionId& id) {
    for (auto& [other, history] : end.keys) {
      if (other == id) continue;
      if (!end.drone && other != pending_id(end)) history.replaced = history.replaced.value_or(now_);
      if (history.replaced) history.next_heard = history.next_heard.value_or(now_);
    }
  }
  static SessionId pending_id(const End& end) { return end.session.pending() ? end.session.pending()->id : SessionId{}; }

  void check_lifetimes(const End& end) const {
    const auto ids = test::receive_ids(end.session);
    ASSERT_LE(ids.size(), Session::kSlots);
    for (const auto& id : ids) {
      ASSERT_TRUE(end.keys.contains(id));
      const auto& history = end.keys.at(id);
      const auto who = end.drone ? "drone" : "gcs";
      ASSERT_TRUE(!history.replaced || now_ < *history.replaced + kTimers.unused + kTick) << who << " keeps a replaced key for ever";
      ASSERT_TRUE(!history.next_heard || now_ < *history.next_heard + kTimers.grace + kTick) << who << " keeps an old key beyond the grace time";
      ASSERT_TRUE(pending_id(end) != id || now_ < history.installed + kTimers.unused + kTick) << who << " keeps unused keys for ever";
    }
    ASSERT_TRUE(!end.session.current() || end.session.silence(now_) < kTimers.limit) << "keys live beyond the hard limit";
    ASSERT_EQ(end.session.can_send(), end.session.current().has_value());
  }

  std::mt19937_64 random_;
  test::KeySource source_;
  Chances chances_;
  End drone_{true}, gcs_{false};
  std::uint64_t now_ = 1000 * kS, blackout_until_ = 0, next_attempt_ = 0, next_content_ = 1;
  std::size_t sealed_contents_ = 0, handshakes_ = 0;
  bool sending_ = true;
  std::set<std::tuple<SessionId, bool, std::uint8_t, std::uint64_t>> sealed_;
};

TEST(SessionModel, SurvivesEverySchedule) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed * 7919);
    const auto up_to = [&](unsigned most) { return static_cast<unsigned>(random() % (most + 1)); };
    World world(seed, {up_to(400), up_to(200), up_to(300), up_to(500), up_to(60), up_to(3), up_to(3), up_to(2)});
    world.run(200 * kS);
    world.heal();
    world.run(240 * kS);  // a blackout that had begun may still last
    ASSERT_FALSE(HasFailure());
    ASSERT_TRUE(world.agree()) << "the ends stay apart on a working network";
    ASSERT_GT(world.handshakes(), 0u);
  }
}

TEST(SessionModel, HealsWithinSecondsOfTheNetwork) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed, {300, 0, 200, 500, 100, 5, 5, 0});
    world.run(60 * kS);
    world.heal();
    world.run(kReconnect + kBackoffMost + kBackoffMost / 20 + kS);
    ASSERT_FALSE(HasFailure());
    ASSERT_TRUE(world.agree());
  }
}

TEST(SessionModel, RekeysLoseNothing) {
  // Only reordering (up to a second, below the grace time), duplicates and half-finished handshakes.
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed, {0, 200, 100, 300, 8, 0, 0, 0});
    world.run(60 * kS);
    world.stop_sending();
    world.run(2 * kS);
    ASSERT_FALSE(HasFailure());
    ASSERT_GT(world.handshakes(), 5u);
    // Keepalives of the last moments may still be on the way.
    ASSERT_LE(world.in_flight(), 4u);
    const auto [sent, got] = world.data();
    ASSERT_GE(got + world.in_flight(), sent) << sent - got << " of " << sent << " lost";
  }
}

}  // namespace
}  // namespace pqcmav
