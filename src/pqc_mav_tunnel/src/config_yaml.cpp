// SPDX-License-Identifier: Apache-2.0
#include "config_yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/host_config.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

constexpr std::uintmax_t kMaxFile = 1 << 20;
constexpr int kMaxDepth = 8;
// Ten thousand drones. Counted as met: aliases let a small file stand for a huge one.
constexpr std::size_t kMaxValues = 100'000;

std::string at(const std::string& path, const YAML::Mark& mark) {
  return mark.is_null() ? path : path + ", line " + std::to_string(mark.line + 1);
}

/// YAML 1.2 core schema for the types we have; a quoted scalar (tag "!") is always text.
ConfigValue scalar(const YAML::Node& node) {
  const auto& text = node.Scalar();
  if (node.Tag() == "!") return text;
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  if (const auto whole = number_of<std::int64_t>(text)) return *whole;
  const bool numeric =
      text.find_first_not_of("0123456789.+-eE") == std::string::npos;  // not "nan" or "infinity", which are names
  if (const auto real = number_of<double>(text); real && numeric) return *real;
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

void count(std::size_t& met, const std::string& path) {
  if (++met > kMaxValues)
    throw TunnelError(Errc::config_syntax, path + " has more than " + std::to_string(kMaxValues) + " values.");
}

void flatten(const std::string& path, const YAML::Node& node, const std::string& prefix, FlatConfig& out, int depth,
             std::size_t& met) {
  if (depth > kMaxDepth) throw TunnelError(Errc::config_syntax, at(path, node.Mark()) + ": nested too deeply.");
  for (const auto& item : node) {
    count(met, path);
    const auto key = prefix + item.first.as<std::string>();
    const auto& value = item.second;
    if (value.IsMap()) {
      flatten(path, value, key + ".", out, depth + 1, met);
    } else if (value.IsSequence()) {
      std::vector<std::string> list;
      for (const auto& entry : value) {
        count(met, path);
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

std::vector<std::string> tokens(const std::string& name) {
  std::vector<std::string> out;
  std::istringstream in(name);
  for (std::string token; std::getline(in, token, '/');)
    if (!token.empty()) out.push_back(token);
  return out;
}

/// `*` stands for one token, `**` for any number of them.
bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& name) {
  std::vector<bool> done(name.size() + 1);  // [n]: what was seen of the pattern matches the first n tokens
  done[0] = true;
  for (const auto& token : pattern) {
    if (token == "**") {
      std::fill(std::ranges::find(done, true), done.end(), true);
      continue;
    }
    for (auto n = name.size(); n > 0; --n) done[n] = done[n - 1] && (token == "*" || token == name[n - 1]);
    done[0] = false;
  }
  return done.back();
}

/// Whether a block for this pattern is for the node of this full name, or without one for a proxy in any namespace.
bool concerns(const std::string& pattern, const std::string& node) {
  if (!node.empty()) return matches(tokens(pattern), tokens(node));
  const auto last = pattern.substr(pattern.rfind('/') + 1);
  return last == kNode || last == "*" || last == "**";
}

struct Block {
  std::string pattern;
  YAML::Node values;
};

/// The blocks of a ROS parameter file ("/**: pqc_proxy: ros__parameters: ..."); none if it is no such file.
void ros_blocks(const std::string& path, const YAML::Node& node, const std::string& pattern, int depth,
                std::vector<Block>& found, std::size_t& met) {
  for (const auto& item : node) {
    count(met, path);
    if (!item.first.IsScalar() || !item.second.IsMap() || depth > kMaxDepth) continue;
    const auto& key = item.first.Scalar();
    if (key == kRosParameters) {
      found.push_back({pattern, item.second});
      continue;
    }
    const auto from = std::min(key.find_first_not_of('/'), key.size());
    ros_blocks(path, item.second, pattern + "/" + key.substr(from), depth + 1, found, met);
  }
}

/// What blocks of one pattern say, whichever file they are in. As in rcl a pattern keeps the place where it was first.
struct Layer {
  std::string pattern;
  FlatConfig values;
};

void take(std::vector<Layer>& layers, const std::string& pattern, const FlatConfig& values) {
  auto layer = std::ranges::find(layers, pattern, &Layer::pattern);
  if (layer == layers.end()) layer = layers.insert(layer, {pattern, {}});
  for (const auto& [key, value] : values) layer->values.insert_or_assign(key, value);
}

/// Does it concern the node alone, and no engine? `ros2 param dump` writes all of them.
bool is_of_nodes(std::string_view key) {
  constexpr std::array kOfNodes{"autostart", "use_sim_time", "start_type_description_service", "tunnel"};
  return std::ranges::find(kOfNodes, key) != kOfNodes.end() || key.starts_with("qos_overrides.");
}

/// Adds what a file says for the node; false for a ROS parameter file that says nothing for it.
bool add_file(const YAML::Node& root, const std::string& name, const std::string& node, std::vector<Layer>& layers) {
  std::size_t met = 0;
  std::vector<Block> blocks;
  ros_blocks(name, root, "", 0, blocks, met);
  if (blocks.empty()) {
    FlatConfig values;
    flatten(name, root, "", values, 0, met);
    layers.push_back({"", std::move(values)});
    return true;
  }
  FlatConfig together;  // without a node's name nothing says which block wins: what is given twice is refused
  bool found = false;
  for (const auto& block : blocks) {
    if (!concerns(block.pattern, node)) continue;
    found = true;
    FlatConfig own;
    auto& values = node.empty() ? together : own;
    flatten(name, block.values, "", values, 0, met);
    std::erase_if(values, [](const auto& each) { return is_of_nodes(each.first); });
    if (!node.empty()) take(layers, block.pattern, own);
  }
  if (node.empty() && found) layers.push_back({"", std::move(together)});
  return found;
}

YAML::Node root_of(const std::string& text, const std::string& name) {
  if (has_more_than_one_document(text))
    throw TunnelError(Errc::config_syntax, name +
                                               " has several documents ('---') or text after the end of the first; a "
                                               "configuration is a single document.");
  const auto root = YAML::Load(text);
  if (root.IsNull()) throw TunnelError(Errc::config_syntax, name + " is empty; see config/ for documented examples.");
  if (!root.IsMap()) throw TunnelError(Errc::config_syntax, name + ": expected 'key: value' lines.");
  return root;
}

bool add_text(const std::string& text, const std::string& name, const std::string& node, std::vector<Layer>& layers) {
  try {
    return add_file(root_of(text, name), name, node, layers);
  } catch (const YAML::Exception& e) {
    throw TunnelError(Errc::config_syntax, at(name, e.mark) + ": " + e.msg + ".");
  }
}

FlatConfig merged(const std::vector<Layer>& layers) {
  FlatConfig out;
  for (const auto& layer : layers)
    for (const auto& [key, value] : layer.values) out.insert_or_assign(key, value);
  return out;
}

void expect_found(bool found, const std::string& names, const std::string& node) {
  if (found) return;
  throw TunnelError(Errc::config_syntax,
                    names + ": ROS parameters without a block for " + (node.empty() ? kNode : node) + ".");
}

/// `KEY=VALUE`, as a line of YAML would have it.
FlatConfig setting(const std::string& text) {
  const auto sign = text.find('=');
  const auto name = "The setting '" + text + "'";
  if (sign == std::string::npos || sign == 0)
    throw TunnelError(Errc::config_syntax, name + " is no KEY=VALUE, such as shape_kbit=64 or drones=[uav1, uav2].");
  try {
    YAML::Node root;
    root[text.substr(0, sign)] = YAML::Load(text.substr(sign + 1));
    FlatConfig out;
    std::size_t met = 0;
    flatten(name, root, "", out, 0, met);
    return out;
  } catch (const YAML::Exception& e) {
    throw TunnelError(Errc::config_syntax, name + " is not valid YAML: " + e.msg + ".");
  }
}

std::string text_of(const std::string& path) {
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
  return text.str();
}

}  // namespace

FlatConfig ConfigSources::read() const {
  std::vector<Layer> layers;
  bool found = false;
  for (const auto& path : files) found = add_text(text_of(path), path, node, layers) || found;
  expect_found(found || files.empty(), listed(files), node);
  auto config = merged(layers);
  for (const auto& text : settings)
    for (auto& [key, value] : setting(text)) config.insert_or_assign(key, value);
  expand_paths(config);
  return config;
}

FlatConfig parse_yaml_config(const std::string& text, const std::string& name) {
  std::vector<Layer> layers;
  expect_found(add_text(text, name, "", layers), name, "");
  return merged(layers);
}

}  // namespace pqcmav
