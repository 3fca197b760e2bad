// SPDX-License-Identifier: Apache-2.0
// A drone whose keys are in the test's hands: it shakes hands with a real gcs and then sends whatever the test wants.
#pragma once

#include "control/handshake_client.hpp"
#include "engine_fixture.hpp"
#include "keys/key_folders.hpp"
#include "session/control_frame.hpp"

namespace pqcmav::test {

inline InitiatorParams initiator_params(const KeyFolders& keys, const std::string& id,
                                        const Suite& suite = require_suite(kLight)) {
  const DroneKeys mine(keys.drone(id));
  InitiatorParams out;
  out.suite = &suite;
  out.drone_id = id;
  out.psk = mine.psk();
  out.gcs_public_key = mine.gcs_public(*suite.sig);
  return out;
}

class RawDrone {
 public:
  RawDrone(const KeyFolders& keys, const Engine& gcs, const std::string& id, const SessionId& prev = {},
           std::uint8_t epoch = 0)
      : gcs_data_(resolve("127.0.0.1", gcs.ports().data, false, SOCK_DGRAM)) {
    auto params = initiator_params(keys, id);
    params.prev_session = prev;
    params.epoch = epoch;
    outcome = run_client_handshake("127.0.0.1", gcs.ports().handshake, std::move(params), -1);
    if (outcome.error != HandshakeError::none) return;
    session_id = outcome.keys.session_id;
    up_ = std::make_unique<SendKey>(*outcome.keys.suite, session_id, epoch, outcome.keys.k_d2g.view());
    down_ = std::make_unique<ReceiveKey>(*outcome.keys.suite, session_id, epoch, outcome.keys.k_g2d.view());
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
  [[nodiscard]] Bytes seal_control(const Control& control) {
    Bytes tlvs(kControlFrameMax);
    tlvs.resize(*append_control(tlvs, 0, control));
    return seal(tlvs, FrameType::control);
  }
  void send(ByteView packet) const { socket.send(packet, gcs_data_); }
  void send_from(const UdpPeer& other, ByteView packet) const { other.send(packet, gcs_data_); }
  void skip_to(std::uint64_t sequence) { up_->skip_to(sequence); }

  /// The text of the next data packet from the gcs that arrives at `at`; control frames are passed over.
  [[nodiscard]] std::string receive_text(UdpPeer& at) {
    while (auto packet = at.receive()) {
      const auto header = parse_header(*packet);
      if (!header || header->session_id != session_id) return "(not of this session)";
      const auto opened = down_->open(*header, *packet);
      if (opened.drop) return "(dropped)";
      if (opened.type == FrameType::data) return std::string(as_text(opened.payload));
    }
    return "(nothing)";
  }

  ClientOutcome outcome;
  SessionId session_id{};
  UdpPeer socket;

 private:
  SockAddr gcs_data_;
  std::unique_ptr<SendKey> up_;
  std::unique_ptr<ReceiveKey> down_;
};

}  // namespace pqcmav::test
