// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/picture.hpp"

#include <charconv>

#include "picture/counters.hpp"
#include "picture/fields.hpp"

namespace pqcmav {
namespace {

template <typename Of, typename Rows>
void show(Json& out, const Rows& rows, const Of& of) {
  project(out, rows, of, kInPicture);
}

Json side_of(const LinkQualityView& link, const LinkReport& report, bool of_peer) {
  Json out;
  show(out, link_rows(), link);
  show(out, radio_rows(), link);
  show(out, side_rows(), LinkSide{&link, of_peer});
  show(out, report_rows(), report);
  return out;
}

/// What is between these two in a text; "" where nothing is.
std::string_view between(std::string_view text, char open, char close) {
  const auto begin = text.find(open), end = text.find(close, begin);
  return end == std::string_view::npos ? std::string_view() : text.substr(begin + 1, end - begin - 1);
}

void add_fields(Json& out, const auto& rows) {
  for (const auto& row : rows) {
    const auto& field = row.field;
    if ((field.in & kInPicture) == 0) continue;
    Json each = {{"name", field.name}, {"type", field.type}, {"unit", between(field.text, '[', ']')}};
    unsigned least = 0, most = 0;
    const auto bounds = between(field.text, '(', ')');
    const auto dash = std::from_chars(bounds.data(), bounds.data() + bounds.size(), least).ptr;
    const bool bounded = dash != bounds.data() && dash != bounds.data() + bounds.size() && *dash == '-' &&
                         std::from_chars(dash + 1, bounds.data() + bounds.size(), most).ec == std::errc();
    each["min"] = bounded ? Json(least) : Json(nullptr);
    each["max"] = bounded ? Json(most) : Json(nullptr);
    each["text"] = field.text;
    each["message"] = (field.in & kInMessage) != 0;
    if (row.count != nullptr) each["warning"] = field.meaning;
    out.push_back(std::move(each));
  }
}

Json fields_of(std::string_view message, const auto&... rows) {
  Json fields = Json::array();
  (add_fields(fields, rows), ...);
  return {{"message", message}, {"fields", std::move(fields)}};
}

}  // namespace

Json picture_of(const LinkStatus& status) {
  Json out;
  show(out, status_rows(), status);
  return out;
}

Json picture_of(const LinkStats& stats) {
  Json out;
  show(out, stats_head_rows(), stats);
  project(out, stats.counters);
  show(out, stats_rows(), stats);
  if (stats.rates) show(out, rate_rows(), *stats.rates);
  return out;
}

Json picture_of(const LinkQualityView& link) {
  Json out = Json::array({side_of(link, link.local, false)});
  if (link.peer) out.push_back(side_of(link, *link.peer, true));
  return out;
}

Json picture_of(const ServerView& server) {
  Json out;
  project(out, server.totals);
  show(out, server_rows(), server);
  return out;
}

Json picture_of(const Event& handshake) {
  const auto& what = std::get<HandshakeEvent>(handshake.what);
  Json out;
  show(out, event_rows(), handshake);
  show(out, handshake_rows(), what);
  show(out, times_rows(), what.times);
  return out;
}

Json picture_of(const Suite& suite) {
  Json out;
  show(out, suite_rows(), suite);
  return out;
}

Json picture_schema() {
  return {{"status", fields_of("TunnelStatus", status_rows())},
          {"path", fields_of("PathStatus", path_rows())},
          {"stats", fields_of("TunnelStats", stats_head_rows(), link_counters(), stats_rows(), rate_rows())},
          {"link", fields_of("LinkQuality", link_rows(), radio_rows(), side_rows(), report_rows())},
          {"server", fields_of("ServerStats", process_counters(), server_counters(), relay_counters(), server_rows())},
          {"handshake", fields_of("HandshakeReport", event_rows(), handshake_rows(), times_rows())},
          {"suite", fields_of("SuiteInfo", suite_rows())}};
}

}  // namespace pqcmav
