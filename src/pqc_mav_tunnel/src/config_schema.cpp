// SPDX-License-Identifier: Apache-2.0
// The one table of configuration keys.
#include "pqc_mav_tunnel/config.hpp"

#include "constants.hpp"

namespace pqcmav {

std::string_view to_string(Role role) noexcept { return role == Role::drone ? "drone" : "gcs"; }

namespace {

using Strings = std::vector<std::string>;

std::int64_t i(auto value) { return static_cast<std::int64_t>(value); }
double s(auto duration) { return std::chrono::duration<double>(duration).count(); }

/// Which roles have a key.
enum class Whose : std::uint8_t { drone, gcs, both };

/// What only some keys have.
struct Also {
  std::vector<std::string_view> choices = {};
  bool required = false, live = false;
};

ConfigKey row(Whose whose, std::string_view key, ConfigValue otherwise, std::string_view unit,
              std::string_view description, Also also = {}) {
  const bool drone = whose != Whose::gcs, gcs = whose != Whose::drone;
  return {key,      std::move(otherwise), {}, {}, unit, description, drone, gcs, std::move(also.choices), also.required,
          also.live};
}

ConfigKey bounded(Whose whose, std::string_view key, ConfigValue otherwise, double min, double max,
                  std::string_view unit, std::string_view description, Also also = {}) {
  auto out = row(whose, key, std::move(otherwise), unit, description, std::move(also));
  out.min = min;
  out.max = max;
  return out;
}

const std::vector<ConfigKey>& table() {
  using enum Whose;
  static const std::vector<ConfigKey> keys = {
      row(both, "role", std::string{"drone"}, "",
          "Which end this is: the drone starts handshakes, the gcs answers them.", {.choices = {"drone", "gcs"}}),
      row(both, "keys", std::string{}, "",
          "Folder with this end's long-term keys, as made by 'pqcmav keys init' (gcs: <root>/gcs, drone: the exported "
          "folder).",
          {.required = true}),
      row(drone, "state_dir", std::string{}, "",
          "Folder of this drone alone for what it keeps from one run to the next: the return grant, by which the gcs "
          "knows it at once after a restart of the drone. Empty = in memory only."),
      row(drone, "drone_id", std::string{}, "",
          "Name of this drone, 1-32 characters a-z 0-9 _ -; the gcs uses it to find the PSK.", {.required = true}),
      row(drone, "peer", std::string{}, "",
          "Host name or address of the gcs. A name that does not resolve (yet) is tried again indefinitely. Several, "
          "up to eight, in order of preference, as a list or with commas: 'north@10.0.0.1:46011, "
          "south@10.0.1.1:46011', each as gcs_id@host:port; data_port is the default of the port. Or a serial "
          "telemetry radio and nothing else: serial:DEVICE:BAUD, with ':rtscts' and ':mavlink' behind it as that radio "
          "needs (docs/radios.md).",
          {.required = true}),
      bounded(drone, "radio_id", i(0), 0, 127, "",
              "If 'peer' or a path is a radio that other drones hear, too: the number of this drone there, another one "
              "for each."),
      row(drone, "paths", Strings{}, "",
          "Names of several ways to the gcs, four at most, in order of preference: packets take the first that "
          "answers. Each is described by path.<name>.* (docs/paths.md). Empty = one way, as the system's routes say."),
      row(drone, "standby", false, "",
          "With several ground stations: also hold a session with the next one, which takes over within a round trip. "
          "It costs a small packet each way every 5 s."),
      bounded(drone, "failover_after_s", s(kFailoverAfter), 0.5, 150, "s",
              "With several ground stations: silence of the active one after which the drone goes to another that "
              "answers."),
      bounded(drone, "failback_s", 0.0, 0, 86400, "s",
              "With several ground stations: how long one that comes earlier in 'peer' must be well before the drone "
              "goes back to it by itself; 0 = only on command."),
      row(drone, "station", std::string{}, "",
          "With several ground stations: the gcs_id of the one that the drone is to use as soon as it answers, and "
          "then before all others. Can be set while the tunnel runs; empty = the order of 'peer'.",
          {.live = true}),
      row(drone, "suite", std::string{kDefaultSuite}, "",
          "Cipher suite to start with: an id or short code listed by 'pqcmav suites'."),
      row(drone, "hybrid", true, "",
          "Add X25519 to the post-quantum KEM, so that an attacker must break both. false = the pure suite."),
      row(drone, "sign", false, "",
          "Sign the handshake with this drone's own key pair, so that a stolen PSK alone is not enough to impersonate "
          "it. If this is not set, the drone signs whenever the keys folder has a key pair of the suite's algorithm."),
      row(both, "bind", std::string{}, "",
          "Local address of the encrypted side; empty = every address (a gcs: IPv4; '::' serves IPv4 and IPv6)."),
      row(both, "gcs_id", std::string{kDefaultGcsId}, "",
          "Name of the gcs, 1-32 characters a-z 0-9 _ -; the same at both ends. Each gcs has its own name, and with it "
          "its own PSKs."),
      bounded(both, "data_port", i(kDefaultGcsDataPort), 0, 65535, "UDP port",
              "Port on the gcs where handshakes and encrypted packets arrive. On a gcs 0 takes a free one."),
      bounded(drone, "local_data_port", i(kDefaultDroneDataPort), 0, 65535, "UDP port",
              "Port on the drone where answers and encrypted packets arrive; 0 takes a free one. While nobody answers, "
              "a free one takes turns with it."),
      bounded(drone, "relay_port", i(0), 0, 65535, "UDP port",
              "Pass on for other drones: they send to this port what is for the gcs, as path.<name>.peer or 'peer' "
              "(docs/paths.md). 0 = no."),
      row(drone, "relay_from", Strings{}, "",
          "For whom it passes on: networks or addresses such as 10.0.0.0/24. Up to eight drones at once."),
      bounded(drone, "relay_kbit", i(kRelayKbit), 16, 100'000, "kbit/s",
              "The rate that all other drones together may send through this one. Leave room for its own packets."),
      row(drone, "plain_bind", std::string{"127.0.0.1:14590"}, "host:port",
          "Where the autopilot side (mavros, a router, a simulator) sends its plaintext MAVLink: on loopback, see "
          "plain_allow_remote."),
      row(drone, "plain_peer", std::string{}, "host:port",
          "Where decrypted packets go; empty = to the first sender to plain_bind, until that one has been silent for 2 "
          "s and another sends."),
      row(drone, "plain", std::string{}, "endpoint",
          "A serial port for the plaintext MAVLink, in place of plain_bind and plain_peer: serial:DEVICE:BAUD, with "
          "':rtscts' behind it for hardware flow control, such as serial:/dev/ttyAMA0:921600. Any one endpoint of "
          "plain_endpoints is good here, too."),
      row(drone, "plain_endpoints", Strings{}, "endpoints",
          "Several places for the plaintext MAVLink, in place of plain_bind and plain_peer: serial:DEVICE:BAUD, "
          "udp:HOST:PORT (an application there), udp-listen:HOST:PORT and tcp-listen:HOST:PORT (applications that come "
          "to this address, 8 at most). Messages with a target go where that was heard, others to all; at most 16."),
      row(both, "plain_allow_remote", false, "",
          "Accept a plain_bind, or an address of plain or plain_endpoints, that is not on loopback. Whoever reaches "
          "that address can then command the vehicle in plaintext, past the tunnel."),
      row(drone, "plain_tap", std::string{}, "host:port",
          "Address for a copy of everything that arrives at plain_bind, for programs on this machine that only read "
          "the vehicle's MAVLink (such as sensing). It is plaintext, so only a loopback address is accepted; empty = "
          "no copies."),
      row(drone, "plain_tap_requests", false, "",
          "Pass on to the autopilot what the program at plain_tap asks by SET_MESSAGE_INTERVAL (how often a message is "
          "sent), ten times a second at most, and nothing else."),
      row(drone, "pace_autopilot", true, "",
          "While the link is shaped, tell the autopilot by RADIO_STATUS how much room is left, as a telemetry radio "
          "does: it then holds parameters and files back that would be dropped, and slows its streams."),
      row(gcs, "drones", Strings{}, "",
          "Ids of the drones this gcs serves; each has a PSK in the keys folder and its own plaintext port "
          "(drone.<id>.*).",
          {.required = true}),
      row(gcs, "allowed_suites", Strings{}, "",
          "Suites a drone may ask for; empty = all for which this gcs has the algorithms and signing keys."),
      row(gcs, "avoid", Strings{}, "",
          "With which algorithms no keys are made any more: lattices, codes, hashes, a family by its name, such as "
          "ML-KEM or Falcon, or level1, level3 ('pqcmav avoid'). A drone that asks for such a suite is told, and takes "
          "another one."),
      row(gcs, "allow_pure", true, "", "Accept handshakes without X25519."),
      bounded(gcs, "max_handshakes", i(16), 1, 1024, "",
              "Handshakes in progress beyond the PSK gate; more are answered 'busy'. A drone that had a session has a "
              "place of its own besides."),
      bounded(gcs, "data_threads", i(1), 1, kDataThreadsMax, "",
              "Threads that move packets. Each drone belongs to one of them; its packets are handed to that one by the "
              "kernel. More than one is worth it if one core is not enough for the packets of all drones."),
      bounded(gcs, "handshake_threads", i(2), 1, 64, "",
              "Threads that compute handshakes, in addition to the packet thread and at lower priority."),
      bounded(gcs, "handshakes_per_drone_s", 5.0, 0.01, 10000, "1/s",
              "Handshakes one authenticated drone may start per second on average (burst: four seconds' worth); more "
              "are answered 'busy'."),
      bounded(gcs, "key_pool_depth", i(1), 0, 64, "key pairs",
              "Ephemeral KEM key pairs made in advance per KEM, on an idle-priority thread; 0 = none."),
      row(gcs, "key_pool_kems", Strings{}, "",
          "KEMs to keep key pairs for from the start (tokens such as classicmceliece8192128); others are added when "
          "first used."),
      bounded(gcs, "key_pool_max_age_s", 600.0, 1, 86400, "s",
              "A key pair made in advance is wiped after this time if it was not used."),
      bounded(both, "max_payload", i(kDefaultMaxPayload), 64, i(kMaxDatagram - kOverhead), "bytes",
              "Largest plaintext datagram accepted; 1432 fits an MTU of 1500 with the 38 bytes of overhead and IP/UDP "
              "headers."),
      row(both, "compact", false, "",
          "Send packets with a header of 4 or 5 bytes instead of 22, for links of little capacity. Both ends must have "
          "this on; otherwise nothing changes."),
      row(both, "ratchet", true, "",
          "Allow fresh keys in two small messages inside a session, up to eight times between full handshakes: for "
          "suites with large keys, and links that carry no more. Both ends must have this on. See docs/rekey.md."),
      bounded(both, "bundle_ms", i(0), 0, i(kBundleWaitMostMs), "ms",
              "How long a plaintext datagram may wait for others to go in one packet with it; 0 = not at all. 20 is "
              "good below 128 kbit/s. Elsewhere leave it off: one lost packet then loses all that it carries."),
      bounded(both, "bundle_bytes", i(kBundleBytes), 64, i(kDefaultMaxPayload), "bytes",
              "Most that goes in one such packet, with a byte or two for each datagram; never more than max_payload."),
      bounded(both, "replay_window", i(kWindowBits), i(kWindowBitsMin), i(kWindowBitsMax), "packets",
              "How many newer packets may arrive before a late one is dropped as too old; a multiple of 64."),
      bounded(both, "dscp", i(46), 0, 63, "", "DSCP of encrypted packets; 46 = expedited forwarding (RFC 3246)."),
      bounded(
          both, "shape_kbit", i(kShapeAuto), kShapeAuto, kShapeKbitMax, "kbit/s",
          "Rate of a thin link to each peer, IP and UDP headers counted: MAVLink then leaves in order of importance, "
          "and old values of streams give way to newer ones. Can be set while the tunnel runs. -1 = found from what "
          "arrives at the other end, and off as long as the link is not full; 0 = off, datagrams pass unread.",
          {.live = true}),
      row(both, "shape_ids", Strings{}, "",
          "Changes of the table of message classes that shape_kbit uses, as 'id:class' with class 0 (first) to 3 "
          "(last), such as '147:2'; at most 64."),
      row(both, "gso", true, "", "Send and receive encrypted packets in runs (UDP GSO/GRO) if the kernel can."),
      bounded(both, "busy_poll_us", i(0), 0, 100000, "us",
              "Low-latency mode: keep polling this long after each packet instead of sleeping. Costs one core while "
              "traffic flows; 0 = sleep at once."),
      bounded(both, "socket_buffer_kib", i(4096), 64, 65536, "KiB",
              "Receive and send buffer requested for each socket (without privileges the system's limit caps it)."),
      bounded(both, "keepalive_s", s(kKeepaliveIdle), 0.1, 60, "s",
              "A KEEPALIVE goes out when nothing else was sent for this long."),
      bounded(both, "degraded_after_s", s(kDegradedAfter), 0.2, 120, "s",
              "Silence of the peer after which the state is DEGRADED."),
      bounded(drone, "reconnect_after_s", s(kReconnectAfter), 0.5, 150, "s",
              "Silence of the gcs after which the drone starts a first handshake. Keep it well below the autopilot's "
              "failsafe (docs/failsafes.md)."),
      bounded(both, "session_limit_s", s(kSessionHardLimit), 1, 3600, "s",
              "Without an authenticated packet for this long the keys are wiped and plaintext is refused."),
      bounded(both, "grace_s", s(kGrace), 0.05, 30, "s",
              "How long an old receive key lives after the first packet under the new one."),
      bounded(both, "key_limit_s", s(kKeyLimit), 1, 604800, "s",
              "Age of a session's keys from which they count as old: it is logged and shown, and the drone tries to "
              "renew them every 30 s. Time that the machine sleeps counts."),
      row(both, "key_limit_action", std::string{"warn"}, "",
          "What old keys mean: 'warn' keeps the link, as an aircraft in flight needs it; 'stop' refuses plaintext both "
          "ways until the keys are renewed.",
          {.choices = {"warn", "stop"}}),
      bounded(drone, "rekey_interval_s", s(kRekeyInterval), 0, 86400, "s",
              "Rekey this often on the same suite, with 10 % jitter, the first time sooner; 0 = only when asked."),
      bounded(drone, "rekey_packets", i(kForcedRekeyPackets), 1000, i(kForcedRekeyPackets), "packets",
              "Rekey after this many packets sent under one key."),
      bounded(drone, "blacklist_s", 1800.0, 0, 86400, "s",
              "Automatic choices avoid a suite that the gcs refused, or that does not work on this drone, for this "
              "long; the configured suite is never avoided. 0 = avoid none."),
      row(both, "control_socket", std::string{"auto"}, "",
          "Socket by which programs on this machine see and steer this end (docs/control-socket.md): 'auto' = "
          "drone-<drone_id>.sock or gcs.sock in /run/pqcmav, or in pqcmav below XDG_RUNTIME_DIR if that cannot be "
          "written; 'off'; or a path."),
      row(both, "control_socket_mode", std::string{"0660"}, "",
          "Who may use it: '0660' = the engine's user and the members of the socket's group, '0600' = that user alone.",
          {.choices = {"0600", "0660"}}),
      row(both, "control_socket_group", std::string{}, "",
          "Group of the socket; empty = that of the process. The engine's user must be a member."),
      row(both, "provider", std::string{"auto"}, "",
          "Library that computes KEMs and signatures: 'auto' = OpenSSL if it has the algorithm (3.5 and newer have the "
          "standards), else liboqs. 'openssl' or 'liboqs' = that one alone, and no suite that it lacks. The other end "
          "may have another one. All tunnels of a process have the same.",
          {.choices = {"auto", "openssl", "liboqs"}}),
      row(both, "self_test", false, "",
          "Test each algorithm that this end may use (a gcs: 'allowed_suites', or all that it has keys for) before it "
          "starts: known answers, and key pairs that do what they are for. If one fails it does not start."),
      row(both, "log_level", std::string{"info"}, "", "Lowest level of log lines to show.",
          {.choices = {"debug", "info", "warning", "error"}}),
  };
  return keys;
}

const std::vector<ConfigKey>& drone_table() {
  using enum Whose;
  static const std::vector<ConfigKey> keys = {
      row(gcs, "plain_bind", std::string{"127.0.0.1:0"}, "host:port",
          "Local address from which this drone's decrypted packets leave and where the ground software answers; port 0 "
          "takes a free one."),
      row(gcs, "plain_peer", std::string{"127.0.0.1:14550"}, "host:port",
          "Ground software for this drone; empty = the first sender to plain_bind, until that one has been silent for "
          "2 s and another sends."),
      row(gcs, "radio", std::string{}, "",
          "The serial telemetry radio by which this drone comes, as in its 'peer': serial:DEVICE:BAUD, with ':rtscts' "
          "and ':mavlink' behind it. Several drones may have the same; empty = UDP."),
      bounded(gcs, "radio_id", i(0), 0, 127, "", "The drone's number on that radio, as its own configuration says."),
      row(gcs, "plain", std::string{}, "endpoint",
          "One endpoint for this drone's plaintext MAVLink in place of plain_bind and plain_peer, as in "
          "plain_endpoints."),
      row(gcs, "plain_endpoints", Strings{}, "endpoints",
          "Several places for the plaintext MAVLink, in place of plain_bind and plain_peer: serial:DEVICE:BAUD, "
          "udp:HOST:PORT (an application there), udp-listen:HOST:PORT and tcp-listen:HOST:PORT (applications that come "
          "to this address, 8 at most). Messages with a target go where that was heard, others to all; at most 16."),
      row(gcs, "require_signature", false, "",
          "Refuse this drone unless it signs its handshakes. Not set: a signature is required once the drone's public "
          "key is in the keys folder; false switches that off."),
      row(gcs, "allowed_suites", Strings{}, "", "Suites this drone may ask for; empty = as allowed_suites of the gcs."),
  };
  return keys;
}

const std::vector<ConfigKey>& path_table() {
  using enum Whose;
  static const std::vector<ConfigKey> keys = {
      row(drone, "via", std::string{}, "",
          "What the path leaves by: a network interface such as wwan0, an address of this machine, or a serial "
          "telemetry radio, serial:DEVICE:BAUD as in 'peer'. Empty = as the system's routes say."),
      row(drone, "peer", std::string{}, "",
          "Host name or address of the gcs by this path, with ':port' behind it if that is not data_port. Empty = as "
          "'peer'."),
      row(drone, "use", std::string{"always"}, "",
          "'metered': each byte costs; while the path is dead nothing but questions whether it lives goes there. "
          "'backup': nor copies, while another path lives. 'commands': besides, only commands, answers, warnings and "
          "heartbeats when none does. The last two come last in 'paths'.",
          {.choices = {"always", "metered", "backup", "commands"}}),
  };
  return keys;
}

}  // namespace

std::span<const ConfigKey> config_schema() { return table(); }
std::span<const ConfigKey> drone_entry_schema() { return drone_table(); }
std::span<const ConfigKey> path_entry_schema() { return path_table(); }

}  // namespace pqcmav
