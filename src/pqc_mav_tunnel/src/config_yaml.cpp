// SPDX-License-Identifier: Apache-2.0
#include "config_yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "pqc_mav_tunnel/error.hpp"

namespace pqcmav {
namespace {

constexpr std::uintmax_t kMaxFile = 1 << 20;
constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxValues = 20000;  // counted as met: aliases let a small file stand for a huge one

std::string at(const std::string& path, const YAML::Mark& mark) {
  return mark.is_null() ? path : path + ", line " + std::to_string(mark.line + 1);
}

/// YAML 1.2 core schema for the types we have; a quoted scalar (tag "!") is always text.
ConfigValue scalar(const YAML::Node& node) {
  const auto& text = node.Scalar();
  if (node.Tag() == "!") return text;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  std::int64_t whole = 0;
  const auto* end = text.data() + text.size();
  if (auto [p, e] = std::from_chars(text.data(), end, whole); e == std::errc{} && p == end && !text.empty())
    return whole;
  double real = 0;
  const bool numeric =
      text.find_first_not_of("0123456789.+-eE") == std::string::npos;  // not "nan" or "infinity", which are names
  if (auto [p, e] = std::from_chars(text.data(), end, real); numeric && e == std::errc{} && p == end && !text.empty())
    return real;
  return text;
}

/// Takes a document in and keeps nothing.
struct Ignore : YAML::EventHandler {
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// YAML::LoadAll would do, but finds documents without end in some texts (",").
bool has_more_than_one_document(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  Ignore ignore;
  return parser.HandleNextDocument(ignore) && parser.HandleNextDocument(ignore);
}

void flatten(const std::string& path, const YAML::Node& node, const std::string& prefix, FlatConfig& out, int depth,
             std::size_t& met) {
  if (depth > kMaxDepth) throw TunnelError(Errc::config_syntax, at(path, node.Mark()) + ": nested too deeply.");
  for (const auto& item : node) {
    if (++met > kMaxValues)
      throw TunnelError(Errc::config_syntax, path + " has more than " + std::to_string(kMaxValues) + " values.");
    const auto key = prefix + item.first.as<std::string>();
    const auto& value = item.second;
    if (value.IsMap()) {
      flatten(path, value, key + ".", out, depth + 1, met);
    } else if (value.IsSequence()) {
      std::vector<std::string> list;
      for (const auto& entry : value) {
        if (++met > kMaxValues)
          throw TunnelError(Errc::config_syntax, path + " has more than " + std::to_string(kMaxValues) + " values.");
        if (!entry.IsScalar())
          throw TunnelError(Errc::config_syntax, at(path, entry.Mark()) + ": '" + key + "' must be a list of strings.");
        list.push_back(entry.Scalar());
      }
      if (!out.emplace(key, list).second)
        throw TunnelError(Errc::config_syntax, at(path, item.first.Mark()) + ": '" + key + "' is given twice.");
    } else if (value.IsScalar()) {
      if (!out.emplace(key, scalar(value)).second)
        throw TunnelError(Errc::config_syntax, at(path, item.first.Mark()) + ": '" + key + "' is given twice.");
    } else {
      throw TunnelError(Errc::config_syntax, at(path, item.first.Mark()) + ": '" + key + "' has no value.");
    }
  }
}

constexpr const char* kRosParameters = "ros__parameters";
constexpr const char* kNode = "pqc_proxy";

/// The blocks of a ROS parameter file that are for the proxy ("/**: pqc_proxy: ros__parameters: ..."), and whether it is
/// such a file at all.
bool ros_blocks(const YAML::Node& node, const std::string& pattern, int depth, std::vector<YAML::Node>& found) {
  bool is_ros = false;
  for (const auto& item : node) {
    if (!item.first.IsScalar() || !item.second.IsMap() || depth > kMaxDepth) continue;
    const auto& key = item.first.Scalar();
    if (key != kRosParameters) {
      is_ros = ros_blocks(item.second, pattern + "/" + key, depth + 1, found) || is_ros;
      continue;
    }
    is_ros = true;
    const auto last = pattern.substr(pattern.rfind('/') + 1);
    if (last == kNode || last == "*" || last == "**") found.push_back(item.second);
  }
  return is_ros;
}

FlatConfig from_root(const YAML::Node& root, const std::string& name) {
  FlatConfig out;
  std::size_t met = 0;
  std::vector<YAML::Node> blocks;
  if (!ros_blocks(root, "", 0, blocks)) {
    flatten(name, root, "", out, 0, met);
    return out;
  }
  if (blocks.empty())
    throw TunnelError(Errc::config_syntax, name + " is a ROS parameter file without a block for " + kNode + ".");
  for (const auto& block : blocks) flatten(name, block, "", out, 0, met);
  for (const char* of_nodes : {"autostart", "use_sim_time"}) out.erase(of_nodes);
  return out;
}

/// `~` and `~/...` stand for the user's home, as they do in the files that ROS nodes read.
void expand_home(FlatConfig& config) {
  for (const char* key : {"keys", "state_dir"}) {
    const auto entry = config.find(key);
    auto* path = entry == config.end() ? nullptr : std::get_if<std::string>(&entry->second);
    if (path == nullptr || (*path != "~" && !path->starts_with("~/"))) continue;
    const char* home = std::getenv("HOME");
    if (home != nullptr && *home != '\0') path->replace(0, 1, home);
  }
}

}  // namespace

FlatConfig load_yaml_config(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error)
    throw TunnelError(Errc::config_syntax, "Cannot read the configuration file " + path + ": " + error.message() + ".");
  if (size > kMaxFile)
    throw TunnelError(Errc::config_syntax,
                      path + " has " + std::to_string(size) + " bytes; a configuration file has at most 1 MiB.");
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw TunnelError(Errc::config_syntax, "Cannot read the configuration file " + path + ".");
  auto config = parse_yaml_config(text.str(), path);
  expand_home(config);
  return config;
}

FlatConfig parse_yaml_config(const std::string& text, const std::string& name) {
  try {
    if (has_more_than_one_document(text))
      throw TunnelError(Errc::config_syntax, name +
                                                 " has several documents ('---') or text after the end of the first; a "
                                                 "configuration is a single document.");
    const auto root = YAML::Load(text);
    if (root.IsNull()) throw TunnelError(Errc::config_syntax, name + " is empty; see config/ for documented examples.");
    if (!root.IsMap()) throw TunnelError(Errc::config_syntax, name + ": expected 'key: value' lines.");
    return from_root(root, name);
  } catch (const YAML::Exception& e) {
    throw TunnelError(Errc::config_syntax, at(name, e.mark) + ": " + e.msg + ".");
  }
}

}  // namespace pqcmav
