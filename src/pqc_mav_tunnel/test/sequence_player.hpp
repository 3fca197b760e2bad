// SPDX-License-Identifier: Apache-2.0
// Plays a sequence of moves, a byte string, against the two ends of sequence_world.hpp: what is on the link is held back,
// repeated, overtaken, sent from elsewhere, changed, tagged again by somebody who holds the keys; ends restart, move,
// renew their keys, say goodbye. Then it leaves them alone, and they must come together.
#pragma once

#include <string>
#include <utility>

#include "sequence_world.hpp"

namespace pqcmav::test {

class SequencePlayer final : public SequenceWorld {
 public:
  enum Move : std::uint8_t {
    wait,       // ms * 4
    data,       // so many, up or down
    renew,      // the drone begins a rekey, a ratchet, an emergency ratchet; or the gcs asks for one
    link_up,    // passes, holds back, loses or doubles from now on
    link_down,  //
    release,    // what was held back: as it came, the other way round, every other one
    repeat,     // something of the past, from some address
    bend,       // a copy with another byte
    tag_again,  // the same with a valid tag, by who holds the keys
    control,    // a control frame of any content by the same, a few numbers ahead
    cross,      // to the end that sent it
    move,       // the drone has another address
    relay,      // what goes to that address of a stranger reaches the drone, or does no more
    crash,      // the gcs or the drone starts anew
    goodbye,    // by either
    kMoves
  };

  /// The first byte: delay, and whether X25519 takes part; then moves of three bytes, `control` with content behind.
  struct Played {
    std::uint64_t handshakes = 0, ratchets = 0, delivered = 0, datagrams = 0;
  };
  static Played play(ByteView input) {
    const auto head = input.empty() ? std::uint8_t{0} : input[0];
    SequencePlayer player(head, (5 + head % 32) * kMs, (head & 0x80) != 0);
    player.start();
    player.moves(input.subspan(input.empty() ? 0 : 1));
    player.settle();
    return {player.handshakes_, player.ratchets_, player.got_[0].size() + player.got_[1].size(), player.left_};
  }

  struct Seed {
    const char* name;
    Bytes moves;
    std::uint64_t handshakes = 1, ratchets = 0;  // at least
  };
  /// One that goes well, and each accident once.
  static std::vector<Seed> seeds() {
    const auto line = [](std::initializer_list<Bytes> moves) {
      Bytes out{10};
      append(out, Bytes{wait, 100, 0});
      append(out, Bytes{data, 6, 0});
      append(out, Bytes{data, 7, 0});
      for (const auto& each : moves) append(out, each);
      return out;
    };
    const Bytes pause{wait, 60, 0};
    return {
        {"calm", line({pause})},
        {"rekey", line({{renew, 0, 0}, pause, {data, 9, 0}, {renew, 0, 0}, pause}), 3},
        {"ratchets", line({{renew, 1, 0}, pause, {renew, 2, 0}, pause, {renew, 3, 0}, pause, {renew, 4, 0}, pause}), 2,
         3},
        {"rekey_in_pieces", line({{link_down, 1, 0}, {renew, 0, 0}, pause, {release, 1, 0}, {link_down, 0, 0}, pause}),
         2},
        {"ratchet_both_held", line({{link_up, 1, 0},
                                    {link_down, 1, 0},
                                    {renew, 1, 0},
                                    pause,
                                    {release, 2, 0},
                                    pause,
                                    {link_up, 0, 0},
                                    {link_down, 0, 0},
                                    {release, 0, 0}})},
        {"everything_twice", line({{link_up, 3, 0}, {link_down, 3, 0}, {renew, 0, 0}, pause, {renew, 1, 0}, pause}), 2,
         1},
        {"repeats_from_elsewhere",
         line({{repeat, 0, 3}, {repeat, 3, 4}, {relay, 3, 1}, {repeat, 1, 3}, pause, {repeat, 2, 3}})},
        {"old_after_rekey",
         line({{renew, 0, 0}, pause, {repeat, 0, 0}, {repeat, 20, 0}, {cross, 1, 0}, {cross, 12, 0}}), 2},
        {"bent", line({{bend, 0, 4}, {bend, 4, 30}, {bend, 20, 11}, {renew, 0, 0}, {wait, 3, 0}, {bend, 255, 60}}), 2},
        {"tagged_again",
         line({{tag_again, 1, 14}, {tag_again, 5, 20}, {renew, 0, 0}, {wait, 5, 0}, {tag_again, 254, 50}}), 1},
        {"controls", line({{control, 0, 6, 1, 0, 0}, {control, 1, 6, 7, 0, 0}, {control, 0, 4, 6, 0, 1, 1}, pause})},
        {"moves", line({{move, 1, 0}, {data, 8, 0}, pause, {move, 2, 0}, {data, 8, 0}, pause})},
        {"gcs_restarts", line({{crash, 0, 0}, {data, 8, 0}, {wait, 200, 0}, {wait, 250, 0}}), 2},
        {"drone_restarts", line({{crash, 1, 0}, {data, 8, 0}, {wait, 250, 0}, {renew, 0, 0}, pause}), 3},
        {"goodbyes", line({{goodbye, 0, 0}, {wait, 250, 0}, {goodbye, 1, 0}, {wait, 250, 0}}), 3},
        {"silence", line({{link_down, 2, 0}, {wait, 255, 0}, {wait, 255, 0}, {wait, 255, 0}, {link_down, 0, 0}, pause}),
         2},
    };
  }

