// SPDX-License-Identifier: Apache-2.0
// A drone and a gcs that shake hands over simulated links: two Transports with messages that are made up, or real ones
// from the functions that answer them.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "busy_session.hpp"
#include "handshake/retry_cookie.hpp"
#include "handshake/transport.hpp"
#include "simulated_link.hpp"

namespace pqcmav::test {

/// Frames with their header, in bytes, and what the ends need to answer.
struct MessageSizes {
  const char* name;
  std::size_t m1, m2, m3, m4;
  std::uint64_t gcs_time, drone_time;
};
inline constexpr MessageSizes kDefaultSizes{"ML-KEM-768 + ML-DSA-65", 330, 4578, 1169, 37, 2 * kMs, 2 * kMs};
inline constexpr MessageSizes kFalconSuite{"ML-KEM-512 + Falcon-512", 330, 1638, 849, 37, 6 * kMs, 2 * kMs};
inline constexpr MessageSizes kMcElieceSuite{"McEliece-348864 + ML-DSA-44", 340, 263626, 177, 37, 3 * kMs, 5 * kMs};
inline constexpr MessageSizes kSphincsSuite{"HQC-256 + SPHINCS+-256s", 340, 37123, 14502, 37, 450 * kMs, 10 * kMs};

inline Bytes made_up(MessageType type, std::size_t size) {
  auto frame = start_frame(type, size - kFrameHeaderSize);
  std::uint32_t state = 12345 + static_cast<std::uint32_t>(type);
  while (frame.size() < size) frame.push_back(static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24));
  return frame;
}

inline Psk world_psk() {
  Psk psk;
  psk.mut()[0] = 7;
  return psk;
}
inline constexpr AttemptId kAttempt{1, 2, 3, 4, 5, 6, 7, 8};
inline constexpr std::uint32_t kFirstGcsPacket = 1'234'567;

/// What becomes of a datagram before it enters the link.
struct Fate {
  std::uint64_t delay = 0;
  Bytes datagram;
  int address = 0;  // that the gcs sees it come from
};

struct WorldTerms {
  MessageSizes sizes = kDefaultSizes;
  LinkTerms up{}, down{};
  std::uint64_t seed = 1;
  bool proven = false, in_session = false;
  std::uint16_t datagram_limit = 1200;
  std::uint64_t wire_ns = 0;  // over a serial line
  // For each datagram, `up` from the drone, counted from 0: itself alone if there is no function.
  std::function<std::vector<Fate>(bool up, std::size_t nth, const Bytes&)> fates;
  // The next message for one that came; made up if there is no function. nullopt: none, the end failed or is done.
  std::function<std::optional<Bytes>(bool at_drone, const Bytes&)> answer;
  Bytes first_message;                         // M1; made up if empty
  std::optional<BusyTerms> busy{};             // in_session
  KnownLink known_to_drone{}, known_to_gcs{};  // in_session
  bool loose = false;                          // messages may be much shorter than `sizes` says
};

class TransportWorld {
 public:
  explicit TransportWorld(WorldTerms terms)
      : terms_(std::move(terms)),
        up_(clock_, terms_.up, terms_.seed * 2 + 1),
        down_(clock_, terms_.down, terms_.seed * 2 + 2),
        keys_(derive_fragment_keys(world_psk(), kAttempt)),
        drone_(make(HandshakeSide::drone)) {
    if (terms_.first_message.empty()) terms_.first_message = made_up(MessageType::client_hello, terms_.sizes.m1);
    begin_ = clock_.now();
    if (terms_.busy) {
      busy_.emplace(clock_, up_, down_, *terms_.busy, terms_.seed);
      begin_ += terms_.busy->idle + terms_.busy->busy;
      clock_.run(begin_, [] { return false; });
    }
    drone_.transport->expect(
        {limits(MessageType::server_hello, terms_.sizes.m2), limits(MessageType::reject, kFrameHeaderSize + 1)});
    if (terms_.in_session) {
      drone_.transport->start(terms_.first_message, begin_);
    } else {
      // What M2 takes with 30 bytes for each fragment.
      const auto need = terms_.sizes.m2 + 30 * ((terms_.sizes.m2 + 1149) / 1150);
      drone_.transport->start_hello(terms_.first_message, need, terms_.proven, begin_);
    }
    serve(true);
  }

