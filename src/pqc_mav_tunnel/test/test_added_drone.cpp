// SPDX-License-Identifier: Apache-2.0
#include "added_drone.hpp"

#include <gtest/gtest.h>

#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using Names = std::vector<std::string>;
using test::expect_error;

const std::string kLevel5 = "cs-mlkem1024-aesgcm-mldsa87", kOther5 = "cs-mlkem1024-chacha20poly1305-mldsa87",
                  kLevel1 = "cs-mlkem512-aesgcm-mldsa44";

TEST(AddedDrone, WithoutRulesAllIsAsAsked) {
  const FlatConfig asked = {{"plain_peer", std::string("127.0.0.1:1")}, {"allowed_suites", Names{kLevel1}}};
  EXPECT_EQ(added_settings({}, "uav2", asked), asked);
  EXPECT_EQ(added_settings({{"drone.uav3.require_signature", true}}, "uav2", asked), asked);
}

TEST(AddedDrone, ItsSuitesAreAmongThoseOfTheGcs) {
  const FlatConfig file = {{"allowed_suites", Names{kLevel5, "ML-1024-CP-MD-87"}}};
  for (const auto* good : {"cs-mlkem1024-chacha20poly1305-mldsa87", "ML-1024-AG-MD-87"})
    EXPECT_EQ(added_settings(file, "uav2", {{"allowed_suites", Names{good}}}).at("allowed_suites"),
              ConfigValue(Names{good}));
  expect_error(Errc::config_invalid, {"'uav2'", kLevel1, "never laxer", "reload"},
               [&] { (void)added_settings(file, "uav2", {{"allowed_suites", Names{kLevel5, kLevel1}}}); });
}

TEST(AddedDrone, OfADroneInTheFileItsOwnRulesCount) {
  const FlatConfig file = {{"allowed_suites", Names{kLevel5, kOther5}},
                           {"drone.uav2.allowed_suites", Names{kLevel5}},
                           {"drone.uav2.require_signature", true}};
  for (const auto& asked : {FlatConfig{}, FlatConfig{{"allowed_suites", Names{}}}}) {
    const auto out = added_settings(file, "uav2", asked);
    EXPECT_EQ(out.at("allowed_suites"), ConfigValue(Names{kLevel5})) << "not lost by removing and adding it";
    EXPECT_EQ(out.at("require_signature"), ConfigValue(true));
  }
  expect_error(Errc::config_invalid, {kOther5},
               [&] { (void)added_settings(file, "uav2", {{"allowed_suites", Names{kOther5}}}); });
  // The owner may have given one drone more than the others.
  const FlatConfig wider = {{"allowed_suites", Names{kLevel5}}, {"drone.uav2.allowed_suites", Names{kLevel1}}};
  EXPECT_EQ(added_settings(wider, "uav2", {{"allowed_suites", Names{kLevel1}}}).at("allowed_suites"),
            ConfigValue(Names{kLevel1}));
}

TEST(AddedDrone, ASignatureIsWaivedByTheFileAlone) {
  const FlatConfig unsigned_too = {{"require_signature", false}};
  for (const auto& file : {FlatConfig{}, FlatConfig{{"drone.uav2.require_signature", true}},
                           FlatConfig{{"drone.uav3.require_signature", false}}})
    expect_error(Errc::config_invalid, {"'uav2'", "unsigned"},
                 [&] { (void)added_settings(file, "uav2", unsigned_too); });
  EXPECT_EQ(added_settings({{"drone.uav2.require_signature", false}}, "uav2", unsigned_too), unsigned_too);
  EXPECT_EQ(added_settings({}, "uav2", {{"require_signature", true}}).at("require_signature"), ConfigValue(true));
}

}  // namespace
}  // namespace pqcmav
