// SPDX-License-Identifier: Apache-2.0
// Control frames, AEADs under the wire's nonce, and whom a MAVLink message is for, for tests alone.
#include "route/mavlink_target.hpp"
#include "session/control_frame.hpp"
#include "session/frame.hpp"
#include "testing.hpp"

namespace pqcmav::python {

namespace {

constexpr unsigned kAgainBit = 0x80, kOnlyCommandsBit = 0x40;  // of PATHS

AeadId aead_of(const std::string& token) {
  for (const auto& aead : aeads())
    if (aead.token == token) return aead.id;
  throw TunnelError(Errc::config_invalid,
                    "Unknown AEAD '" + token + "'; known are aesgcm, chacha20poly1305, ascon128a and asconaead128.");
}

struct ToDict {
  py::tuple operator()(const Probe& c) const { return named("PROBE", "id", c.id, "t1", c.t1); }
  py::tuple operator()(const ProbeReply& c) const {
    return named("PROBE_REPLY", "id", c.id, "t1", c.t1, "t2", c.t2, "t3", c.t3);
  }
  py::tuple operator()(const LinkReport& c) const {
    return named("LINK_REPORT", "window_ms", c.window_ms, "packets_per_s_milli", c.packets_per_s_milli, "gap_p95_us",
                 c.gap_p95_us, "longest_silence_us", c.longest_silence_us, "jitter_us", c.jitter_us, "loss_ppm",
                 c.loss_ppm, "blackouts", c.blackouts, "drops",
                 std::vector<std::uint64_t>(c.drops.begin(), c.drops.end()));
  }
  py::tuple operator()(const Switched& c) const { return named("SWITCHED", "epoch", c.epoch); }
  py::tuple operator()(const RekeyRequest& c) const {
    return named("REKEY_REQUEST", "request_id", c.request_id, "suite", std::string(c.suite), "reason",
                 std::string(c.reason), "ratchet", c.ratchet);
  }
  py::tuple operator()(const Close& c) const { return named("CLOSE", "reason", c.reason); }
  py::tuple operator()(const Keepalive&) const { return named("KEEPALIVE"); }
  py::tuple operator()(const RekeyResult& c) const {
    return named("REKEY_RESULT", "request_id", c.request_id, "ok", c.ok, "epoch", c.epoch, "duration_us", c.duration_us,
                 "text", std::string(c.text));
  }
  py::tuple operator()(const HandshakePart& c) const { return named("HS", "value", to_bytes(c.value)); }
  py::tuple operator()(const ReturnGrant& c) const {
    return named("RETURN", "serial", c.serial, "address_tag", to_bytes(c.address_tag), "return_key",
                 to_bytes(c.return_key));
  }
  py::tuple operator()(const RestartToken& c) const { return named("RESTART", "token", to_bytes(c.token)); }
  py::tuple operator()(const Seen& c) const { return named("SEEN", "highest", c.highest); }
  py::tuple operator()(const Aside& c) const { return named("ASIDE", "count", c.count); }
  py::tuple operator()(const Arrived& c) const {
    return named("ARRIVED", "highest", c.highest, "at", c.at, "bytes", c.bytes);
  }
  py::tuple operator()(const PathChallenge& c) const { return named("PATH_CHALLENGE", "random", to_bytes(c.random)); }
  py::tuple operator()(const PathResponse& c) const {
    return named("PATH_RESPONSE", "random", to_bytes(c.random), "path",
                 c.path == kNoPath ? std::nullopt : std::optional(c.path));
  }
  py::tuple operator()(const PathsTold& c) const {
    return named("PATHS", "serial", c.serial, "main", c.main, "others",
                 c.others | (c.again ? kAgainBit : 0) | (c.only_commands ? kOnlyCommandsBit : 0));
  }
  py::tuple operator()(const RoleTold& c) const {
    return named("ROLE", "role", static_cast<std::uint8_t>(c.role), "term", c.term);
  }
  py::tuple operator()(const TermTold& c) const { return named("TERM", "term", c.term); }
  py::tuple operator()(const Pin& c) const { return named("PIN", "request_id", c.request_id, "for_s", c.for_s); }
  py::tuple operator()(const AlarmTold& c) const {
    return named("ALARM", "level", c.level, "kind", std::string(c.kind));
  }
  py::tuple operator()(const Got& c) const { return named("GOT", "type", c.type, "check", to_bytes(c.check)); }