 private:
  enum Pass : std::uint8_t { passes, holds, loses, doubles };
  static constexpr std::size_t kPast = 512, kHeld = 256, kMostMoves = 200;

  using SequenceWorld::SequenceWorld;

  void moves(ByteView input) {
    const auto next = [&input]() -> std::uint8_t {
      if (input.empty()) return 0;
      const auto byte = input[0];
      input = input.subspan(1);
      return byte;
    };
    for (std::size_t i = 0; !input.empty() && i < kMostMoves; ++i) {
      const auto kind = static_cast<Move>(next() % kMoves);
      const auto a = next(), b = next();
      Bytes content;
      if (kind == control) {
        const auto size = std::min<std::size_t>(input.size(), b);
        content.assign(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(size));
        input = input.subspan(size);
      }
      make(kind, a, b, content);
    }
  }
  void make(Move kind, std::uint8_t a, std::uint8_t b, const Bytes& content) {
    switch (kind) {
      case wait: return pass_time(a * 4 * kMs);
      case data:
        for (unsigned i = 0; i <= a / 2 % 16U; ++i) send_data(a % 2 == 0);
        return;
      case renew: return renew_keys(a);
      case link_up:
      case link_down: pass_[kind == link_up] = static_cast<Pass>(a % 4); return;
      case release: return let_go(a % 3);
      case repeat:
        if (const auto* one = of_past(a)) arrive_from(*one, b);
        return;
      case bend:
        if (const auto* one = of_past(a)) arrive_forged(bent(*one, b));
        return;
      case tag_again:
        if (const auto* one = of_past(a)) forge(bent(*one, b));
        return;
      case control: return say_with_keys(a, content);
      case cross:
        if (const auto* one = of_past(a)) {
          auto other = *one;
          other.up = !other.up;
          arrive_forged(other);
        }
        return;
      case move: home_ = address(static_cast<std::uint16_t>(a % 4 + 1), kHome + a % 4U); return;
      case relay: relayed_[a % relayed_.size()] = b % 2 == 1; return;
      case crash: return a % 2 == 0 ? crash_gcs() : crash_drone();
      case goodbye: {
        const bool drone = a % 2 == 0;
        tell(drone, Close{1});
        return close(drone);
      }
      case kMoves: return;
    }
  }
  void pass_time(std::uint64_t time) {
    clock_.run(now() + time, [] { return false; });
  }
  void renew_keys(std::uint8_t how) {
    if (how % 5 < 3) return begin_inner(how % 5 != 0, how % 5 == 1);
    tell(false, RekeyRequest{++requests_, {}, "asked", how % 5 == 3});
  }

  // --- The link

  void on_link(Sent sent) override {
    const auto& to = sent.at;
    past_.push_back(sent);
    if (past_.size() > kPast) past_.pop_front();
    const bool reaches = sent.up || to == home_ || is_relayed(to);
    if (!reaches) return;
    switch (pass_[sent.up]) {
      case passes: return later(sent, 0);
      case holds:
        held_.push_back(std::move(sent));
        if (held_.size() > kHeld) held_.pop_front();
        return;
      case loses: return;
      case doubles: later(sent, 0); return later(sent, 3 * kMs);
    }
  }
  void later(const Sent& sent, std::uint64_t more) {
    clock_.at(now() + attack_.delay + more, [this, sent] {
      if (sent.up || sent.at == home_ || is_relayed(sent.at)) arrive(sent);
    });
  }
  void let_go(unsigned how) {
    auto all = std::exchange(held_, {});
    if (how == 1) std::ranges::reverse(all);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (how != 2 || i % 2 == 0) arrive(all[i]);
    for (std::size_t i = 1; how == 2 && i < all.size(); i += 2) arrive(all[i]);
  }
  const Sent* of_past(std::uint8_t which) const {
    if (past_.empty()) return nullptr;
    // The newest by the highest numbers, the oldest by the lowest.
    return which >= 128 ? &past_[past_.size() - 1 - (255U - which) % past_.size()] : &past_[which % past_.size()];
  }
  void arrive_from(Sent sent, std::uint8_t where) {
    if (sent.up && where % 8 != 0) sent.at = stranger(where % relayed_.size());
    if (!sent.up && sent.at != home_ && !is_relayed(sent.at)) return;
    arrive(sent);
  }
  static SockAddr stranger(std::size_t which) { return address(static_cast<std::uint16_t>(which + 1), kAttacker); }
  bool is_relayed(const SockAddr& to) const {
    for (std::size_t i = 0; i < relayed_.size(); ++i)
      if (relayed_[i] && to == stranger(i)) return true;
    return false;
  }

