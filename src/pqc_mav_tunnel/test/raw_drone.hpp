// SPDX-License-Identifier: Apache-2.0
// A drone whose keys are in the test's hands: it shakes hands with a real gcs and then sends whatever the test wants.
#pragma once

#include "engine_fixture.hpp"
#include "handshake/handshake.hpp"
#include "handshake/handshake_messages.hpp"
#include "handshake/retry_cookie.hpp"
#include "handshake/transport.hpp"
#include "keys/gcs_psk.hpp"
#include "keys/key_folders.hpp"
#include "session/control_frame.hpp"

namespace pqcmav::test {

inline InitiatorParams initiator_params(const KeyFolders& keys, const std::string& id,
                                        const Suite& suite = require_suite(kLight)) {
  const DroneKeys mine(keys.drone(id));
  InitiatorParams out;
  out.suite = &suite;
  out.drone_id = id;
  out.psk = psk_of_gcs(mine.psk(), kDefaultGcsId);
  out.gcs_public_key = mine.gcs_public(*suite.sig);
  return out;
}

inline SockAddr data_address(const Engine& gcs, const std::string& host = "127.0.0.1") {
  return resolve(host, gcs.ports().data, false, SOCK_DGRAM);
}

/// One attempt at a first handshake from a socket of the test.
class RawAttempt {
 public:
  RawAttempt(InitiatorParams params, const UdpPeer& socket, SockAddr gcs)
      : name(fresh_name()),
        keys(derive_fragment_keys(params.psk, name)),
        transport(options(), keys.clone()),
        need_(server_hello_limits(*params.suite, params.hybrid).front().greatest + 200),
        initiator(std::move(params)),
        socket_(&socket),
        gcs_(gcs) {}
  /// M1 goes out; further() goes on.
  void start() {
    m1 = initiator.start(now_ns());
    transport.expect(initiator.expecting());
    transport.start_hello(m1, need_, false, now_ns());
    flush();
  }
  void flush() {
    while (auto out = transport.poll(now_ns())) {
      sent.push_back(out->datagram);
      socket_->send(out->datagram, gcs_);
    }
  }
  /// What the gcs answered: true when a whole message came of it, which is in `message`.
  bool on_datagram(ByteView datagram) {
    if (datagram.empty()) return false;
    if (datagram[0] == kRetryType) {
      if (const auto cookie = open_retry(datagram, name, keys.from_gcs)) transport.set_cookie(*cookie, now_ns());
      ++retries;
    } else if (const auto header = parse_handshake_header(datagram);
               header && header->attempt == name && tag_good(keys.from_gcs, datagram)) {
      (void)transport.on_datagram(datagram, 0, now_ns());
    }
    auto whole = transport.take_message();
    flush();
    if (!whole) return false;
    message = std::move(*whole);
    return true;
  }
  void reply(Bytes frame) {
    transport.expect(initiator.expecting());
    transport.start(std::move(frame), now_ns());
    flush();
  }

  const AttemptId name;
  const FragmentKeys keys;
  Transport transport;

 private:
  static AttemptId fresh_name() {
    AttemptId out;
    random_bytes(out);
    return out;
  }
  [[nodiscard]] TransportOptions options() const {
    TransportOptions out;
    out.attempt = name;
    return out;
  }
  std::size_t need_;

 public:
  HandshakeInitiator initiator;
  Bytes m1, message;
  std::vector<Bytes> sent;
  int retries = 0;

