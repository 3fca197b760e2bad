// SPDX-License-Identifier: Apache-2.0
// From flat values to a checked EngineConfig. Every refusal names the key, what is wrong and what would be right.
#include "pqc_mav_tunnel/config.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "config_plain.hpp"
#include "config_radio.hpp"
#include "config_value.hpp"
#include "constants.hpp"
#include "net/net.hpp"
#include "net/plain_endpoint.hpp"
#include "path_list.hpp"
#include "peer_list.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/keystore.hpp"
#include "relay/network.hpp"
#include "shape/message_class.hpp"
#include "text.hpp"

namespace pqcmav {
namespace {

std::vector<const Suite*> suite_list(const Strings& names, const std::string& key, ProviderChoice provider) {
  std::vector<const Suite*> out;
  for (const auto& name : names) {
    try {
      out.push_back(&require_suite(name, provider));
    } catch (const TunnelError& error) {
      throw TunnelError(error.code(), "'" + key + "': " + error.what());
    }
  }
  return out;
}

/// "id:class", each id once.
std::vector<std::pair<std::uint32_t, ShapeClass>> message_overrides(const Strings& entries) {
  std::vector<std::pair<std::uint32_t, ShapeClass>> out;
  if (entries.size() > kShapeIdsMax)
    throw TunnelError(Errc::config_invalid, "'shape_ids' has " + std::to_string(entries.size()) +
                                                " entries; there may be " + std::to_string(kShapeIdsMax) + ".");
  for (const auto& entry : entries) {
    const auto colon = entry.find(':');
    const auto id = number_of<std::uint32_t>(entry.substr(0, colon));
    const auto shape_class = number_of<std::uint32_t>(colon == std::string::npos ? "" : entry.substr(colon + 1));
    if (!id || *id > kMavlinkIdMax || !shape_class || *shape_class >= kMessageClasses)
      throw TunnelError(Errc::config_invalid, "'shape_ids' has '" + entry.substr(0, 40) +
                                                  "'; write 'id:class' with an id of 0 to 16777215 and a class of 0 to "
                                                  "3, for example 147:2.");
    if (std::any_of(out.begin(), out.end(), [&](const auto& each) { return each.first == *id; }))
      throw TunnelError(Errc::config_invalid, "'shape_ids' names message " + std::to_string(*id) + " twice.");
    out.emplace_back(*id, static_cast<ShapeClass>(*shape_class));
  }
  return out;
}

void check_id(const std::string& id, const std::string& key) {
  if (!valid_drone_id(id))
    throw TunnelError(Errc::config_invalid,
                      "'" + key + "': '" + id + "' is not a valid id; use 1-32 characters out of a-z 0-9 _ -.");
}

class Reader {
 public:
  Reader(Role role, const FlatConfig& values) : role_(role), values_(values) { refuse_unknown(); }

  template <typename T>
  T get(std::string_view name) {
    for (const auto& key : config_schema())
      if (key.key == name) return get_from<T>(key, std::string(name));
    throw std::logic_error("no such key in the schema: " + std::string(name));
  }
  template <typename T>
  T get_drone(const std::string& id, std::string_view name) {
    return get_below<T>(drone_entry_schema(), "drone." + id + ".", name);
  }
  template <typename T>
  T get_path(const std::string& path, std::string_view name) {
    return get_below<T>(path_entry_schema(), "path." + path + ".", name);
  }
  /// Is it in the file, rather than the default?
  [[nodiscard]] bool given(const std::string& shown) const { return values_.contains(shown); }
  /// Is it another value than the default? Tools write every key with its value.
  [[nodiscard]] bool chosen(std::string_view name) const {
    return std::ranges::any_of(config_schema(), [&](const auto& key) {
      const auto it = effective.find(std::string(name));
      return key.key == name && it != effective.end() && it->second != key.default_value;
    });
  }
  /// Every key with its value; of drones, of which there may be thousands, those in the file.
  FlatConfig effective;

