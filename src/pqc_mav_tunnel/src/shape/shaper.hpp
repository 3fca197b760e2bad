// SPDX-License-Identifier: Apache-2.0
// Puts the plaintext datagrams of a link in order of importance and gives them out at a set rate (docs/protocol.md,
// Shaping). It stands between the plain socket and the seal: what leaves it is sealed and sent at once. No clock: times
// are arguments, in ns. All memory is taken at construction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "bytes.hpp"
#include "constants.hpp"
#include "shape/class_queue.hpp"
#include "shape/message_class.hpp"
#include "shape/packet_pool.hpp"
#include "shape/sent_values.hpp"
#include "shape/token_bucket.hpp"

namespace pqcmav {

class Shaper {
 public:
  static constexpr std::uint64_t kNever = TokenBucket::kNever;
  static constexpr std::size_t kUdpIp = 28;  // counted with every datagram, unless set_around() says otherwise

  /// What a packet costs besides its payload: as data, and as a control frame. And how much more the bundle that is
  /// open takes, with the length before each datagram: 0 where none is.
  struct Overhead {
    std::size_t data, control;
    std::size_t room = 0;
  };
  struct Leaving {
    MutableBytes packet;  // with its room; good until something is taken
    ShapeClass shape_class;
    bool joins;  // the open bundle, on the rate's credit: so it waits for nothing
    bool twice;  // it goes over a radio
  };

  /// Packets of at most `capacity` bytes, with so much room around them.
  Shaper(std::size_t headroom, std::size_t capacity, std::size_t tailroom, MessageClasses classes);

  /// What is counted with every packet, below UDP's payload; a bundle may take so many bytes on the air at any rate.
  void set_around(std::size_t bytes, std::size_t bundle_least = kShapeBundleLeast) noexcept {
    around_ = bytes;
    bundle_least_ = bundle_least;
  }
  [[nodiscard]] std::size_t around() const noexcept { return around_; }
  /// 0: off. What waits then leaves at once.
  void set_kbit(std::uint32_t kbit, std::uint64_t now) noexcept;
  [[nodiscard]] std::uint32_t kbit() const noexcept { return kbit_; }
  [[nodiscard]] bool on() const noexcept { return kbit_ != 0; }
  /// Queues a copy of a plaintext datagram.
  void take(ByteView datagram, std::uint64_t now) noexcept;
  /// Queues a copy of the control messages that carry a part of a rekey.
  void take_rekey(ByteView controls, std::uint64_t now) noexcept;
  /// A control frame that left by itself, at once: the most important class.
  void charge(std::size_t bytes) noexcept;
  /// So many bytes more left with packets that were charged: the lengths in a bundle.
  void charge_more(std::size_t bytes) noexcept { rate_.spend(bytes); }
  /// What of a bundle may be on the air at most.
  [[nodiscard]] std::size_t bundle_most() const noexcept { return bundle_most_; }
  /// The next packet that may leave now.
  std::optional<Leaving> next(std::uint64_t now, const Overhead& overhead) noexcept;
  /// When next() is worth asking; kNever while nothing waits.
  [[nodiscard]] std::uint64_t due(std::uint64_t now, const Overhead& overhead) noexcept;
  /// While shaping is off, values of parameters wait all the same, for next_parameter().
  void hold_parameters(bool held) noexcept { holds_parameters_ = held; }
  /// The size of the oldest that waits; 0: none does.
  [[nodiscard]] std::size_t parameter_waits() const noexcept;
  /// With its room; good until something is taken. One must wait.
  MutableBytes next_parameter() noexcept;
  /// Drops everything that waits: there is no session to send it in.
  void clear() noexcept;
  [[nodiscard]] ShapeCounts counts(std::uint64_t now) const noexcept;
  /// Room in the fullest of the queues that drop what they cannot take, in per cent. Values of streams give way.
  [[nodiscard]] unsigned free_percent() const noexcept;

 private:
  /// What waits in a queue of its own: each class, and of the transfers the parameters' values.
  enum class Line : std::uint8_t { command, transfer, stream, rest, rekey, parameters };
  static constexpr std::size_t kLines = kShapeClasses + 1;
  static constexpr std::int64_t kCommandDepth = 512;  // one command at once, as long as it may be

  [[nodiscard]] static ShapeClass class_of(Line line) noexcept;
  void enqueue(ByteView bytes, const DatagramClass& as, std::uint64_t now) noexcept;
  void drop(Line line, const ClassQueue::Waiting& packet) noexcept;
  void expire(std::uint64_t now) noexcept;
  [[nodiscard]] ClassQueue& queue(Line line) noexcept;
  [[nodiscard]] ShapeCount& count(Line line) noexcept { return counts_[static_cast<std::size_t>(class_of(line))]; }
  [[nodiscard]] PacketPool& pool(Line line) noexcept { return line == Line::parameters ? parameter_pool_ : pool_; }
  [[nodiscard]] bool joins(Line line, const Overhead& overhead) noexcept;
  [[nodiscard]] bool fills(Line chosen, const Overhead& overhead) noexcept;
  [[nodiscard]] std::size_t cost(Line line, const Overhead& overhead) noexcept;
  [[nodiscard]] Line in_order_of_signer(Line chosen) noexcept;
  [[nodiscard]] std::optional<Line> most_important(std::uint64_t now, const Overhead& overhead) noexcept;
  [[nodiscard]] std::optional<Line> choose(std::uint64_t now, const Overhead& overhead) noexcept;
  [[nodiscard]] std::uint64_t ready_at(std::size_t bytes, std::uint64_t now) noexcept;
  void took_its_turn(Line line) noexcept;

  PacketPool pool_, parameter_pool_;
  MessageClasses classes_;
  std::array<ClassQueue, kLines> queues_;
  TokenBucket rate_;
  TokenBucket rekey_share_{2 * TokenBucket::kDepthBytes};  // its turn may come a packet late
  TokenBucket commands_{kCommandDepth};
  std::uint64_t command_since_ = kNever;  // when the one came for which the chosen packet leaves; kNever: for none
  std::uint32_t kbit_ = 0;
  std::size_t around_ = kUdpIp;
  std::size_t bundle_most_ = 0, bundle_least_ = kShapeBundleLeast;
  SentValues sent_values_{2 * kShapeStreams};
  unsigned stream_turns_ = 0;     // since the rest had one
  unsigned parameter_turns_ = 0;  // since streams or the rest had one
  bool holds_parameters_ = false;
  std::uint64_t order_ = 0;
  ShapeCounts counts_{};
};

}  // namespace pqcmav