 private:
  const UdpPeer* socket_;
  SockAddr gcs_;
};

struct RawOutcome {
  HandshakeError error = HandshakeError::timeout;
  std::uint8_t reject_code = 0;
  std::string reason;
};

class RawDrone {
 public:
  RawDrone(const KeyFolders& keys, const Engine& gcs, const std::string& id, const std::string& from = "127.0.0.1",
           milliseconds limit = 5s)
      : RawDrone(initiator_params(keys, id), gcs, from, limit) {}
  RawDrone(InitiatorParams params, const Engine& gcs, const std::string& from = "127.0.0.1", milliseconds limit = 5s,
           const std::string& to = "127.0.0.1")
      : socket(from), gcs_data_(data_address(gcs, to)) {
    RawAttempt attempt(std::move(params), socket, gcs_data_);
    attempt.start();
    drive(
        attempt.transport, attempt.initiator, limit,
        [&](const Bytes& packet) {
          return attempt.on_datagram(packet) ? std::optional(attempt.message) : std::nullopt;
        },
        [&](Bytes frame) { attempt.reply(std::move(frame)); }, [&] { attempt.flush(); });
  }
  /// A rekey inside the session of `within`.
  RawDrone(const KeyFolders& keys, const Engine& gcs, const std::string& id, RawDrone& within,
           std::optional<std::uint8_t> asked_epoch = std::nullopt,
           std::optional<SessionId> asked_session = std::nullopt, milliseconds limit = 5s)
      : gcs_data_(data_address(gcs)) {
    auto params = initiator_params(keys, id);
    params.prev_session = asked_session.value_or(within.session_id);
    params.epoch = asked_epoch.value_or(static_cast<std::uint8_t>(within.epoch + 1));
    params.chain_prev = SecretBytes(within.chain.view());
    TransportOptions options;
    random_bytes(options.attempt);
    options.in_session = true;
    Transport transport(options, FragmentKeys{});
    HandshakeInitiator initiator(std::move(params));
    const auto flush = [&] {
      while (auto out = transport.poll(now_ns())) within.send(within.seal_control(HandshakePart{out->datagram}));
    };
    const auto say = [&](Bytes frame) {
      transport.expect(initiator.expecting());
      transport.start(std::move(frame), now_ns());
      flush();
    };
    say(initiator.start(now_ns()));
    rekey_socket_ = &within.socket;
    drive(
        transport, initiator, limit,
        [&](const Bytes& packet) -> std::optional<Bytes> {
          within.hear(packet, transport);
          auto whole = transport.take_message();
          flush();
          return whole;
        },
        say, flush);
    rekey_socket_ = nullptr;
  }
  /// Says `frame` in an attempt of its own inside this session, and gives the whole message that answers it; nullopt
  /// when none comes in time.
  std::optional<Bytes> ask(Bytes frame, std::vector<FrameLimits> answers, milliseconds limit = 5s) {
    TransportOptions options;
    random_bytes(options.attempt);
    options.in_session = true;
    Transport transport(options, FragmentKeys{});
    transport.expect(std::move(answers));
    transport.start(std::move(frame), now_ns());
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < end) {
      while (auto out = transport.poll(now_ns())) send(seal_control(HandshakePart{out->datagram}));
      const auto packet = socket.receive(5ms);
      if (!packet) continue;
      hear(*packet, transport);
      if (auto whole = transport.take_message()) return whole;
    }
    return std::nullopt;
  }
  /// From now on speaks under these keys.
  void adopt(SessionKeys keys) {
    session_id = keys.session_id;
    epoch = keys.epoch;
    chain = keys.chain.clone();
    for (auto* each : {&up_, &copy_up_})
      *each = std::make_unique<SendKey>(*keys.suite, session_id, epoch, keys.k_d2g.view());
    down_ = std::make_unique<ReceiveKey>(*keys.suite, session_id, epoch, keys.k_g2d.view());
    features = keys.features;
    ratchets = keys.ratchets;
  }
  /// What a ratchet inside this session needs.
  [[nodiscard]] RunningSession running(const Suite& suite = require_suite(kLight)) const {
    return {session_id, epoch, SecretBytes(chain.view()), &suite, true, false, features, ratchets, 1};
  }
  [[nodiscard]] bool connected() const { return up_ != nullptr; }

  /// A genuine packet with the next sequence number, not sent yet.
  [[nodiscard]] Bytes seal(ByteView content, FrameType type = FrameType::data) {
    Bytes packet(kOverhead + content.size());
    std::copy(content.begin(), content.end(), packet.begin() + kHeaderSize);
    EXPECT_TRUE(up_->seal(type, packet));
    return packet;
  }
  [[nodiscard]] Bytes seal(std::string_view text) { return seal(as_bytes(text)); }
  /// The same, of a copy of this drone that was made when the session began.
  [[nodiscard]] Bytes seal_as_copy(std::string_view text) {
    up_.swap(copy_up_);
    auto out = seal(text);
    up_.swap(copy_up_);
    return out;
  }
  [[nodiscard]] Bytes seal_control(const Control& control) {
    Bytes tlvs(kControlFrameMax);
    tlvs.resize(*append_control(tlvs, 0, control));
    return seal(tlvs, FrameType::control);
  }
  void send(ByteView packet) const { socket.send(packet, gcs_data_); }
  void send_from(const UdpPeer& other, ByteView packet) const { other.send(packet, gcs_data_); }
  void skip_to(std::uint64_t sequence) { up_->skip_to(sequence); }

