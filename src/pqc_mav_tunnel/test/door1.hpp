// SPDX-License-Identifier: Apache-2.0
// What version 1 of the control socket said of door_samples.hpp before there was a table of fields. Never to change.
#pragma once

#include <string_view>

namespace pqcmav::test::door1 {

inline constexpr std::string_view kStatus =
    R"({"drone_id":"uav1","state":"REKEYING","suite":"cs-mlkem768-aesgcm-mldsa65","epoch":3,"session_id":"01234)"
    R"(56789abcdef","key_age_s":12.5,"silence_s":0.25,"peer":"192.0.2.1:46011","plain_local":"127.0.0.1:14550",)"
    R"("plain_peer":"127.0.0.1:14551","last_error":"KEY_OLD: � is no UTF-8.","hybrid":true,"drone_signed":false)"
    R"(,"compact":true,"ratchets":2,"ratchet_for_s":30.125,"key_old":true,"shape_kbit":64,"station":"north","st)"
    R"(ation_role":"active","term":6,"stations":["north active 192.0.2.1:46011","south standby 192.0.2.2:46011")"
    R"(],"handshakes_ok":1,"handshakes_failed":4,"rekeys_ok":5,"blacklisted_suites":["cs-mlkem512-aesgcm-falcon)"
    R"(512"],"pinned_suite":"cs-mlkem1024-aesgcm-mldsa87","pin_for_s":600.0})";
inline constexpr std::string_view kNewStatus =
    R"({"drone_id":"","state":"DOWN","suite":"","epoch":0,"session_id":"","key_age_s":0.0,"silence_s":0.0,"peer)"
    R"(":"","plain_local":"","plain_peer":"","last_error":"","hybrid":false,"drone_signed":false,"compact":fals)"
    R"(e,"ratchets":0,"ratchet_for_s":0.0,"key_old":false,"shape_kbit":0,"station":"","station_role":"","term":)"
    R"(0,"stations":[],"handshakes_ok":0,"handshakes_failed":0,"rekeys_ok":0,"blacklisted_suites":[],"pinned_su)"
    R"(ite":"","pin_for_s":0.0})";
inline constexpr std::string_view kStats =
    R"({"drone_id":"uav1","plain_rx_packets":1,"plain_rx_bytes":2,"plain_tx_packets":3,"plain_tx_bytes":4,"plai)"
    R"(n_dropped_no_session":5,"plain_dropped_no_peer":6,"plain_dropped_too_big":7,"plain_dropped_kernel":8,"pl)"
    R"(ain_dropped_send":9,"plain_tap_packets":10,"plain_tap_dropped":11,"plain_tap_requests":12,"plain_tap_ref)"
    R"(used":13,"enc_tx_packets":14,"enc_tx_bytes":15,"enc_dropped_send":16,"enc_rx_packets":17,"enc_rx_bytes":)"
    R"(18,"delivered":19,"delivered_datagrams":20,"control":21,"drop_malformed":22,"drop_unknown":23,"drop_seq_)"
    R"(old":24,"drop_replay":25,"drop_auth_fail":26,"drop_decrypt_fail":27,"window_skipped":28,"roams":29,"wind)"
    R"(ow_depth":[40,41,42,43,44,45,46,47,48,49,50,51,52],"shape_taken":[60,61,62,63,64],"shape_sent":[70,71,72)"
    R"(,73,74],"shape_replaced":[80,81,82,83,84],"shape_dropped":[90,91,92,93,94],"shape_oldest_ms":[100,101,10)"
    R"(2,103,104],"endpoints":[{"name":"udp:14550","state":"open","good":true,"text":"open, rx_packets 110, dro)"
    R"(pped 111","rx_packets":110,"dropped":111}],"seal_mean_ns":1.5,"open_mean_ns":2.5})";
inline constexpr std::string_view kLink =
    R"({"drone_id":"uav1","local":{"window_s":5.0,"packets_per_s":0.101,"gap_p95_ms":0.102,"longest_silence_ms")"
    R"(:0.103,"jitter_ms":0.104,"loss":0.000105,"blackouts":106,"drops":{"malformed":11,"unknown":12,"seq_old":)"
    R"(13,"replay":14,"auth_fail":15,"decrypt_fail":16}},"peer":{"window_s":5.0,"packets_per_s":0.201,"gap_p95_)"
    R"(ms":0.202,"longest_silence_ms":0.203,"jitter_ms":0.204,"loss":0.000205,"blackouts":206,"drops":{"malform)"
    R"(ed":11,"unknown":12,"seq_old":13,"replay":14,"auth_fail":15,"decrypt_fail":16}},"age_s":0.5,"rtt_ms":1.5)"
    R"(,"rtt_min_ms":1.25,"clock_offset_ms":null})";
