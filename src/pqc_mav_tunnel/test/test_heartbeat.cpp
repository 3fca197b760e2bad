// SPDX-License-Identifier: Apache-2.0
// The heartbeat by which a watchdog judges an engine rises while the packet thread works, and only then.
#include <future>

#include "engine_fixture.hpp"
#include "net/data_plane.hpp"

namespace pqcmav {
namespace {

using namespace test;

TEST(Heartbeat, RisesWithoutTraffic) {
  const KeyFolders keys;
  const auto engine = start(gcs_values(keys));
  const auto before = engine->heartbeat();
  EXPECT_TRUE(eventually([&] { return engine->heartbeat() > before + 2; }));
}

TEST(Heartbeat, StandsStillWhileThePacketThreadHangs) {
  const KeyFolders keys;
  const auto config = EngineConfig::from_flat(gcs_values(keys));
  EventQueue events(LogLevel::info);
  DataPlane data(config, events, {});
  const auto ticks = [&] { return data.totals().ticks.get(); };
  data.start();
  ASSERT_TRUE(eventually([&] { return ticks() > 0; }));

  std::promise<void> hangs, cured;
  ASSERT_TRUE(data.post([&] {
    hangs.set_value();
    cured.get_future().wait();
  }));
  hangs.get_future().wait();
  const auto before = ticks();
  std::this_thread::sleep_for(350ms);  // three rounds would have come
  EXPECT_EQ(ticks(), before);
  cured.set_value();
  EXPECT_TRUE(eventually([&] { return ticks() > before; }));
  data.stop();
}

}  // namespace
}  // namespace pqcmav