  /// The text of the next data packet from the gcs that arrives at `at`. Control frames are passed over; path
  /// challenges among them are answered from there when `answers`.
  [[nodiscard]] std::string receive_text(UdpPeer& at, bool answers = true, milliseconds limit = 10s) {
    while (auto packet = at.receive(limit)) {
      const auto header = parse_header(*packet);
      if (!header) continue;  // a copy of M4
      if (header->session_id != session_id) return "(not of this session)";
      const auto opened = down_->open(*header, *packet);
      if (opened.drop == Drop::replay) continue;  // the same packet on both paths
      if (opened.drop) return "(dropped)";
      if (opened.type == FrameType::data) return std::string(as_text(opened.payload));
      ControlList controls;
      if (!answers || !parse_controls(opened.payload, controls)) continue;
      for (std::size_t i = 0; i < controls.count; ++i) {
        if (const auto* challenge = std::get_if<PathChallenge>(&controls.items[i]))
          send_from(at, seal_control(PathResponse{challenge->random}));
        if (const auto* grant = std::get_if<ReturnGrant>(&controls.items[i]);
            grant != nullptr && std::find(grant_tags.begin(), grant_tags.end(), grant->address_tag) == grant_tags.end())
          grant_tags.push_back(grant->address_tag);
      }
    }
    return "(nothing)";
  }

  RawOutcome outcome;
  SessionId session_id{};
  std::uint8_t epoch = 0, ratchets = 0;
  std::uint16_t features = 0;
  Secret<32> chain;
  UdpPeer socket;
  std::vector<ByteArray<8>> grant_tags;  // of the return grants that receive_text() passed over, each once

 private:
  /// Handshake parts in a packet of this session go to `transport`.
  void hear(Bytes packet, Transport& transport) {
    const auto header = parse_header(packet);
    if (!header || header->session_id != session_id) return;
    const auto opened = down_->open(*header, packet);
    ControlList controls;
    if (opened.drop || opened.type != FrameType::control || !parse_controls(opened.payload, controls)) return;
    for (std::size_t i = 0; i < controls.count; ++i)
      if (const auto* part = std::get_if<HandshakePart>(&controls.items[i]))
        (void)transport.on_datagram(part->value, 0, now_ns());
  }

  template <typename Take, typename Reply, typename Flush>
  void drive(Transport& transport, HandshakeInitiator& initiator, milliseconds limit, const Take& take,
             const Reply& reply, const Flush& flush) {
    auto& at = rekey_socket_ != nullptr ? *rekey_socket_ : socket;
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < end) {
      const auto packet = at.receive(5ms);
      if (!packet) {
        if (transport.deadline() <= now_ns()) flush();
        continue;
      }
      const auto whole = take(*packet);
      if (!whole) continue;
      auto step = initiator.on_data(*whole, now_ns());
      if (step.busy_ms) {
        outcome = {HandshakeError::rejected, static_cast<std::uint8_t>(Reject::busy), "busy"};
        return;
      }
      if (step.status == HandshakeStatus::working) {
        reply(std::move(step.send));
        continue;
      }
      outcome.error = initiator.error();
      outcome.reject_code = initiator.reject_code();
      outcome.reason = describe(outcome.error, outcome.reject_code, true);
      if (step.status == HandshakeStatus::failed) return;
      adopt(initiator.take_keys());
      return;
    }
  }

  SockAddr gcs_data_;
  UdpPeer* rekey_socket_ = nullptr;
  std::unique_ptr<SendKey> up_, copy_up_;
  std::unique_ptr<ReceiveKey> down_;
};

}  // namespace pqcmav::test
