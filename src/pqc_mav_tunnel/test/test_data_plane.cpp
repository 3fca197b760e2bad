// SPDX-License-Identifier: Apache-2.0
// What an authentic peer may say to a data plane: keys out of a seed, and the peer's end in the test's hands. A peer may
// have been captured.
#include "net/data_plane.hpp"

#include <gtest/gtest.h>

#include <set>

#include "engine_fixture.hpp"
#include "session_fixture.hpp"

namespace pqcmav {
namespace {

using namespace test;
using Controls = std::vector<Control>;

constexpr ByteArray<kReturnKeySize> kReturnKey{};
/// One of each that changes a session, and what would end the other end's reading of a frame early.
const Controls kAll = {Probe{1, 1},
                       ProbeReply{1, 1, 1, 1},
                       LinkReport{},
                       Switched{0},
                       RekeyRequest{1, "", ""},
                       Keepalive{},
                       RekeyResult{1, true, 0, 1, ""},
                       HandshakePart{ByteView(kReturnKey)},
                       ReturnGrant{1, {}, ByteView(kReturnKey)},
                       RestartToken{},
                       Seen{0},
                       PathChallenge{},
                       PathResponse{},
                       RoleTold{StationRole::standby, 5},
                       TermTold{5},
                       Got{38, {}},
                       Aside{1},
                       Pin{1, 1},
                       Arrived{0, 1, 1},
                       PathsTold{1, 0, 0, false, false}};

/// A data plane, and the peers that have sessions with it.
struct Plane {
  Plane(Role role, const FlatConfig& more = {})
      : peers(2),
        role_(role),
        config(
            EngineConfig::from_flat(with(role == Role::gcs ? gcs_values(keys) : drone_values(keys, "uav1", 1), more))),
        data(config, events, {}) {
    data.start();
    gcs_at_ = resolve("127.0.0.1", data.data_port(), false, SOCK_DGRAM);
  }
  ~Plane() { data.stop(); }

  struct Peer {
    UdpPeer socket;
    std::optional<Session> session;
  };

  /// New keys at both ends, as after a first handshake, and the packets that make them current.
  [[nodiscard]] bool connect(std::size_t link = 0, std::optional<SessionId> id = std::nullopt,
                             std::uint16_t features = features::kStations) {
    auto pair = source_.make(0);
    for (auto* each : {&pair.drone, &pair.gcs}) {
      each->features = features;
      if (id) each->session_id = *id;
    }
    auto& peer = peers[link];
    Session session(role_ == Role::gcs, kTimers, 1024);
    session.install(std::move(role_ == Role::gcs ? pair.drone : pair.gcs), now_ns());
    if (role_ == Role::gcs) {
      peer.session = std::move(session);
      EXPECT_TRUE(data.ask([&] {
        data.install_now(0, std::move(pair.gcs), {peer.socket.address()}, now_ns());
        return true;
      }));
      say(link, {Keepalive{}});
      return true;
    }
    const StationPart part{link, link == 0 ? StationRole::active : StationRole::standby, 1};
    const auto put = data.install(link, std::move(pair.drone), peer.socket.address(), part, data.set_backs());
    if (put != Installed::yes) return false;
    peer.session = std::move(session);
    return hear(link).has_value();  // SWITCHED
  }
  void say(std::size_t link, const Controls& controls) {
    Bytes packet(kOverhead + kControlFrameMax);
    std::size_t used = 0;
    for (const auto& each : controls)
      used = *append_control(MutableBytes(packet).subspan(kHeaderSize, kControlFrameMax), used, each);
    packet.resize(kOverhead + used);
    ASSERT_TRUE(peers[link].session->seal(FrameType::control, packet, now_ns()));
    peers[link].socket.send(packet, gcs_at_);
  }
  /// What the next control frame says; nothing when none comes.
  [[nodiscard]] std::optional<ControlList> hear(std::size_t link, milliseconds limit = 10s) {
    auto& peer = peers[link];
    while (auto packet = peer.socket.receive(limit)) {
      const auto header = parse_header(*packet);
      if (!header) continue;
      const auto opened = peer.session->open(*header, *packet, now_ns());
      ControlList out;
      if (!opened.drop && opened.type == FrameType::control && parse_controls(opened.payload, out)) return out;
    }
    return std::nullopt;
  }
  /// The places in Control of all that is said until this probe is answered.
  [[nodiscard]] std::set<std::size_t> until_answer(std::size_t link, std::uint32_t probe) {
    std::set<std::size_t> out;
    while (const auto heard = hear(link))
      for (std::size_t i = 0; i < heard->count; ++i) {
        out.insert(heard->items[i].index());
        if (const auto* reply = std::get_if<ProbeReply>(&heard->items[i]); reply != nullptr && reply->id == probe)
          return out;
      }
    ADD_FAILURE() << "no answer";
    return out;
  }
  [[nodiscard]] bool lives() {
    const auto before = data.totals().ticks.get();
    return eventually([&] { return data.totals().ticks.get() > before; });
  }
  [[nodiscard]] LinkPicture picture(std::size_t link = 0) const { return *data.picture_of(link); }

