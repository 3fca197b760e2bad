// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/picture.hpp"

#include <gtest/gtest.h>

#include "door_samples.hpp"
#include "picture/counters.hpp"

namespace pqcmav {
namespace {

using namespace test;

std::set<std::string> names_in(const Json& picture) {
  std::set<std::string> out;
  for (const auto& [name, value] : picture.items()) out.insert(name);
  return out;
}

std::set<std::string> names_of(const char* part) {
  std::set<std::string> out;
  const auto schema = picture_schema();
  for (const auto& field : schema.at(part).at("fields"))
    EXPECT_TRUE(out.insert(field["name"].get<std::string>()).second) << field["name"] << " twice in " << part;
  return out;
}

TEST(Picture, HasWhatTheSchemaSays) {
  EXPECT_EQ(names_in(picture_of(sample_status())), names_of("status"));
  auto stats = sample_stats();
  stats.rates = LinkRates{};
  EXPECT_EQ(names_in(picture_of(stats)), names_of("stats"));
  for (const auto& side : picture_of(sample_link())) EXPECT_EQ(names_in(side), names_of("link"));
  EXPECT_EQ(names_in(picture_of(sample_handshake())), names_of("handshake"));
  auto status = sample_status();
  status.paths.emplace_back();
  EXPECT_EQ(names_in(picture_of(status)["paths"][0]), names_of("path"));
  EXPECT_EQ(picture_of(status)["paths"][0]["rtt_ms"], nullptr);  // it has not answered yet
  EXPECT_EQ(names_in(picture_of(require_suite(kDefaultSuite))), names_of("suite"));
  NamedCounters totals;
  add_named(totals, process_counters(), ProcessCounters());
  add_named(totals, server_counters(), ServerCounters());
  add_named(totals, relay_counters(), RelayCounters());
  EXPECT_EQ(names_in(picture_of(ServerView{totals, {}, {}, {}})), names_of("server"));
}

TEST(Picture, SpeaksAsMessagesDo) {
  const auto status = picture_of(sample_status());
  EXPECT_EQ(status["state"], 4);
  EXPECT_EQ(status["state_name"], "REKEYING");
  EXPECT_EQ(status["role"], "gcs");
  const auto handshake = picture_of(sample_handshake());
  EXPECT_EQ(handshake["phase_finish_ms"], 65.0);
  EXPECT_EQ(handshake["signature_bytes"], 22);
  const auto sides = picture_of(sample_link());
  ASSERT_EQ(sides.size(), 2u);
  EXPECT_EQ(sides[0]["side"], "local");
  EXPECT_EQ(sides[0]["age_s"], 0.0);
  EXPECT_EQ(sides[1]["age_s"], 0.5);
  EXPECT_EQ(sides[1]["drop_replay"], 14);
  EXPECT_TRUE(std::isnan(sides[0]["clock_offset_ms"].get<double>()));
  EXPECT_EQ(picture_of(LinkQualityView{}).size(), 1u);  // the peer has reported nothing yet
  EXPECT_EQ(picture_of(sample_stats())["plain_dropped_yield"], 1'000);
}

TEST(Picture, OfAServerNamesDronesAndRefusals) {
  const NamedCounters totals = {{"delivered", 3}, {"hs_gated", 4}};
  const auto out = picture_of(ServerView{totals, RefusedShare{"203.0.113.0/24", 0.5}, {"uav1"}, {11}});
  EXPECT_EQ(out["delivered"], 3);
  EXPECT_EQ(out["hs_gated"], 4);
  EXPECT_EQ(out["drone_ids"], Json({"uav1"}));
  EXPECT_EQ(out["opened"], Json({11}));
  EXPECT_EQ(out["refused_network"], "203.0.113.0/24");
}

TEST(Picture, SchemaHasUnitsBoundsAndWarnings) {
  const auto schema = picture_schema();
  const auto field = [&](const char* part, std::string_view name) {
    for (const auto& each : schema[part]["fields"])
      if (each["name"] == name) return each;
    return Json();
  };
  EXPECT_EQ(field("status", "key_age_s")["unit"], "s");
  EXPECT_EQ(field("status", "ratchets")["max"], 8);
  EXPECT_EQ(field("status", "term")["max"], nullptr);
  EXPECT_EQ(field("link", "loss")["max"], 1);
  EXPECT_EQ(field("stats", "drop_auth_fail")["warning"], "packets that failed authentication");
  EXPECT_EQ(field("stats", "enc_tx_bytes")["warning"], "");
  EXPECT_EQ(field("stats", "enc_dropped_send")["message"], false);
  for (const auto& [part, view] : schema.items())
    for (const auto& each : view["fields"]) {
      EXPECT_FALSE(each["text"].get<std::string>().empty()) << each;
      EXPECT_FALSE(each["type"].get<std::string>().empty()) << each;
    }
}

/// All data threads together: no counter is left out, whichever comes to be.
TEST(ProcessCounters, AddUp) {
  ProcessCounters out, other;
  std::uint64_t value = 0;
  for (const auto& row : process_counters()) {
    row.counter(out).set(++value);
    row.counter(other).set(100 * value);
  }
  out.ticks.set(7);
  other.ticks.set(5);
  out.add(other);
  value = 0;
  for (const auto& row : process_counters()) EXPECT_EQ(row.count(out), 101 * ++value) << row.field.name;
  EXPECT_EQ(out.ticks.get(), 5u);
  // Each counter of the structures but `ticks` has a row.
  EXPECT_EQ(process_counters().size() + 1, sizeof(ProcessCounters) / sizeof(Counter));
  EXPECT_EQ(server_counters().size(), sizeof(ServerCounters) / sizeof(Counter));
  EXPECT_EQ(link_counters().size(),
            (sizeof(LinkCounters) - sizeof(LinkCounters::window_depth) - 2 * sizeof(SampledTime)) / sizeof(Counter));
}

TEST(WatchedCounters, KeepTheirOrder) {
  const auto names = [](std::span<const WatchedCounter> counters) {
    std::string out;
    for (const auto& each : counters) out += std::string(each.name) + ' ';
    return out;
  };
  EXPECT_EQ(names(watched_of_link()),
            "drop_auth_fail drop_replay drop_malformed drop_decrypt_fail plain_dropped_too_big "
            "plain_dropped_no_session plain_dropped_kernel ");
  EXPECT_EQ(names(watched_of_server()), "hs_tag hs_gate hs_replay hs_malformed hs_limit other_version drop_late ");
  EXPECT_EQ(names(watched_of_socket()), "drop_kernel ");
  EXPECT_EQ(names(watched_of_snapshots()), "set_back used_twice ");
}

}  // namespace
}  // namespace pqcmav
