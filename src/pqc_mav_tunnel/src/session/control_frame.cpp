// SPDX-License-Identifier: Apache-2.0
#include "session/control_frame.hpp"

#include <algorithm>
#include <type_traits>

#include "crypto/kdf.hpp"
#include "crypto/secret.hpp"

namespace pqcmav {
namespace {

/// The types of Control's alternatives, in their order.
constexpr std::array<std::uint8_t, std::variant_size_v<Control>> kTypes{1,  2,  3,  4,  5,  6,  7,  8,  32, 33, 34,
                                                                        35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45};
constexpr std::uint8_t kOthers = 0x0f, kOnlyCommands = 0x40, kAgain = 0x80;  // bits of PATHS

bool printable(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

/// One value from the wire; `good` goes down at the first field that does not fit and stays down.
class Reader {
 public:
  static constexpr bool kReads = true;
  explicit Reader(ByteView value) noexcept : reader_(value) {}
  template <typename T>
  Reader& be(T& out) noexcept {
    const auto value = reader_.be<T>();
    if (value) out = *value;
    return require(value.has_value());
  }
  /// u8 length, then ASCII. Other bytes are refused here, so that no text of a peer can forge a log line.
  Reader& text(std::string_view& out) noexcept {
    const auto size = reader_.be<std::uint8_t>();
    const auto raw = size ? reader_.take(*size) : std::nullopt;
    if (raw) out = as_text(*raw);
    return require(raw.has_value() && printable(out));
  }
  template <std::size_t N>
  Reader& bytes(ByteArray<N>& out) noexcept {
    return require(good_ && reader_.into(out));
  }
  Reader& flag(bool& out) noexcept {
    std::uint8_t byte = 0;
    be(byte);
    out = byte != 0;
    return *this;
  }
  /// The number of a path at the end of a value; or nothing.
  Reader& last_path(std::uint8_t& out) noexcept {
    if (!good_ || reader_.empty()) return *this;
    out = reader_.be<std::uint8_t>().value_or(kNoPath);
    return require(out < kPathsMost);
  }
  /// One byte 1 at the end of a value that had none at first; or nothing.
  Reader& last_flag(bool& out) noexcept {
    if (!good_ || reader_.empty()) return *this;
    out = reader_.be<std::uint8_t>() == 1;
    return require(out);
  }
  Reader& role(StationRole& out) noexcept {
    std::uint8_t byte = 0;
    be(byte);
    out = static_cast<StationRole>(byte);
    return require(byte == 1 || byte == 2);
  }
  /// `size` bytes that stay where they are.
  Reader& view(ByteView& out, std::size_t size) noexcept {
    const auto raw = reader_.take(size);
    if (raw) out = *raw;
    return require(raw.has_value());
  }
  /// All that is left, which stays where it is.
  Reader& rest(ByteView& out, std::size_t least) noexcept {
    return require(reader_.left() >= least).view(out, reader_.left());
  }
  Reader& require(bool condition) noexcept {
    good_ = good_ && condition;
    return *this;
  }
  [[nodiscard]] bool complete() const noexcept { return good_ && reader_.empty(); }

 private:
  ByteReader reader_;
  bool good_ = true;
};

/// Writes into fixed memory; what does not fit clears `good` and is not written.
class Writer {
 public:
  static constexpr bool kReads = false;
  Writer(MutableBytes out, std::size_t used) noexcept : out_(out), at_(used) {}
  template <typename T>
  Writer& be(T value) noexcept {
    if (room(sizeof(T))) {
      store_be(out_.data() + at_, value);
      at_ += sizeof(T);
    }
    return *this;
  }
  Writer& text(std::string_view text) noexcept {
    require(text.size() <= 255).be(static_cast<std::uint8_t>(text.size()));
    if (room(text.size())) {
      std::transform(text.begin(), text.end(), out_.begin() + static_cast<std::ptrdiff_t>(at_),
                     [](char c) { return static_cast<std::uint8_t>(c >= 0x20 && c <= 0x7e ? c : '?'); });
      at_ += text.size();
    }
    return *this;
  }
  Writer& bytes(ByteView bytes) noexcept {
    if (room(bytes.size())) {
      std::copy(bytes.begin(), bytes.end(), out_.begin() + static_cast<std::ptrdiff_t>(at_));
      at_ += bytes.size();
    }
    return *this;
  }
  Writer& flag(bool value) noexcept { return be(static_cast<std::uint8_t>(value ? 1 : 0)); }
  Writer& last_path(std::uint8_t path) noexcept {
    return path == kNoPath ? *this : require(path < kPathsMost).be(path);
  }
  Writer& last_flag(bool value) noexcept { return value ? flag(value) : *this; }
  Writer& role(StationRole role) noexcept {
    return require(role != StationRole::none).be(static_cast<std::uint8_t>(role));
  }
  Writer& view(ByteView value, std::size_t size) noexcept { return require(value.size() == size).bytes(value); }
  Writer& rest(ByteView value, std::size_t least) noexcept {
    return require(value.size() >= least && value.size() <= 0xffff).bytes(value);
  }
  Writer& require(bool condition) noexcept {
    good_ = good_ && condition;
    return *this;
  }
  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] std::size_t at() const noexcept { return at_; }

 private:
  bool room(std::size_t size) noexcept {
    good_ = good_ && at_ <= out_.size() && size <= out_.size() - at_;
    return good_;
  }
  MutableBytes out_;
  std::size_t at_;
  bool good_ = true;
};

/// An item that a Reader fills or a Writer writes.
template <typename Io, typename Item>
using Of = std::conditional_t<std::remove_reference_t<Io>::kReads, Item, const Item>;

// The fields of each item, for both directions.
void fields(auto& io, Of<decltype(io), Probe>& item) noexcept { io.be(item.id).be(item.t1); }
void fields(auto& io, Of<decltype(io), ProbeReply>& item) noexcept {
  io.be(item.id).be(item.t1).be(item.t2).be(item.t3);
}
void fields(auto& io, Of<decltype(io), LinkReport>& item) noexcept {
  io.be(item.window_ms).be(item.packets_per_s_milli).be(item.gap_p95_us).be(item.longest_silence_us);
  io.be(item.jitter_us).be(item.loss_ppm).be(item.blackouts);
  for (auto& drop : item.drops) io.be(drop);
}
void fields(auto& io, Of<decltype(io), Switched>& item) noexcept { io.be(item.epoch); }
void fields(auto& io, Of<decltype(io), RekeyRequest>& item) noexcept {
  io.be(item.request_id).text(item.suite).text(item.reason).last_flag(item.ratchet);
}
void fields(auto& io, Of<decltype(io), Close>& item) noexcept { io.be(item.reason); }
void fields(auto& io, Of<decltype(io), Keepalive>&) noexcept { (void)io; }
void fields(auto& io, Of<decltype(io), RekeyResult>& item) noexcept {
  io.be(item.request_id).flag(item.ok).be(item.epoch).be(item.duration_us).text(item.text);
}
void fields(auto& io, Of<decltype(io), HandshakePart>& item) noexcept { io.rest(item.value, kHandshakePartHeader); }
void fields(auto& io, Of<decltype(io), ReturnGrant>& item) noexcept {
  io.be(item.serial).bytes(item.address_tag).view(item.return_key, kReturnKeySize);
}
void fields(auto& io, Of<decltype(io), RestartToken>& item) noexcept { io.bytes(item.token); }
void fields(auto& io, Of<decltype(io), Seen>& item) noexcept { io.be(item.highest); }
void fields(auto& io, Of<decltype(io), PathChallenge>& item) noexcept { io.bytes(item.random); }
void fields(auto& io, Of<decltype(io), PathResponse>& item) noexcept { io.bytes(item.random).last_path(item.path); }
void fields(auto& io, Of<decltype(io), RoleTold>& item) noexcept { io.role(item.role).be(item.term); }
void fields(auto& io, Of<decltype(io), TermTold>& item) noexcept { io.be(item.term); }
void fields(auto& io, Of<decltype(io), Got>& item) noexcept { io.be(item.type).bytes(item.check); }
void fields(auto& io, Of<decltype(io), Aside>& item) noexcept { io.be(item.count); }
void fields(auto& io, Of<decltype(io), Pin>& item) noexcept { io.be(item.request_id).be(item.for_s); }
void fields(auto& io, Of<decltype(io), Arrived>& item) noexcept { io.be(item.highest).be(item.at).be(item.bytes); }
void fields(auto& io, Of<decltype(io), PathsTold>& item) noexcept {
  auto bits =
      static_cast<std::uint8_t>(item.others | (item.again ? kAgain : 0U) | (item.only_commands ? kOnlyCommands : 0U));
  io.require(item.others <= kOthers).be(item.serial).be(item.main).be(bits).require(item.main < kPathsMost);
  if constexpr (std::remove_reference_t<decltype(io)>::kReads) {
    io.require((bits & ~(kOthers | kOnlyCommands | kAgain)) == 0);
    item.others = bits & kOthers;
    item.again = (bits & kAgain) != 0;
    item.only_commands = (bits & kOnlyCommands) != 0;
  }
}

void fields(auto& io, Of<decltype(io), AlarmTold>& item) noexcept {
  io.be(item.level).text(item.kind).require(item.level <= kAlarmAttack && item.kind.size() <= kAlarmKindMost);
}

enum class Parsed { item, skipped, unusable };

/// Tries Control's alternatives from the one at `Place` on.
template <std::size_t Place = 0>
Parsed parse_one(std::uint8_t type, ByteView value, Control& out) noexcept {
  if constexpr (Place == kTypes.size()) {
    return Parsed::skipped;
  } else {
    if (type != kTypes[Place]) return parse_one<Place + 1>(type, value, out);
    Reader reader(value);
    fields(reader, out.emplace<Place>());
    return reader.complete() ? Parsed::item : Parsed::unusable;
  }
}

}  // namespace

bool parse_controls(ByteView content, ControlList& out) noexcept {
  out.count = 0;
  if (content.empty()) return false;
  std::size_t count = 0;
  ByteReader reader(content);
  while (!reader.empty()) {
    const auto type = reader.be<std::uint8_t>();
    const auto size = reader.be<std::uint16_t>();
    const auto value = type && size ? reader.take(*size) : std::nullopt;
    if (!value) return false;
    Control item;
    switch (parse_one(*type, *value, item)) {
      case Parsed::unusable: return false;
      case Parsed::skipped: break;
      case Parsed::item:
        if (count == out.items.size()) return false;
        out.items[count++] = item;
        break;
    }
  }
  out.count = count;  // only now: a caller that ignores the result acts on nothing
  return true;
}

std::optional<std::size_t> append_control(MutableBytes out, std::size_t used, const Control& control) noexcept {
  if (used > out.size() || out.size() - used < kTlvHeader) return std::nullopt;
  Writer writer(out, used + kTlvHeader);
  std::visit([&](const auto& item) { fields(writer, item); }, control);
  if (!writer.good()) return std::nullopt;
  out[used] = kTypes[control.index()];
  store_be(out.data() + used + 1, static_cast<std::uint16_t>(writer.at() - used - kTlvHeader));
  return writer.at();
}

std::optional<Got> got_for(const Control& control) {
  if (!std::holds_alternative<ReturnGrant>(control) && !std::holds_alternative<RestartToken>(control) &&
      !std::holds_alternative<RoleTold>(control) && !std::holds_alternative<TermTold>(control) &&
      !std::holds_alternative<PathsTold>(control))
    return std::nullopt;
  Secret<kTlvHeader + 4 + 8 + kReturnKeySize> written;  // the longest of them; wiped afterwards
  const auto size = append_control(written.mut(), 0, control);
  if (!size) return std::nullopt;
  const auto tlv = ByteView(written.view()).first(*size);
  const auto hash = sha256({tlv.subspan(kTlvHeader)});
  Got out{tlv[0], {}};
  std::copy_n(hash.begin(), out.check.size(), out.check.begin());
  return out;
}

}  // namespace pqcmav