 private:
  template <typename T>
  T get_below(std::span<const ConfigKey> schema, const std::string& prefix, std::string_view name) {
    for (const auto& key : schema)
      if (key.key == name) return get_from<T>(key, prefix + std::string(name));
    throw std::logic_error("no such key in the schema: " + prefix + std::string(name));
  }

  template <typename T>
  T get_from(const ConfigKey& key, const std::string& shown) {
    const auto it = values_.find(shown);
    const auto value = it == values_.end() ? key.default_value : checked_value(key, shown, it->second);
    if (key.required && ((std::holds_alternative<std::string>(value) && std::get<std::string>(value).empty()) ||
                         (std::holds_alternative<Strings>(value) && std::get<Strings>(value).empty())))
      throw TunnelError(Errc::config_invalid, "'" + shown + "' is missing. " + std::string(key.description));
    if (it != values_.end() || !shown.starts_with("drone.")) effective[shown] = value;
    return std::get<T>(value);
  }

  void refuse_unknown() {
    std::vector<std::string> known;
    for (const auto& key : config_schema())
      if (role_ == Role::drone ? key.drone : key.gcs) known.emplace_back(key.key);
    // Read here already: with a wrong 'drones' every drone.<id> key would look unknown.
    const bool gcs = role_ == Role::gcs;
    const std::string list = gcs ? "drones" : "paths", group = gcs ? "drone." : "path.";
    const auto ids = values_.contains(list) ? get<Strings>(list) : Strings();
    for (const auto& id : ids)
      for (const auto& key : gcs ? drone_entry_schema() : path_entry_schema())
        known.push_back(group + id + "." + std::string(key.key));
    const std::unordered_set<std::string_view> good(known.begin(), known.end());  // there may be thousands of drones
    for (const auto& [name, value] : values_) {
      if (good.contains(name)) continue;
      std::string sentence = "Unknown configuration key '" + name + "' for a " + std::string(to_string(role_));
      const auto schema = config_schema();
      if (std::any_of(schema.begin(), schema.end(), [&](const auto& key) { return key.key == name; }))
        throw TunnelError(
            Errc::config_unknown_key,
            sentence + ": only a " + std::string(to_string(role_ == Role::gcs ? Role::drone : Role::gcs)) + " has it.");
      if (const auto end = name.rfind('.'); name.starts_with(group) && end > group.size()) {
        const auto id = name.substr(group.size(), end - group.size());
        if (std::ranges::find(ids, id) == ids.end())
          throw TunnelError(Errc::config_unknown_key, sentence + ": '" + list + "' does not name '" + id + "'.");
      }
      sentence += '.';
      const auto close = closest_text(name, known, 1);
      if (!close.empty()) sentence += " Did you mean '" + close.front() + "'?";
      throw TunnelError(Errc::config_unknown_key, sentence);
    }
  }