inline constexpr std::string_view kNewLink =
    R"({"drone_id":"","local":{"window_s":0.0,"packets_per_s":0.0,"gap_p95_ms":0.0,"longest_silence_ms":0.0,"ji)"
    R"(tter_ms":0.0,"loss":0.0,"blackouts":0,"drops":{"malformed":0,"unknown":0,"seq_old":0,"replay":0,"auth_fa)"
    R"(il":0,"decrypt_fail":0}},"peer":null,"age_s":null,"rtt_ms":null,"rtt_min_ms":null,"clock_offset_ms":null)"
    R"(})";
inline constexpr std::string_view kHandshake =
    R"({"event":"handshake","ok":false,"error":"timeout","reason":"Nothing more came.","suite":"cs-mlkem768-aes)"
    R"(gcm-mldsa65","hybrid":true,"epoch":9,"rekey":true,"kind":"ratchet","role":"drone","peer":"192.0.2.1:4601)"
    R"(1","handshake_ms":1.5,"phases_ms":{"hello":30.0,"server_hello":31.0,"finish":32.0,"server_finish":33.0},)"
    R"("primitives_ms":{"kem_keygen":1.0,"kem_encaps":2.0,"kem_decaps":3.0,"sig_sign":4.0,"sig_verify":5.0,"x25)"
    R"(519":6.0,"kdf":7.0},"sizes":{"public_key":20,"ciphertext":21,"signature":22,"drone_signature":23,"bytes_)"
    R"(sent":24,"bytes_received":25},"keygen_pooled":true,"drone_id":"uav1","time":1.5})";
inline constexpr std::string_view kState =
    R"({"event":"state","old":"DOWN","new":"UP","reason":"why","drone_id":"uav1","time":2.5})";
inline constexpr std::string_view kLog = R"({"event":"log","level":"warning","text":"text","drone_id":"","time":3.5})";
inline constexpr std::string_view kTally =
    R"({"le_ms":[1,2,5,10,20,50,100,200,500,1000,2000,5000,10000,20000,50000],"first":{"counts":[0,0,1,0,0,0,0,)"
    R"(0,0,0,0,0,0,0,0,0],"sum_ms":3.0,"failed":{"bad_frame":0,"malformed":0,"unknown_drone":0,"other_gcs":0,"b)"
    R"(ad_gate":0,"rejected":0,"bad_reject":0,"wrong_epoch":0,"bad_signature":0,"bad_drone_signature":0,"bad_co)"
    R"(nfirm":0,"weak_key":0,"crypto":0,"timeout":0,"unreachable":0,"refused_locally":0,"cancelled":0}},"rekey")"
    R"(:{"counts":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"sum_ms":0.0,"failed":{"bad_frame":0,"malformed":0,"unknown)"
    R"(_drone":0,"other_gcs":0,"bad_gate":0,"rejected":0,"bad_reject":0,"wrong_epoch":0,"bad_signature":0,"bad_)"
    R"(drone_signature":0,"bad_confirm":0,"weak_key":0,"crypto":0,"timeout":0,"unreachable":0,"refused_locally")"
    R"(:0,"cancelled":0}},"ratchet":{"counts":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"sum_ms":0.0,"failed":{"bad_fra)"
    R"(me":0,"malformed":0,"unknown_drone":0,"other_gcs":0,"bad_gate":0,"rejected":0,"bad_reject":0,"wrong_epoc)"
    R"(h":0,"bad_signature":0,"bad_drone_signature":0,"bad_confirm":0,"weak_key":0,"crypto":0,"timeout":1,"unre)"
    R"(achable":0,"refused_locally":0,"cancelled":0}},"ratchet_plain":{"counts":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,)"
    R"(0],"sum_ms":0.0,"failed":{"bad_frame":0,"malformed":0,"unknown_drone":0,"other_gcs":0,"bad_gate":0,"reje)"
    R"(cted":0,"bad_reject":0,"wrong_epoch":0,"bad_signature":0,"bad_drone_signature":0,"bad_confirm":0,"weak_k)"
    R"(ey":0,"crypto":0,"timeout":0,"unreachable":0,"refused_locally":0,"cancelled":0}}})";
inline constexpr std::string_view kSuite =
    R"({"id":"cs-mlkem768-aesgcm-mldsa65","short_code":"ML-768-AG-MD-65","kem":"ML-KEM-768","sig":"ML-DSA-65",")"
    R"(aead":"AES-256-GCM","level":3,"core":true,"available":true,"reason":""})";

}  // namespace pqcmav::test::door1
