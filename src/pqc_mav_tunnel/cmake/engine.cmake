# SPDX-License-Identifier: Apache-2.0
# The engine as a static library, and the YAML reader for hosts without ROS parameters.
add_library(pqcmav_engine STATIC
  src/added_drone.cpp
  src/config.cpp
  src/config_schema.cpp
  src/engine.cpp
  src/engine_drones.cpp
  src/error.cpp
  src/events.cpp
  src/host.cpp
  src/open_sockets.cpp
  src/peer_list.cpp
  src/process.cpp
  src/rate_meter.cpp
  src/status.cpp
  src/text.cpp
  # algorithms and the table of suites
  src/crypto/aead.cpp
  src/crypto/aead_openssl.cpp
  src/crypto/ascon128a.cpp
  src/crypto/kdf.cpp
  src/crypto/oqs.cpp
  src/crypto/oqs_lookup.cpp
  src/crypto/running_hash.cpp
  src/crypto/suites.cpp
  src/crypto/suites_availability.cpp
  src/crypto/suites_table.cpp
  src/crypto/wipe_stack.cpp
  src/crypto/x25519.cpp
  # long-term keys on disk
  src/keys/gcs_psk.cpp
  src/keys/key_file.cpp
  src/keys/key_file_write.cpp
  src/keys/key_folders.cpp
  src/keys/key_path.cpp
  src/keys/keystore_init.cpp
  src/keys/keystore_list.cpp
  src/keys/restart_key_file.cpp
  # packets and keys of a session, without sockets or clock
  src/session/bundle.cpp
  src/session/compact_header.cpp
  src/session/control_frame.cpp
  src/session/frame.cpp
  src/session/link_estimator.cpp
  src/session/receive_index.cpp
  src/session/replay_window.cpp
  src/session/session.cpp
  # MAVLink in order of importance, without sockets or clock
  src/shape/mavlink_walk.cpp
  src/shape/message_class.cpp
  src/shape/shaper.cpp
  # MAVLink as streams, and to whom it goes, without sockets or clock
  src/route/mavlink_framer.cpp
  src/route/mavlink_router.cpp
  src/route/mavlink_target.cpp
  src/route/out_queue.cpp
  # the handshake, without sockets or clock
  src/handshake/datagram_limits.cpp
  src/handshake/handshake_datagram.cpp
  src/handshake/handshake_frames.cpp
  src/handshake/handshake_initiator.cpp
  src/handshake/handshake_messages.cpp
  src/handshake/handshake_responder.cpp
  src/handshake/handshake_text.cpp
  src/handshake/incoming_message.cpp
  src/handshake/key_schedule.cpp
  src/handshake/outgoing_message.cpp
  src/handshake/rate_limiter.cpp
  src/handshake/ratchet.cpp
  src/handshake/ratchet_initiator.cpp
  src/handshake/ratchet_messages.cpp
  src/handshake/ratchet_responder.cpp
  src/handshake/restart_key.cpp
  src/handshake/retry_cookie.cpp
  src/handshake/rtt_estimator.cpp
  src/handshake/send_window.cpp
  src/handshake/transport.cpp
  src/handshake/transport_input.cpp
  src/handshake/transport_output.cpp
  # sockets and the packet thread
  src/net/announcements.cpp
  src/net/bundler.cpp
  src/net/data_plane.cpp
  src/net/data_plane_packets.cpp
  src/net/data_plane_links.cpp
  src/net/data_plane_shaping.cpp
  src/net/data_plane_stations.cpp
  src/net/data_plane_threads.cpp
  src/net/data_plane_upkeep.cpp
  src/net/data_share.cpp
  src/net/handshake_relay.cpp
  src/net/interval_request.cpp
  src/net/link.cpp
  src/net/lookup.cpp
  src/net/net.cpp
  src/net/path_validator.cpp
  src/net/plain_endpoint.cpp
  src/net/plain_hub.cpp
  src/net/plain_ports.cpp
  src/net/plain_side.cpp
  src/net/plain_stream.cpp
  src/net/plain_tap.cpp
  src/net/refused_sources.cpp
  src/net/serial_port.cpp
  src/net/snapshot_watch.cpp
  src/net/udp_batch.cpp
  # when to shake hands, and doing it
  src/control/admission.cpp
  src/control/blacklist.cpp
  src/control/drone_control.cpp
  src/control/drone_control_handshakes.cpp
  src/control/drone_control_rekeys.cpp
  src/control/drone_stations.cpp
  src/control/gcs_control.cpp
  src/control/gcs_drones.cpp
  src/control/handshake_attempts.cpp
  src/control/handshake_client.cpp
  src/control/handshake_server.cpp
  src/control/reception.cpp
  src/control/key_pool.cpp
  src/control/link_ledger.cpp
  src/control/rekey_plan.cpp
  src/control/return_file.cpp
  src/control/station_choice.cpp
  src/control/term_file.cpp
  src/control/worker_pool.cpp
  # every figure of an engine, in one table
  src/picture/counters.cpp
  src/picture/handshake_fields.cpp
  src/picture/link_fields.cpp
  src/picture/picture.cpp
  # the control socket: what programs on this machine see and steer
  src/console/calls.cpp
  src/console/commands.cpp
  src/console/console_server.cpp
  src/console/event_journal.cpp
  src/console/handshake_tally.cpp
  src/console/local_socket.cpp
  src/console/views.cpp
  src/console/wanted_file.cpp
)
set_target_properties(pqcmav_engine PROPERTIES EXPORT_NAME engine)
configure_file(cmake/version.hpp.in "${CMAKE_CURRENT_BINARY_DIR}/include/pqc_mav_tunnel/version.hpp" @ONLY)
# Internal headers are included by their path below src/ ("net/link.hpp"), by the engine, its tests, fuzzers and
# benchmarks; they are not installed.
target_include_directories(pqcmav_engine PUBLIC
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/include>
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/src>
  $<INSTALL_INTERFACE:include/${PROJECT_NAME}>)
# Compiled once. Every file still includes what it uses: 'make sanitize' builds without them.
target_precompile_headers(pqcmav_engine PRIVATE
  <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <deque> <filesystem> <functional> <map> <memory>
  <mutex> <optional> <set> <span> <string> <thread> <unordered_map> <variant> <vector>)
target_compile_features(pqcmav_engine PUBLIC cxx_std_20)
target_link_libraries(pqcmav_engine PUBLIC OQS::oqs OpenSSL::Crypto Threads::Threads)
# Headers alone, which users of the library do not need.
target_link_libraries(pqcmav_engine PRIVATE $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)

add_library(pqcmav_yaml STATIC src/config_yaml.cpp)
target_link_libraries(pqcmav_yaml PUBLIC pqcmav_engine PRIVATE yaml-cpp::yaml-cpp)
