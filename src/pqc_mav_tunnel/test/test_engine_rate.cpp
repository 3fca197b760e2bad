// SPDX-License-Identifier: Apache-2.0
// shape_kbit: auto in a running tunnel: over a thin link the rate is found, over a wide one nothing is shaped.
#include "engine_fixture.hpp"
#include "mavlink_bytes.hpp"
#include "thin_relay.hpp"

namespace pqcmav {
namespace {

using namespace test;

/// Streams without pause until it goes.
class Load {
 public:
  Load(UdpPeer& from, std::uint16_t port, milliseconds every)
      : thread_([this, &from, port, every] {
          for (std::uint8_t system = 1; !done_; system = static_cast<std::uint8_t>(system % 20 + 1)) {
            from.send(mavlink2(30, 28, {system, 1}), port);
            std::this_thread::sleep_for(every);
          }
        }) {}
  ~Load() {
    done_ = true;
    thread_.join();
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

TEST(EngineRate, IsFoundOnAThinLink) {
  const KeyFolders keys;
  UdpPeer autopilot, ground;
  const auto gcs = start(with(gcs_values(keys), {{"drone.uav1.plain_peer", ground.address().text()}}));
  ThinRelay relay(gcs->ports().data, 64, 16'000);
  const auto drone = start(with(drone_values(keys, "uav1", relay.port()), {{"shape_kbit", std::string("auto")}}));
  ASSERT_TRUE(eventually([&] { return up(*gcs) && up(*drone); }));
  EXPECT_EQ(status(*drone).shape_kbit, 0u);
  const Load load(autopilot, plain_port(*drone, "uav1"), 4ms);
  EXPECT_TRUE(eventually([&] {
    const auto kbit = status(*drone).shape_kbit;
    return kbit >= 45 && kbit <= 80;
  })) << status(*drone).shape_kbit;
  // And commands no longer wait behind two seconds of streams.
  EXPECT_TRUE(eventually([&] {
    (void)ground.drain();
    const auto sent = std::chrono::steady_clock::now();
    autopilot.send(mavlink2(77, 10), plain_port(*drone, "uav1"));
    while (const auto came = ground.receive(600ms))
      if (came->size() > 7 && (*came)[7] == 77) return std::chrono::steady_clock::now() - sent < 600ms;
    return false;
  }));
  EXPECT_EQ(status(*gcs).shape_kbit, 0u);
}

TEST(EngineRate, OfAWideLinkIsNotLookedFor) {
  Tunnel tunnel({{"shape_kbit", std::string("auto")}}, {{"shape_kbit", -1}});
  ASSERT_TRUE(tunnel.connect());
  const Load load(tunnel.autopilot, plain_port(*tunnel.drone, "uav1"), 1ms);
  const auto replies = total(*tunnel.gcs, "control");
  ASSERT_TRUE(eventually([&] { return total(*tunnel.gcs, "control") >= replies + 10; }));
  for (const auto* engine : {tunnel.drone.get(), tunnel.gcs.get()}) {
    EXPECT_EQ(status(*engine).shape_kbit, 0u);
    const auto counted = engine->stats();
    for (const auto& each : counted.at(0).shaping) EXPECT_EQ(each.taken, 0u);
  }
}

TEST(EngineRate, IsForgottenWhereItIsSetByHand) {
  Tunnel tunnel({}, {{"shape_kbit", std::string("auto")}});
  ASSERT_TRUE(tunnel.connect());
  tunnel.drone->set_shape_kbit(64);
  EXPECT_TRUE(eventually([&] { return status(*tunnel.drone).shape_kbit == 64; }));
  tunnel.drone->set_shape_kbit(-1);
  EXPECT_TRUE(eventually([&] { return status(*tunnel.drone).shape_kbit == 0; }));
}

}  // namespace
}  // namespace pqcmav
