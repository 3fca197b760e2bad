// SPDX-License-Identifier: Apache-2.0
#include "mavros_graph.hpp"

#include <algorithm>
#include <regex>
#include <set>

#include "text.hpp"

namespace pqc_mav_proxy_cpp {
namespace {

// A node that died without a word is seen for 20 s (the lease of its participant) beside its successor.
constexpr double kLasting_s = 30.0;
constexpr const char* kCure = "give one of them another ROS_DOMAIN_ID, or remap its topics (docs/mavros.md)";
// What rmw calls the node of a writer that it has found before the node; some writers have none.
constexpr const char* kUnknown = "_NODE_NAME_UNKNOWN_";
constexpr const char* kNameless = "a node without a name so far";
constexpr const char* kPast = " and command the vehicle past the tunnel";

const std::regex& topic_pattern() {
  static const std::regex pattern("((/|/.*/)uas([0-9]+))/mavlink_(source|sink)");
  return pattern;
}

Strings unique(const Strings& names) {
  const std::set<std::string> all(names.begin(), names.end());
  return {all.begin(), all.end()};
}

}  // namespace

Writers mavros_writers(const rclcpp_lifecycle::LifecycleNode& node) {
  Writers out;
  for (const auto& [topic, types] : node.get_topic_names_and_types()) {
    if (!std::regex_match(topic, topic_pattern())) continue;
    Strings names;
    for (const auto& each : node.get_publishers_info_by_topic(topic)) {
      const auto& space = each.node_namespace();
      names.push_back(each.node_name() == kUnknown ? kNameless : (space == "/" ? "" : space) + "/" + each.node_name());
    }
    out.emplace_back(topic, std::move(names));
  }
  return out;
}

MavrosGraph::Links MavrosGraph::links(const Writers& writers) {
  Links out;
  for (const auto& [topic, names] : writers) {
    std::smatch match;
    if (!std::regex_match(topic, match, topic_pattern())) continue;
    auto& link = out[match[1]];
    link.system = match[3];
    link.is_private = match[2] != "/";
    auto sorted = names;
    std::ranges::sort(sorted);
    auto& into = match[4] == "source" ? link.routers : link.vehicles;
    into.insert(into.end(), sorted.begin(), sorted.end());
  }
  return out;
}

Diagnostic MavrosGraph::diagnostic(double now_s, const Writers& writers) {
  const auto found = links(writers);
  Strings problems, routers, places;
  add_shared(now_s, found, problems);
  add_shadowed(found, problems);
  for (const auto& [place, link] : found) {
    places.push_back(place);
    routers.insert(routers.end(), link.routers.begin(), link.routers.end());
  }
  const auto named = join(unique(routers), ", ");
  Diagnostic out{
      "mavros", Level::ok, "no mavros in this ROS domain", {{"routers", named}, {"links", join(places, ", ")}}};
  if (!named.empty()) out.message = named + ": no other mavros in reach";
  if (!problems.empty()) {
    out.level = Level::error;
    out.message = join(problems, "; ") + ": " + kCure;
  }
  return out;
}

void MavrosGraph::add_shared(double now_s, const Links& found, Strings& problems) {
  decltype(doubled_s_) doubled;
  for (const auto& [place, link] : found) {
    for (const auto* names : {&link.routers, &link.vehicles}) {
      const auto several = unique(*names);
      if (several.size() > 1) {
        problems.push_back(join(several, " and ") + " share " + place + kPast);
      } else if (names->size() > 1) {
        const std::pair key{place, several.front()};
        const auto since = doubled_s_.find(key);
        doubled[key] = since == doubled_s_.end() ? now_s : since->second;
        if (now_s - doubled[key] >= kLasting_s)
          problems.push_back(std::to_string(names->size()) + " nodes " + several.front() + " share " + place + kPast);
      }
    }
  }
  doubled_s_ = std::move(doubled);
}

/// A mavros as it comes beside one that keeps to itself: the next one as it comes would be shared.
void MavrosGraph::add_shadowed(const Links& found, Strings& problems) {
  std::map<std::string, Strings> places;
  for (const auto& [place, link] : found)
    if (!link.routers.empty()) places[link.system].push_back(place);
  for (const auto& [system, several] : places) {
    if (several.size() < 2) continue;
    for (const auto& place : several) {
      const auto& link = found.at(place);
      if (link.is_private) continue;
      auto others = several;
      std::erase(others, place);
      problems.push_back(link.routers.front() + " is another mavros for vehicle " + system + ", at " + place +
                         " beside " + join(others, ", "));
    }
  }
}

}  // namespace pqc_mav_proxy_cpp