  Role role_;
  const FlatConfig& values_;
};

Role role_of(const FlatConfig& values) {
  for (const auto& key : config_schema()) {
    if (key.key != "role") continue;
    const auto it = values.find("role");
    const auto value = it == values.end() ? key.default_value : checked_value(key, "role", it->second);
    return std::get<std::string>(value) == "gcs" ? Role::gcs : Role::drone;
  }
  return Role::drone;
}

void read_control_socket(Reader& in, EngineConfig& out) {
  out.control_socket = in.get<std::string>("control_socket");
  if (out.control_socket != "auto" && out.control_socket != "off" && !out.control_socket.starts_with('/'))
    throw TunnelError(Errc::config_invalid, "'control_socket' is '" + out.control_socket +
                                                "'; it must be 'auto', 'off' or a path that begins with '/'.");
  out.control_socket_mode = in.get<std::string>("control_socket_mode") == "0600" ? 0600 : 0660;
  out.control_socket_group = in.get<std::string>("control_socket_group");
}

void read_relay(Reader& in, EngineConfig& out) {
  out.relay_port = static_cast<std::uint16_t>(in.get<std::int64_t>("relay_port"));
  out.relay_from = in.get<Strings>("relay_from");
  out.relay_kbit = static_cast<std::uint32_t>(in.get<std::int64_t>("relay_kbit"));
  for (const auto& network : out.relay_from) (void)parse_network(network, "relay_from");
  if (out.relay_port == 0) return;
  if (out.relay_from.empty())
    throw TunnelError(Errc::config_invalid,
                      "'relay_port' is set and 'relay_from' is empty: name the networks of the drones to pass on for, "
                      "such as 10.0.0.0/24.");
  if (out.peers.front().radio)
    throw TunnelError(Errc::config_invalid,
                      "'relay_port' is set, but this drone's way is a radio; it can pass on by IP alone.");
  if (out.relay_port == out.local_data_port)
    throw TunnelError(Errc::config_invalid, "'relay_port' and 'local_data_port' are the same; give each its own.");
}

void read_drone(Reader& in, EngineConfig& out) {
  out.drone_id = in.get<std::string>("drone_id");
  check_id(out.drone_id, "drone_id");
  if (out.data_port == 0)
    throw TunnelError(Errc::config_invalid, "'data_port' of a drone names the gcs' port and cannot be 0.");
  out.peers = peer_list(in.get<std::string>("peer"), out.gcs_id, out.data_port);
  out.standby = in.get<bool>("standby");
  out.failover_after_s = in.get<double>("failover_after_s");
  out.failback_s = in.get<double>("failback_s");
  out.station = in.get<std::string>("station");
  if (const auto problem = problem_of_station(out, out.station); !problem.empty())
    throw TunnelError(Errc::config_invalid, problem);
  const auto name = in.get<std::string>("suite");
  out.suite = suite_list({name}, "suite", out.provider).front();
  out.hybrid = in.get<bool>("hybrid");
  const bool sign = in.get<bool>("sign");
  if (in.given("sign")) out.sign = sign;
  out.local_data_port = static_cast<std::uint16_t>(in.get<std::int64_t>("local_data_port"));
  read_relay(in, out);
  out.plain_bind = in.get<std::string>("plain_bind");
  out.plain_peer = in.get<std::string>("plain_peer");
  out.plain_tap = in.get<std::string>("plain_tap");
  out.plain_tap_requests = in.get<bool>("plain_tap_requests");
  out.pace_autopilot = in.get<bool>("pace_autopilot");
  out.state_dir = in.get<std::string>("state_dir");
  check_plain("", out.plain_bind, out.plain_peer, out.plain_tap, out.plain_allow_remote);
  out.plain_endpoints =
      check_plain_endpoints(config_schema(), "", in.get<std::string>("plain"), in.get<Strings>("plain_endpoints"),
                            out.plain_bind, out.plain_peer, out.plain_allow_remote);
  out.reconnect_after_s = in.get<double>("reconnect_after_s");
  const auto radio_id = in.get<std::int64_t>("radio_id");
  const bool chose_ms = in.chosen("bundle_ms"), chose_bytes = in.chosen("bundle_bytes");
  for (const auto& name : in.get<Strings>("paths")) {
    check_id(name, "paths");
    out.paths.push_back(
        path_entry(name, in.get_path<std::string>(name, "via"), in.get_path<std::string>(name, "peer"), out.data_port));
    out.paths.back().use = path_use_of(in.get_path<std::string>(name, "use"));
  }
  check_paths(out);
  if (out.has_radio()) {
    const auto complete = [&](std::optional<RadioSettings>& radio) {
      if (!radio) return;
      complete_radio(out, radio_id, chose_ms, chose_bytes, *radio);
      check_radio_apart("", *radio, out.plain_endpoints);
    };
    complete(out.peers.front().radio);
    for (auto& path : out.paths) complete(path.radio);
    in.effective["compact"] = out.compact = true;
    // A first handshake takes seconds of the air, and would end no silence of the radio.
    if (!in.chosen("reconnect_after_s")) in.effective["reconnect_after_s"] = out.reconnect_after_s = kRadioReconnectS;
  }
  out.rekey_interval_s = in.get<double>("rekey_interval_s");
  out.blacklist_s = in.get<double>("blacklist_s");
  out.rekey_packets = static_cast<std::uint64_t>(in.get<std::int64_t>("rekey_packets"));
}

void read_gcs(Reader& in, EngineConfig& out) {
  out.allowed_suites = suite_list(in.get<Strings>("allowed_suites"), "allowed_suites", out.provider);
  out.avoid = Families::of(in.get<Strings>("avoid"));
  if (!out.avoid.leaves_a_suite())
    throw TunnelError(Errc::config_invalid, "'avoid' leaves no suite: without " + out.avoid.text() +
                                                " there is no KEM or no signature. Leave one of them out.");
  out.allow_pure = in.get<bool>("allow_pure");
  out.max_handshakes = static_cast<std::size_t>(in.get<std::int64_t>("max_handshakes"));
  out.data_threads = static_cast<std::size_t>(in.get<std::int64_t>("data_threads"));
  out.handshake_threads = static_cast<std::size_t>(in.get<std::int64_t>("handshake_threads"));
  out.handshakes_per_drone_s = in.get<double>("handshakes_per_drone_s");
  out.key_pool_depth = static_cast<std::size_t>(in.get<std::int64_t>("key_pool_depth"));
  out.key_pool_max_age_s = in.get<double>("key_pool_max_age_s");
  for (const auto& token : in.get<Strings>("key_pool_kems")) {
    const auto* kem = find_kem(token);
    if (kem == nullptr) {
      std::string known;
      for (const auto& each : kems()) {
        if (!known.empty()) known += ' ';
        known += each.token;
      }
      throw TunnelError(Errc::config_invalid,
                        "'key_pool_kems': unknown KEM '" + token + "'; known are: " + known + ".");
    }
    out.key_pool_kems.push_back(kem);
  }
  const bool chose_ms = in.chosen("bundle_ms"), chose_bytes = in.chosen("bundle_bytes");
  std::set<std::string> seen;
  for (const auto& id : in.get<Strings>("drones")) {
    check_id(id, "drones");
    if (!seen.insert(id).second) throw TunnelError(Errc::config_invalid, "'drones' names '" + id + "' twice.");
    DroneEntry entry{
        id, in.get_drone<std::string>(id, "plain_bind"), in.get_drone<std::string>(id, "plain_peer"), {}, std::nullopt,
        {}};
    const bool required = in.get_drone<bool>(id, "require_signature");
    if (in.given("drone." + id + ".require_signature")) entry.require_signature = required;
    entry.allowed_suites =
        suite_list(in.get_drone<Strings>(id, "allowed_suites"), "drone." + id + ".allowed_suites", out.provider);
    check_plain("drone." + id + ".", entry.plain_bind, entry.plain_peer, {}, out.plain_allow_remote);
    entry.plain_endpoints = check_plain_endpoints(
        drone_entry_schema(), "drone." + id + ".", in.get_drone<std::string>(id, "plain"),
        in.get_drone<Strings>(id, "plain_endpoints"), entry.plain_bind, entry.plain_peer, out.plain_allow_remote);
    const auto radio_id = in.get_drone<std::int64_t>(id, "radio_id");
    if (const auto text = in.get_drone<std::string>(id, "radio"); !text.empty()) {
      entry.radio = parse_radio(text, "drone." + id + ".radio");
      complete_radio(out, radio_id, chose_ms, chose_bytes, *entry.radio);
      check_radio("drone." + id + ".", *entry.radio, out.drones);
      check_radio_apart("drone." + id + ".", *entry.radio, entry.plain_endpoints);
    }
    out.drones.push_back(std::move(entry));
  }
}

}  // namespace

bool EngineConfig::has_radio() const noexcept {
  return (!peers.empty() && peers.front().radio) ||
         std::ranges::any_of(paths, [](const auto& path) { return path.radio.has_value(); });
}

EngineConfig EngineConfig::lean() const {
  auto out = *this;
  out.drones.clear();
  out.effective.clear();
  out.given.clear();
  return out;
}

EngineConfig EngineConfig::from_flat(const FlatConfig& given) {
  EngineConfig out;
  auto values = given;
  // A list of ground stations is the same as their names with commas.
  if (const auto it = values.find("peer"); it != values.end() && std::holds_alternative<Strings>(it->second))
    it->second = listed(std::get<Strings>(it->second));
  out.role = role_of(values);
  Reader in(out.role, values);
  in.get<std::string>("role");
  out.keys = in.get<std::string>("keys");
  out.bind = in.get<std::string>("bind");
  if (const auto problem = out.bind.empty() ? "" : problem_of_host(out.bind); !problem.empty())
    refuse_address("bind", out.bind, ": " + problem + ". Give an address of this machine, or leave it empty.");
  out.gcs_id = in.get<std::string>("gcs_id");
  check_id(out.gcs_id, "gcs_id");
  out.data_port = static_cast<std::uint16_t>(in.get<std::int64_t>("data_port"));
  out.max_payload = static_cast<std::size_t>(in.get<std::int64_t>("max_payload"));
  out.replay_window = static_cast<std::size_t>(in.get<std::int64_t>("replay_window"));
  if (out.replay_window % 64 != 0)
    throw TunnelError(Errc::config_invalid,
                      "'replay_window' is " + std::to_string(out.replay_window) + "; it must be a multiple of 64.");
  out.compact = in.get<bool>("compact");
  out.ratchet = in.get<bool>("ratchet");
  const auto shape_kbit = in.get<std::int64_t>("shape_kbit");
  out.shape_auto = shape_kbit == kShapeAuto;
  out.shape_kbit = static_cast<std::uint32_t>(std::max<std::int64_t>(shape_kbit, 0));
  out.shape_ids = message_overrides(in.get<Strings>("shape_ids"));
  out.bundle_ms = static_cast<std::uint64_t>(in.get<std::int64_t>("bundle_ms"));
  out.bundle_bytes = static_cast<std::size_t>(in.get<std::int64_t>("bundle_bytes"));
  out.bundle_bytes = std::min(out.bundle_bytes, out.max_payload);
  out.dscp = static_cast<int>(in.get<std::int64_t>("dscp"));
  out.gso = in.get<bool>("gso");
  out.busy_poll_us = static_cast<int>(in.get<std::int64_t>("busy_poll_us"));
  out.socket_buffer_kib = static_cast<std::size_t>(in.get<std::int64_t>("socket_buffer_kib"));
  out.keepalive_s = in.get<double>("keepalive_s");
  out.degraded_after_s = in.get<double>("degraded_after_s");
  out.session_limit_s = in.get<double>("session_limit_s");
  out.grace_s = in.get<double>("grace_s");
  out.key_limit_s = in.get<double>("key_limit_s");
  out.stop_on_old_keys = in.get<std::string>("key_limit_action") == "stop";
  out.log_level = in.get<std::string>("log_level");
  out.provider = provider_choice_of(in.get<std::string>("provider")).value();  // one of the schema's choices
  out.self_test = in.get<bool>("self_test");
  read_control_socket(in, out);
  out.plain_allow_remote = in.get<bool>("plain_allow_remote");
  if (out.role == Role::drone)
    read_drone(in, out);
  else
    read_gcs(in, out);
  if (out.degraded_after_s <= out.keepalive_s)
    throw TunnelError(Errc::config_invalid,
                      "'degraded_after_s' must be longer than 'keepalive_s', or an idle link would look broken.");
  if (out.session_limit_s <= out.keepalive_s)
    throw TunnelError(Errc::config_invalid,
                      "'session_limit_s' must be longer than 'keepalive_s', or an idle session would be wiped.");
  if (out.role == Role::drone && out.reconnect_after_s <= out.keepalive_s)
    throw TunnelError(
        Errc::config_invalid,
        "'reconnect_after_s' must be longer than 'keepalive_s', or an idle drone would keep reconnecting.");
  if (out.peers.size() > 1 && out.failover_after_s <= out.keepalive_s)
    throw TunnelError(Errc::config_invalid,
                      "'failover_after_s' must be longer than 'keepalive_s', or an idle drone would keep moving.");
  out.effective = std::move(in.effective);
  out.given = given;
  return out;
}

}  // namespace pqcmav