  /// True when M4 came within `limit`.
  bool run(std::uint64_t limit = 300'000 * kMs) {
    clock_.run(begin_ + limit, [this] { return finished_.has_value(); });
    return finished_.has_value();
  }
  /// Goes on, whether it is finished or not.
  void idle(std::uint64_t duration) {
    clock_.run(clock_.now() + duration, [] { return false; });
  }
  [[nodiscard]] double seconds() const { return static_cast<double>(finished_.value() - begin_) * 1e-9; }
  [[nodiscard]] std::uint64_t bytes() const { return up_.bytes() + down_.bytes(); }
  Transport& drone() { return *drone_.transport; }
  Transport* gcs() { return gcs_.transport.get(); }
  Clockwork& clock() { return clock_; }
  [[nodiscard]] std::uint64_t held_back() const { return busy_ ? busy_->held_back() : 0; }
  [[nodiscard]] std::size_t sent(bool up) const { return up ? drone_.sent : gcs_.sent; }
  [[nodiscard]] std::size_t bad_tags() const { return bad_tags_; }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }
  /// At the gcs: did somebody answer what was sent there?
  [[nodiscard]] bool has_answered(int address) const {
    const auto found = paths_.find(address);
    return found != paths_.end() && gcs_.transport->has_answered(found->second);
  }
  [[nodiscard]] const std::map<int, std::uint64_t>& bytes_to() const { return to_; }
  [[nodiscard]] int messages(bool at_drone, MessageType type) const {
    const auto& taken = (at_drone ? drone_ : gcs_).taken;
    const auto found = taken.find(static_cast<std::uint8_t>(type));
    return found == taken.end() ? 0 : found->second;
  }
  static constexpr int kHome = 0;  // the drone's own address

 private:
  struct End {
    std::unique_ptr<Transport> transport;
    std::size_t sent = 0;
    std::uint64_t wake = Transport::kNever;
    std::map<std::uint8_t, int> taken;
  };

  End make(HandshakeSide side) {
    TransportOptions options;
    options.side = side;
    options.attempt = kAttempt;
    options.in_session = terms_.in_session;
    options.first_packet = side == HandshakeSide::gcs ? kFirstGcsPacket : 0;
    options.datagram_limit = terms_.datagram_limit;
    options.wire_ns = terms_.wire_ns;
    options.known = side == HandshakeSide::gcs ? terms_.known_to_gcs : terms_.known_to_drone;
    End end;
    end.transport = std::make_unique<Transport>(options, keys_.clone());
    return end;
  }
  [[nodiscard]] FrameLimits limits(MessageType type, std::size_t frame) const {
    const auto greatest = frame - kFrameHeaderSize;
    return {type, terms_.loose || greatest < 600 ? 0 : greatest - 600, greatest};
  }

  void complain(const std::string& what) {
    if (complaint_.empty()) complaint_ = what;
  }

  void send(bool drone) {
    auto& end = drone ? drone_ : gcs_;
    while (auto next = end.transport->poll(clock_.now())) {
      if (next->datagram.size() > (terms_.in_session ? 1159U : 1200U)) complain("a datagram too long");
      if (!drone) charge(address_of(next->path), next->datagram.size());
      const auto nth = end.sent++;
      auto fates = terms_.fates ? terms_.fates(drone, nth, next->datagram)
                                : std::vector<Fate>{{0, std::move(next->datagram), kHome}};
      const auto to = drone ? kHome : address_of(next->path);
      for (auto& fate : fates) {
        if (fate.delay == 0) {
          dispatch(drone, std::move(fate), to);
        } else {
          clock_.at(clock_.now() + fate.delay, [this, drone, fate, to] { dispatch(drone, fate, to); });
        }
      }
    }
  }

  /// Sends what is due and comes back when more is.
  void serve(bool drone) {
    auto& end = drone ? drone_ : gcs_;
    send(drone);
    if (busy_ && busy_->consider(drone, end.transport->stalls())) {
      end.transport->widen();
      send(drone);
    }
    const auto due = end.transport->deadline();
    if (due == Transport::kNever || due >= end.wake) return;
    if (due <= clock_.now()) return complain("a deadline that has passed");
    end.wake = due;
    clock_.at(due, [this, drone, due] {
      auto& woken = drone ? drone_ : gcs_;
      if (woken.wake == due) woken.wake = Transport::kNever;
      serve(drone);
    });
  }

  /// Rule 3, counted by the test: at most three times what came from an address that did not answer.
  void charge(int address, std::size_t size) {
    if (terms_.in_session) return;
    to_[address] += size + 28;
    if (terms_.wire_ns == 0 && !has_answered(address) && to_[address] > 3 * from_[address])
      complain("more than three times");
  }
  int address_of(PathIndex path) const {
    if (path == Transport::kElsewhere) return elsewhere_;
    for (const auto& [address, index] : paths_)
      if (index == path) return address;
    return kHome;
  }
  static Cookie cookie_of(int address) {
    Cookie out{};
    store_be(out.data(), static_cast<std::uint32_t>(address));
    return out;
  }

  void dispatch(bool up, Fate fate, int to) {
    if (up) {
      up_.send(std::move(fate.datagram), [this, from = fate.address](Bytes datagram) { at_gcs(datagram, from); });
    } else if (to == kHome) {
      down_.send(std::move(fate.datagram), [this](Bytes datagram) { at_drone(datagram); });
    }
  }

  void at_drone(const Bytes& datagram) {
    if (finished_ && !terms_.fates) return;
    if (const auto cookie = open_retry(datagram, kAttempt, keys_.from_gcs)) {
      drone_.transport->set_cookie(*cookie, clock_.now());
      return serve(true);
    }
    if (!terms_.in_session && !tag_good(keys_.from_gcs, datagram)) return void(++bad_tags_);
    drone_.transport->on_datagram(datagram, 0, clock_.now());
    take(true);
    serve(true);
  }

  void at_gcs(const Bytes& datagram, int from) {
    if (!terms_.in_session) {
      if (!tag_good(keys_.from_drone, datagram)) return void(++bad_tags_);
      if (!gcs_.transport) {
        const auto frames = parse_frames(frames_of(datagram), FramesOf::drone);
        if (!frames || !whole_message_of(*frames, 1)) return;
      }
    }
    if (!gcs_.transport) {
      gcs_ = make(HandshakeSide::gcs);
      gcs_.transport->expect({limits(MessageType::client_hello, 500)});
      if (terms_.wire_ns != 0) gcs_.transport->answered_by(0);
    }
    from_[from] += datagram.size() + 28;
    gcs_.transport->on_datagram(datagram, path_from(datagram, from), clock_.now());
    take(false);
    serve(false);
  }

  /// As Reception does it: an address that is none of the attempt's is asked to answer.
  PathIndex path_from(const Bytes& datagram, int from) {
    if (terms_.in_session || paths_.empty()) return paths_[from] = 0;
    if (const auto found = paths_.find(from); found != paths_.end()) return found->second;
    const auto frames = parse_frames(frames_of(datagram), FramesOf::drone);
    if (frames && frames->cookie == cookie_of(from)) {
      const auto path = gcs_.transport->join(paths_.size());
      std::erase_if(paths_, [path](const auto& each) { return each.second == path; });
      return paths_[from] = path;
    }
    elsewhere_ = from;
    auto retry = encode_retry(kAttempt, cookie_of(from), keys_.from_gcs);
    charge(from, retry.size());
    dispatch(false, {0, std::move(retry)}, from);
    return Transport::kElsewhere;
  }

  void take(bool at_drone) {
    auto& end = at_drone ? drone_ : gcs_;
    auto frame = end.transport->take_message();
    if (!frame) return;
    const auto type = (*frame)[4];
    ++end.taken[type];
    if (!terms_.answer && *frame != made_up(static_cast<MessageType>(type), frame->size())) complain("a bent message");
    auto next = terms_.answer ? terms_.answer(at_drone, *frame) : made_up_answer(type);
    if (at_drone && type == 4 && (!terms_.answer || next)) return void(finished_ = clock_.now());
    if (!next) return;
    if (type == 1) end.transport->expect({limits(MessageType::client_finish, terms_.sizes.m3)});
    if (type == 2) end.transport->expect({limits(MessageType::server_finish, terms_.sizes.m4)});
    const auto thinking = at_drone    ? terms_.sizes.drone_time
                          : type == 1 ? terms_.sizes.gcs_time
                                      : terms_.sizes.drone_time / 2;
    clock_.at(clock_.now() + thinking, [this, at_drone, frame = std::move(*next)] {
      auto& speaker = at_drone ? drone_ : gcs_;
      const bool was_last = frame[4] == 4;
      speaker.transport->start(frame, clock_.now());
      if (was_last) speaker.transport->linger(frame);
      serve(at_drone);
    });
  }
  std::optional<Bytes> made_up_answer(std::uint8_t type) const {
    switch (type) {
      case 1: return made_up(MessageType::server_hello, terms_.sizes.m2);
      case 2: return made_up(MessageType::client_finish, terms_.sizes.m3);
      case 3: return made_up(MessageType::server_finish, terms_.sizes.m4);
      default: return std::nullopt;
    }
  }

  WorldTerms terms_;
  Clockwork clock_;
  SimulatedLink up_, down_;
  std::optional<BusySession> busy_;
  FragmentKeys keys_;
  End drone_, gcs_;
  std::map<int, PathIndex> paths_;
  std::map<int, std::uint64_t> from_, to_;
  int elsewhere_ = kHome;
  std::uint64_t begin_ = 0;
  std::optional<std::uint64_t> finished_;
  std::size_t bad_tags_ = 0;
  std::string complaint_;
};

/// What the ends of a session know of such a link once a first handshake has run over it.
inline void learn(WorldTerms& terms) {
  auto first = terms;
  first.in_session = false;
  first.busy.reset();
  TransportWorld before(first);
  before.run();
  const auto of = [&terms](const Transport* end) {
    const auto probe = terms.up.round_trip + static_cast<std::uint64_t>(2 * 81 * 8e9 / terms.up.bits_per_second);
    const auto loss = static_cast<std::uint32_t>(std::max(terms.up.loss, terms.down.loss) * 1e6);
    return KnownLink::of({end == nullptr ? std::nullopt : end->full_round_trip(), probe, probe, loss});
  };
  terms.known_to_drone = of(&before.drone());
  terms.known_to_gcs = of(before.gcs());
}

}  // namespace pqcmav::test