  // --- Who changes, and who holds the keys

  static Sent bent(const Sent& one, std::uint8_t where) {
    auto bytes = *one.bytes;
    bytes[where % bytes.size()] ^= static_cast<std::uint8_t>(where | 1);
    return {one.up, std::make_shared<const Bytes>(std::move(bytes)), one.at};
  }
  /// Makes the changed datagram valid again. Payloads of the ends are not his to make: those stay forged.
  void forge(const Sent& changed) {
    forged_ = true;
    auto bytes = *changed.bytes;
    if (const auto header = parse_handshake_header(bytes)) {
      const auto keys = derive_fragment_keys(psk_, header->attempt);
      bytes.resize(bytes.size() - kDatagramTagSize);
      append_tag(keys.from(header->from), bytes);
      return arrive({changed.up, std::make_shared<const Bytes>(std::move(bytes)), changed.up ? home_ : changed.at});
    }
    const auto header = parse_header(bytes);
    const auto key = header ? known_.find({header->session_id, header->epoch}) : known_.end();
    if (key == known_.end() || header->type != FrameType::control) return arrive_forged(changed);
    // The changed byte goes into the plaintext instead: what was sent is opened as it was.
    for (const auto& one : past_) {
      const auto original = parse_header(*one.bytes);
      if (one.up != changed.up || !original || original->session_id != header->session_id ||
          original->sequence != header->sequence || original->type != FrameType::control)
        continue;
      auto packet = *one.bytes;
      ReceiveKey reader(light(), header->session_id, header->epoch, key->second.of(one.up));
      const auto opened = reader.open(*original, packet);
      if (opened.drop || opened.payload.empty()) return;
      Bytes content(opened.payload.begin(), opened.payload.end());
      content[changed.bytes->back() % content.size()] ^= (*changed.bytes)[changed.bytes->size() / 2] | 1;
      return arrive(sealed(*header, key->second.of(one.up), one.up, content));
    }
  }
  /// To the drone if `a` is odd, so many numbers ahead of what the end itself sends.
  void say_with_keys(std::uint8_t a, const Bytes& content) {
    const bool up = a % 2 == 0;
    const auto& session = up ? drone_ : gcs_->session;
    if (!session.current() || content.empty()) return;
    const auto key = known_.find({session.current()->id, session.current()->epoch});
    if (key == known_.end()) return;
    forged_ = true;
    const Header header{FrameType::control,
                        {},
                        session.current()->id,
                        session.sealed_packets() + a / 2 % 32U,
                        session.current()->epoch};
    arrive(sealed(header, key->second.of(up), up, content));
  }
  Sent sealed(const Header& header, std::span<const std::uint8_t, 32> key, bool up, const Bytes& content) {
    SendKey writer(light(), header.session_id, header.epoch, key);
    writer.skip_to(header.sequence);
    Bytes packet(kOverhead + content.size());
    std::ranges::copy(content, packet.begin() + kHeaderSize);
    (void)writer.seal(header.type, packet, true);
    return {up, std::make_shared<const Bytes>(std::move(packet)), home_};
  }
  void learn(const SessionKeys& keys) override {
    known_.insert_or_assign({keys.session_id, keys.epoch}, Known{keys.k_d2g.clone(), keys.k_g2d.clone()});
  }

  // --- The end

  /// Nothing goes wrong any more. What was held back is lost.
  void settle() {
    pass_ = {passes, passes};
    held_.clear();
    relayed_ = {};
    for (const auto until = now() + kApartMost; now() < until;) {
      const auto before = content_;
      send_data(true);
      send_data(false);
      pass_time(kS / 2);
      const bool both = content_ == before + 2 && got_[0].contains(before + 1) && got_[1].contains(before + 2);
      if (both && agree() && !client_ && !inner_) return;
    }
    require(false, "the ends stay apart on a link that works");
  }

  struct Known {
    Secret<32> up, down;
    [[nodiscard]] std::span<const std::uint8_t, 32> of(bool upwards) const { return upwards ? up.view() : down.view(); }
  };
  std::array<Pass, 2> pass_{};  // down, up
  std::deque<Sent> past_, held_;
  std::array<bool, 8> relayed_{};
  std::map<std::pair<SessionId, std::uint8_t>, Known> known_;
  std::uint32_t requests_ = 0;
};

}  // namespace pqcmav::test
