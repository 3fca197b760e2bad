// SPDX-License-Identifier: Apache-2.0
#include "peer_list.hpp"

#include <gtest/gtest.h>

#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

std::string shown(const std::string& text) {
  std::string out;
  for (const auto& each : peer_list(text, "gcs", 46011))
    out += (out.empty() ? "" : " ") + each.gcs_id + "|" + each.host + "|" + std::to_string(each.port);
  return out;
}

TEST(PeerList, OneHostIsTheConfiguredStation) {
  EXPECT_EQ(shown("gcs.example.org"), "gcs|gcs.example.org|46011");
  EXPECT_EQ(shown("::1"), "gcs|::1|46011");
}

TEST(PeerList, SeveralHaveNamesAndPorts) {
  EXPECT_EQ(shown("north@10.0.0.1:46013, south@b.example"), "north|10.0.0.1|46013 south|b.example|46011");
  EXPECT_EQ(shown("north@[fe80::1]:46013,south@::1,10.0.0.9"),
            "north|fe80::1|46013 south|::1|46011 gcs|10.0.0.9|46011");
  EXPECT_EQ(shown("north@10.0.0.1"), "north|10.0.0.1|46011");
}

TEST(PeerList, RefusesWhatIsNoListOfDifferentStations) {
  std::string nine = "a@h";
  for (char c = 'b'; c <= 'i'; ++c) nine += std::string(",") + c + "@h";
  for (const std::string text : {"", "10.0.0.1:46011", "north@", "@host", "North@host", "north@host:0", "north@host:x",
                                 "north@host:70000", "a,b", "a@h,a@k", "a@h,", "a@h,,b@h", "a@h b@h"})
    EXPECT_THROW(peer_list(text, "gcs", 46011), TunnelError) << text;
  EXPECT_THROW(peer_list(nine, "gcs", 46011), TunnelError);
}

TEST(PeerList, TheWantedStationMustBeOneOfThem) {
  EngineConfig config;
  config.peers = peer_list("north@a,south@b", "gcs", 46011);
  EXPECT_EQ(problem_of_station(config, ""), "");
  EXPECT_EQ(problem_of_station(config, "south"), "");
  EXPECT_NE(problem_of_station(config, "east").find("north, south"), std::string::npos);
}

}  // namespace
}  // namespace pqcmav
