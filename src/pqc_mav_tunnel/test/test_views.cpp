// SPDX-License-Identifier: Apache-2.0
#include "console/views.hpp"

#include <gtest/gtest.h>

#include "door1.hpp"
#include "door_samples.hpp"

namespace pqcmav {
namespace {

using namespace test;

void expect_line(const Json& shown, std::string_view golden) { EXPECT_EQ(line_of(shown), std::string(golden) + '\n'); }

TEST(Views, StatusIsAsEver) {
  const auto with = [](std::string_view before, const char* more) {
    return std::string(before.substr(0, before.size() - 1)) + more;
  };
  expect_line(view_of(sample_status()), with(door1::kStatus, R"(,"peer_alarm":2,"peer_alarm_kind":"forgery"})"));
  expect_line(view_of(LinkStatus{}), with(door1::kNewStatus, R"(,"peer_alarm":0,"peer_alarm_kind":""})"));
}

TEST(Views, CountersAreAsEver) {
  expect_line(view_of(sample_stats()), door1::kStats);
  auto rated = sample_stats();
  rated.rates = {1.5, 2, 3, 4};
  const std::string rates =
      R"(,"tx_packets_per_s":1.5,"tx_bytes_per_s":2.0,"rx_packets_per_s":3.0,"rx_bytes_per_s":4.0})";
  expect_line(view_of(rated), std::string(door1::kStats.substr(0, door1::kStats.size() - 1)) + rates);
}

TEST(Views, TotalsAreAsEver) {
  std::string names;
  for (const auto& row : process_counters()) names += std::string(row.field.name) + ' ';
  EXPECT_EQ(names,
            "enc_rx_datagrams enc_rx_bytes delivered delivered_datagrams control drop_malformed drop_unknown "
            "drop_seq_old drop_replay drop_auth_fail drop_decrypt_fail hs_taken hs_repeated hs_malformed hs_unknown "
            "hs_tag hs_gate hs_replay hs_limit other_version doubled skipped skips late drop_kernel drop_yield "
            "drop_standby drop_copy drop_late used_twice set_back ");
  names.clear();
  for (const auto& row : server_counters()) names += std::string(row.field.name) + ' ';
  EXPECT_EQ(names, "hs_gated hs_retried hs_completed hs_ratchets hs_failed hs_busy restarts_told keygens ");
}

TEST(Views, LinksAreAsEver) {
  expect_line(view_of(sample_link()), door1::kLink);
  expect_line(view_of(LinkQualityView{}), door1::kNewLink);
  auto by_radio = sample_link();
  by_radio.radio = RadioQuality{38, 140, 138, 40, {}, 0.25, 1, 2, 3, 4};
  const std::string radio =
      R"(,"radio":{"kbit":38.0,"rssi":140.0,"remote_rssi":138.0,"noise":40.0,"remote_noise":null,"fill":0.25,)"
      R"("line_errors":1,"not_mine":2,"dropped":3,"stuck":4}})";
  expect_line(view_of(by_radio), std::string(door1::kLink.substr(0, door1::kLink.size() - 1)) + radio);
}

TEST(Views, EventsAreAsEver) {
  expect_line(view_of(sample_handshake(), 1.5), door1::kHandshake);
  expect_line(view_of(Event{1, "uav1", StateEvent{LinkState::down, LinkState::up, "why"}}, 2.5), door1::kState);
  expect_line(view_of(Event{1, "", LogEvent{LogLevel::warning, "text"}}, 3.5), door1::kLog);
  HandshakeTally tally;
  tally.add(std::get<HandshakeEvent>(sample_handshake().what));
  HandshakeEvent good;
  good.ok = true;
  good.duration_ns = 3'000'000;
  tally.add(good);
  expect_line(view_of(tally), door1::kTally);
}

TEST(Views, SuitesAreAsEver) { expect_line(view_of(require_suite(kDefaultSuite)), door1::kSuite); }

}  // namespace
}  // namespace pqcmav
