// SPDX-License-Identifier: Apache-2.0
#include "session/control_frame.hpp"

#include <algorithm>

#include "crypto/kdf.hpp"
#include "crypto/secret.hpp"

namespace pqcmav {
namespace {

enum class Tlv : std::uint8_t {
  probe = 1,
  probe_reply = 2,
  link_report = 3,
  switched = 4,
  rekey_request = 5,
  close = 6,
  keepalive = 7,
  rekey_result = 8,
  handshake_part = 32,
  return_grant = 33,
  restart_token = 34,
  seen = 35,
  path_challenge = 36,
  path_response = 37,
  role = 38,
  term = 39,
  got = 40,
  aside = 41,
  pin = 42,
  arrived = 43,
  paths = 44
};

constexpr std::uint8_t kOthers = 0x0f, kOnlyCommands = 0x40, kAgain = 0x80;

bool printable(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

/// One value from the wire; `good` goes down at the first field that does not fit and stays down.
class Fields {
 public:
  explicit Fields(ByteView value) noexcept : reader_(value) {}
  template <typename T>
  Fields& be(T& out) noexcept {
    const auto value = reader_.be<T>();
    if (value) out = *value;
    good_ = good_ && value.has_value();
    return *this;
  }
  /// u8 length, then ASCII. Other bytes are refused here, so that no text of a peer can forge a log line.
  Fields& text(std::string_view& out) noexcept {
    const auto size = reader_.be<std::uint8_t>();
    const auto raw = size ? reader_.take(*size) : std::nullopt;
    if (raw) out = as_text(*raw);
    good_ = good_ && raw.has_value() && printable(out);
    return *this;
  }
  template <std::size_t N>
  Fields& bytes(ByteArray<N>& out) noexcept {
    good_ = good_ && reader_.into(out);
    return *this;
  }
  /// The number of a path at the end of a value; or nothing.
  Fields& last_path(std::uint8_t& out) noexcept {
    if (!good_ || reader_.empty()) return *this;
    out = reader_.be<std::uint8_t>().value_or(kNoPath);
    good_ = out < kPathsMost;
    return *this;
  }
  /// One byte 1 at the end of a value that had none at first; or nothing.
  Fields& last_flag(bool& out) noexcept {
    if (!good_ || reader_.empty()) return *this;
    out = reader_.be<std::uint8_t>() == 1;
    good_ = out;
    return *this;
  }
  /// `size` bytes that stay where they are.
  Fields& view(ByteView& out, std::size_t size) noexcept {
    const auto raw = reader_.take(size);
    if (raw) out = *raw;
    good_ = good_ && raw.has_value();
    return *this;
  }
  [[nodiscard]] bool complete() const noexcept { return good_ && reader_.empty(); }

 private:
  ByteReader reader_;
  bool good_ = true;
};

enum class Parsed { item, skipped, unusable };

Parsed parse_one(std::uint8_t type, ByteView value, Control& out) noexcept {
  Fields fields(value);
  const auto keep = [&fields, &out](const auto& item) {
    if (!fields.complete()) return Parsed::unusable;
    out = item;
    return Parsed::item;
  };
  switch (static_cast<Tlv>(type)) {
    case Tlv::probe: {
      Probe item{};
      fields.be(item.id).be(item.t1);
      return keep(item);
    }
    case Tlv::probe_reply: {
      ProbeReply item{};
      fields.be(item.id).be(item.t1).be(item.t2).be(item.t3);
      return keep(item);
    }
    case Tlv::link_report: {
      LinkReport item;
      fields.be(item.window_ms).be(item.packets_per_s_milli).be(item.gap_p95_us).be(item.longest_silence_us);
      fields.be(item.jitter_us).be(item.loss_ppm).be(item.blackouts);
      for (auto& drop : item.drops) fields.be(drop);
      return keep(item);
    }
    case Tlv::switched: {
      Switched item{};
      fields.be(item.epoch);
      return keep(item);
    }
    case Tlv::rekey_request: {
      RekeyRequest item{};
      fields.be(item.request_id).text(item.suite).text(item.reason).last_flag(item.ratchet);
      return keep(item);
    }
    case Tlv::close: {
      Close item{};
      fields.be(item.reason);
      return keep(item);
    }
    case Tlv::keepalive: return keep(Keepalive{});
    case Tlv::rekey_result: {
      RekeyResult item{};
      std::uint8_t ok = 0;
      fields.be(item.request_id).be(ok).be(item.epoch).be(item.duration_us).text(item.text);
      item.ok = ok != 0;
      return keep(item);
    }
    case Tlv::handshake_part:
      if (value.size() < kHandshakePartHeader) return Parsed::unusable;
      out = HandshakePart{value};
      return Parsed::item;
    case Tlv::return_grant: {
      ReturnGrant item{};
      fields.be(item.serial).bytes(item.address_tag).view(item.return_key, kReturnKeySize);
      return keep(item);
    }
    case Tlv::restart_token: {
      RestartToken item{};
      fields.bytes(item.token);
      return keep(item);
    }
    case Tlv::seen: {
      Seen item{};
      fields.be(item.highest);
      return keep(item);
    }
    case Tlv::aside: {
      Aside item{};
      fields.be(item.count);
      return keep(item);
    }
    case Tlv::arrived: {
      Arrived item{};
      fields.be(item.highest).be(item.at).be(item.bytes);
      return keep(item);
    }
    case Tlv::path_challenge: {
      PathChallenge item{};
      fields.bytes(item.random);
      return keep(item);
    }
    case Tlv::path_response: {
      PathResponse item{};
      fields.bytes(item.random).last_path(item.path);
      return keep(item);
    }
    case Tlv::paths: {
      PathsTold item{};
      std::uint8_t bits = 0;
      fields.be(item.serial).be(item.main).be(bits);
      if (item.main >= kPathsMost || (bits & ~(kOthers | kOnlyCommands | kAgain)) != 0) return Parsed::unusable;
      item.others = bits & kOthers;
      item.again = (bits & kAgain) != 0;
      item.only_commands = (bits & kOnlyCommands) != 0;
      return keep(item);
    }
    case Tlv::role: {
      RoleTold item{};
      std::uint8_t role = 0;
      fields.be(role).be(item.term);
      if (role != 1 && role != 2) return Parsed::unusable;
      item.role = static_cast<StationRole>(role);
      return keep(item);
    }
    case Tlv::term: {
      TermTold item{};
      fields.be(item.term);
      return keep(item);
    }
    case Tlv::got: {
      Got item{};
      fields.be(item.type).bytes(item.check);
      return keep(item);
    }
    case Tlv::pin: {
      Pin item{};
      fields.be(item.request_id).be(item.for_s);
      return keep(item);
    }
  }
  return Parsed::skipped;
}

/// Writes into fixed memory; what does not fit clears `good` and is not written.
class Writer {
 public:
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
    if (text.size() > 255) good_ = false;
    be(static_cast<std::uint8_t>(text.size()));
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
  /// For a value whose size is not the type's.
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

struct WriteValue {
  Writer& to;
  Tlv operator()(const Probe& item) const noexcept { return to.be(item.id).be(item.t1), Tlv::probe; }
  Tlv operator()(const ProbeReply& item) const noexcept {
    return to.be(item.id).be(item.t1).be(item.t2).be(item.t3), Tlv::probe_reply;
  }
  Tlv operator()(const LinkReport& item) const noexcept {
    to.be(item.window_ms).be(item.packets_per_s_milli).be(item.gap_p95_us).be(item.longest_silence_us);
    to.be(item.jitter_us).be(item.loss_ppm).be(item.blackouts);
    for (const auto drop : item.drops) to.be(drop);
    return Tlv::link_report;
  }
  Tlv operator()(const Switched& item) const noexcept { return to.be(item.epoch), Tlv::switched; }
  Tlv operator()(const RekeyRequest& item) const noexcept {
    to.be(item.request_id).text(item.suite).text(item.reason);
    if (item.ratchet) to.be(std::uint8_t{1});
    return Tlv::rekey_request;
  }
  Tlv operator()(const Close& item) const noexcept { return to.be(item.reason), Tlv::close; }
  Tlv operator()(const Keepalive&) const noexcept { return Tlv::keepalive; }
  Tlv operator()(const RekeyResult& item) const noexcept {
    to.be(item.request_id)
        .be(static_cast<std::uint8_t>(item.ok ? 1 : 0))
        .be(item.epoch)
        .be(item.duration_us)
        .text(item.text);
    return Tlv::rekey_result;
  }
  Tlv operator()(const HandshakePart& item) const noexcept {
    const auto size = item.value.size();
    return to.require(size >= kHandshakePartHeader && size <= 0xffff).bytes(item.value), Tlv::handshake_part;
  }
  Tlv operator()(const ReturnGrant& item) const noexcept {
    to.require(item.return_key.size() == kReturnKeySize);
    return to.be(item.serial).bytes(item.address_tag).bytes(item.return_key), Tlv::return_grant;
  }
  Tlv operator()(const RestartToken& item) const noexcept { return to.bytes(item.token), Tlv::restart_token; }
  Tlv operator()(const Seen& item) const noexcept { return to.be(item.highest), Tlv::seen; }
  Tlv operator()(const Aside& item) const noexcept { return to.be(item.count), Tlv::aside; }
  Tlv operator()(const Arrived& item) const noexcept {
    return to.be(item.highest).be(item.at).be(item.bytes), Tlv::arrived;
  }
  Tlv operator()(const PathChallenge& item) const noexcept { return to.bytes(item.random), Tlv::path_challenge; }
  Tlv operator()(const PathResponse& item) const noexcept {
    to.bytes(item.random);
    if (item.path != kNoPath) to.require(item.path < kPathsMost).be(item.path);
    return Tlv::path_response;
  }
  Tlv operator()(const PathsTold& item) const noexcept {
    to.require(item.main < kPathsMost && item.others <= kOthers);
    const unsigned bits = item.others | (item.again ? kAgain : 0U) | (item.only_commands ? kOnlyCommands : 0U);
    return to.be(item.serial).be(item.main).be(static_cast<std::uint8_t>(bits)), Tlv::paths;
  }
  Tlv operator()(const RoleTold& item) const noexcept {
    to.require(item.role != StationRole::none);
    return to.be(static_cast<std::uint8_t>(item.role)).be(item.term), Tlv::role;
  }
  Tlv operator()(const TermTold& item) const noexcept { return to.be(item.term), Tlv::term; }
  Tlv operator()(const Got& item) const noexcept { return to.be(item.type).bytes(item.check), Tlv::got; }
  Tlv operator()(const Pin& item) const noexcept { return to.be(item.request_id).be(item.for_s), Tlv::pin; }
};

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
  const auto type = std::visit(WriteValue{writer}, control);
  if (!writer.good()) return std::nullopt;
  out[used] = static_cast<std::uint8_t>(type);
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