 private:
  static void put(py::dict&) {}
  template <typename Value, typename... Rest>
  static void put(py::dict& out, const char* name, const Value& value, const Rest&... rest) {
    out[name] = value;
    put(out, rest...);
  }
  template <typename... Fields>
  static py::tuple named(const char* type, const Fields&... fields) {
    py::dict out;
    put(out, fields...);
    return py::make_tuple(type, out);
  }
};

template <typename T>
T field(const py::kwargs& fields, const char* name) {
  if (!fields.contains(name))
    throw TunnelError(Errc::config_invalid, std::string("The control message needs the field '") + name + "'.");
  return fields[name].cast<T>();
}

template <std::size_t N>
ByteArray<N> field_bytes(const py::kwargs& fields, const char* name) {
  const auto text = field<std::string>(fields, name);
  if (text.size() != N)
    throw TunnelError(Errc::config_invalid,
                      std::string("The field '") + name + "' must have " + std::to_string(N) + " bytes.");
  ByteArray<N> out;
  std::copy(text.begin(), text.end(), out.begin());
  return out;
}

py::bytes encode_control(const std::string& name, const py::kwargs& f) {
  using u8 = std::uint8_t;
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  Control control;
  std::string a, b;  // keep the texts alive while they are written
  if (name == "PROBE") {
    control = Probe{field<u32>(f, "id"), field<u64>(f, "t1")};
  } else if (name == "PROBE_REPLY") {
    control = ProbeReply{field<u32>(f, "id"), field<u64>(f, "t1"), field<u64>(f, "t2"), field<u64>(f, "t3")};
  } else if (name == "LINK_REPORT") {
    LinkReport report{field<u32>(f, "window_ms"),  field<u32>(f, "packets_per_s_milli"),
                      field<u32>(f, "gap_p95_us"), field<u32>(f, "longest_silence_us"),
                      field<u32>(f, "jitter_us"),  field<u32>(f, "loss_ppm"),
                      field<u32>(f, "blackouts"),  {}};
    report.drops = field<std::array<u64, kDropKinds>>(f, "drops");
    control = report;
  } else if (name == "SWITCHED") {
    control = Switched{field<u8>(f, "epoch")};
  } else if (name == "REKEY_REQUEST") {
    a = field<std::string>(f, "suite");
    b = field<std::string>(f, "reason");
    control = RekeyRequest{field<u32>(f, "request_id"), a, b, f.contains("ratchet") && field<bool>(f, "ratchet")};
  } else if (name == "CLOSE") {
    control = Close{field<u8>(f, "reason")};
  } else if (name == "KEEPALIVE") {
    control = Keepalive{};
  } else if (name == "REKEY_RESULT") {
    a = field<std::string>(f, "text");
    control = RekeyResult{field<u32>(f, "request_id"), field<bool>(f, "ok"), field<u8>(f, "epoch"),
                          field<u32>(f, "duration_us"), a};
  } else if (name == "HS") {
    a = field<std::string>(f, "value");
    control = HandshakePart{as_bytes(a)};
  } else if (name == "RETURN") {
    a = field<std::string>(f, "return_key");
    control = ReturnGrant{field<u32>(f, "serial"), field_bytes<8>(f, "address_tag"), as_bytes(a)};
  } else if (name == "RESTART") {
    control = RestartToken{field_bytes<kRestartTokenSize>(f, "token")};
  } else if (name == "SEEN") {
    control = Seen{field<u64>(f, "highest")};
  } else if (name == "ASIDE") {
    control = Aside{field<u64>(f, "count")};
  } else if (name == "ARRIVED") {
    control = Arrived{field<u64>(f, "highest"), field<u64>(f, "at"), field<u64>(f, "bytes")};
  } else if (name == "PATH_CHALLENGE") {
    control = PathChallenge{field_bytes<8>(f, "random")};
  } else if (name == "PATH_RESPONSE") {
    control = PathResponse{field_bytes<8>(f, "random"), field<std::optional<u8>>(f, "path").value_or(kNoPath)};
  } else if (name == "PATHS") {
    const auto others = field<u8>(f, "others");
    control = PathsTold{field<std::uint32_t>(f, "serial"), field<u8>(f, "main"),
                        static_cast<u8>(others & ~(kAgainBit | kOnlyCommandsBit)), (others & kAgainBit) != 0,
                        (others & kOnlyCommandsBit) != 0};
  } else if (name == "ROLE") {
    control = RoleTold{static_cast<StationRole>(field<u8>(f, "role")), field<std::uint32_t>(f, "term")};
  } else if (name == "TERM") {
    control = TermTold{field<std::uint32_t>(f, "term")};
  } else if (name == "GOT") {
    control = Got{field<u8>(f, "type"), field_bytes<4>(f, "check")};
  } else if (name == "ALARM") {
    a = field<std::string>(f, "kind");
    control = AlarmTold{field<u8>(f, "level"), a};
  } else if (name == "PIN") {
    control = Pin{field<u32>(f, "request_id"), field<u32>(f, "for_s")};
  } else {
    throw TunnelError(Errc::config_invalid, "Unknown control message '" + name + "'.");
  }
  Bytes out(kControlFrameMax);
  const auto used = append_control(out, 0, control);
  if (!used)
    throw TunnelError(Errc::config_invalid, "The control message does not fit: a field has too many or too few bytes.");
  out.resize(*used);
  return to_bytes(out);
}

}  // namespace

void bind_codec(py::module_& module) {
  module.def("aead_seal", [](const std::string& token, const py::bytes& key, std::uint8_t epoch, std::uint64_t sequence,
                             const py::bytes& aad, const py::bytes& plaintext) {
    const auto content = view(plaintext);
    Bytes out(content.begin(), content.end());
    ByteArray<kTagSize> tag;
    if (!make_aead(aead_of(token), exactly<kKeySize>(key, "The key"))->seal(epoch, sequence, view(aad), out, tag))
      throw TunnelError(Errc::crypto, "The AEAD failed.");
    append(out, tag);
    return to_bytes(out);
  });
  module.def(
      "aead_open",
      [](const std::string& token, const py::bytes& key, std::uint8_t epoch, std::uint64_t sequence,
         const py::bytes& aad, const py::bytes& sealed) -> std::optional<py::bytes> {
        const auto content = view(sealed);
        if (content.size() < kTagSize) return std::nullopt;
        Bytes out(content.begin(), content.end() - kTagSize);
        ByteArray<kTagSize> tag;
        std::copy(content.end() - kTagSize, content.end(), tag.begin());
        if (make_aead(aead_of(token), exactly<kKeySize>(key, "The key"))->open(epoch, sequence, view(aad), out, tag) !=
            Aead::Open::ok)
          return std::nullopt;
        return to_bytes(out);
      });
  module.def("parse_controls", [](const py::bytes& content) -> py::object {
    ControlList list;
    if (!parse_controls(view(content), list)) return py::none();
    py::list out;
    for (std::size_t i = 0; i < list.count; ++i) out.append(std::visit(ToDict{}, list.items[i]));
    return out;
  });
  module.def("encode_control", &encode_control, py::arg("name"));
  module.def(
      "mavlink_target",
      [](const py::bytes& message) -> py::object {
        const auto bytes = view(message);
        const auto header = read_mavlink_header(bytes);
        if (!header) return py::none();
        const auto target = mavlink_target(*header, bytes);
        return py::make_tuple(target.system, target.component);
      },
      py::arg("message"));
  for (const auto* name : {"aead_seal", "aead_open"}) refuse_other_function(module, name);
}

}  // namespace pqcmav::python