  KeyFolders keys;
  std::vector<Peer> peers;

 private:
  Role role_;
  KeySource source_{1};
  SockAddr gcs_at_;

 public:
  EngineConfig config;
  EventQueue events{LogLevel::info};
  DataPlane data;
};

const Names kBoth = {"north@127.0.0.1:1", "south@127.0.0.1:2"};

/// What follows a CLOSE in its frame finds no session any more.
TEST(DataPlane, NothingAfterAGoodbyeCounts) {
  for (const auto role : {Role::gcs, Role::drone}) {
    Plane plane(role);
    for (const auto& each : kAll) {
      ASSERT_TRUE(plane.connect());
      plane.say(0, {Close{kCloseMoved}, each});
      ASSERT_TRUE(eventually([&] { return plane.picture().closed_by_peer; })) << each.index();
      ASSERT_TRUE(plane.lives());
    }
  }
}

TEST(DataPlane, WhatTheWrongEndSaysIsSkipped) {
  const Controls of_gcs = {ReturnGrant{1, {}, ByteView(kReturnKey)}, RestartToken{}, PathChallenge{}, TermTold{5},
                           Aside{1}};
  const Controls of_drone = {PathResponse{}, RoleTold{StationRole::standby, 5}, PathsTold{1, 0, 0, false, false}};
  for (const auto role : {Role::gcs, Role::drone}) {
    Plane plane(role);
    ASSERT_TRUE(plane.connect());
    auto said = role == Role::gcs ? of_gcs : of_drone;
    said.push_back(Probe{77, 1});
    plane.say(0, said);
    const auto heard = plane.until_answer(0, 77);
    EXPECT_FALSE(heard.contains(Control(Got{}).index()));
    EXPECT_FALSE(heard.contains(Control(PathResponse{}).index()));
  }
}

/// A station chooses the id of its session. One that is captured could choose another one's, and have its packets.
TEST(DataPlane, ASessionsIdIsNoOtherOnes) {
  Plane plane(Role::drone, {{"peer", kBoth}, {"standby", true}});
  ASSERT_TRUE(plane.connect(0));
  const auto id = plane.picture().current->id;
  EXPECT_FALSE(plane.connect(1, id));
  plane.say(0, {Probe{78, 1}});
  (void)plane.until_answer(0, 78);
  EXPECT_TRUE(plane.connect(1));
  EXPECT_FALSE(plane.connect(0, plane.picture(1).current->id));
  plane.say(0, {Probe{79, 1}});
  (void)plane.until_answer(0, 79);
}

/// The events of one captured drone must not push out all others'.
TEST(DataPlane, ADronesRolesAreSaidOnceASecond) {
  Plane plane(Role::gcs);
  ASSERT_TRUE(plane.connect());
  std::uint32_t term = 0;
  for (int i = 0; i < 20; ++i) {
    Controls roles;
    for (std::size_t k = 0; k < kControlsPerFrame; ++k)
      roles.push_back(RoleTold{k % 2 == 0 ? StationRole::active : StationRole::standby, ++term});
    plane.say(0, roles);
  }
  std::size_t lines = 0;
  std::string last;
  const auto gather = [&] {
    for (const auto& event : plane.events.wait(0ms, 1024))
      if (const auto* log = std::get_if<LogEvent>(&event.what)) ++lines, last = log->text;
    return last.find("(term 320)") != std::string::npos;
  };
  EXPECT_TRUE(eventually(gather)) << "the last one is said in the end: " << last;
  EXPECT_LT(lines, 10U);
  EXPECT_TRUE(eventually([&] { return plane.picture().term == 320U; }));
  ASSERT_TRUE(plane.connect(0, std::nullopt, 0));
  plane.say(0, {RoleTold{StationRole::active, 400}, Probe{80, 1}});
  EXPECT_FALSE(plane.until_answer(0, 80).contains(Control(Got{}).index())) << "roles were not agreed on";
  EXPECT_NE(plane.picture().term, 400U);
}

}  // namespace
}  // namespace pqcmav
