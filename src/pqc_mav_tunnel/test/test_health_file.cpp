// SPDX-License-Identifier: Apache-2.0
#include "health_file.hpp"

#include "clock.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using namespace test;

TEST(HealthFile, SaysWhatWasWrittenWhileItIsFresh) {
  const TempFolder folder;
  LinkStatus up, down;
  up.drone_id = "uav1";
  up.state = LinkState::up;
  up.suite = "cs-mlkem768-aesgcm-mldsa65";
  down.drone_id = "uav2";
  ASSERT_EQ(write_health(folder / "health", {up, down}), "");
  const auto health = read_health(folder / "health");
  EXPECT_TRUE(health.good);
  EXPECT_EQ(health.text, "uav1 UP cs-mlkem768-aesgcm-mldsa65\nuav2 DOWN\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "health.new"));
}

TEST(HealthFile, AnOldOneAndOneFromBeforeTheLastStartAreNotGood) {
  const TempFolder folder;
  const auto now = now_ns();
  for (const auto written : {std::uint64_t{0}, now - to_ns(kHealthLimit) - 1, now + to_ns(std::chrono::hours(1))}) {
    write_text(folder / "health", std::to_string(written) + "\nuav1 UP\n");
    const auto health = read_health(folder / "health");
    EXPECT_FALSE(health.good);
    EXPECT_NE(health.text.find("hangs or is gone"), std::string::npos) << health.text;
  }
}

TEST(HealthFile, NoneOrNonsenseSaysSo) {
  const TempFolder folder;
  EXPECT_NE(read_health(folder / "none").text.find("no running pqcmav-tunneld"), std::string::npos);
  write_text(folder / "nonsense", "UP\n");
  EXPECT_FALSE(read_health(folder / "nonsense").good);
}

TEST(HealthFile, AFolderThatIsNotThereIsSaid) {
  const auto problem = write_health("/nowhere/health", {});
  EXPECT_NE(problem.find("/nowhere/health"), std::string::npos) << problem;
  EXPECT_NE(problem.find(kHealthFileVariable), std::string::npos) << problem;
}

}  // namespace
}  // namespace pqcmav
