# SPDX-License-Identifier: Apache-2.0
# fuzz/fuzz_<name>.cpp as libFuzzer targets.
foreach(library pqcmav_engine pqcmav_yaml)
  # Without this the fuzzers would see no coverage inside the libraries.
  target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link)
endforeach()
foreach(name bundle compact_header config console control_frame frame handshake_datagram handshake_initiator handshake_responder
        mavlink mavlink_framer ratchet sequences)
  add_executable(fuzz_${name} fuzz/fuzz_${name}.cpp)
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_${name} PRIVATE pqcmav_engine)
endforeach()
target_link_libraries(fuzz_config PRIVATE pqcmav_yaml)
target_link_libraries(fuzz_console PRIVATE nlohmann_json::nlohmann_json)
target_include_directories(fuzz_console PRIVATE test)
# Both ends with the world that the tests simulate.
find_package(GTest REQUIRED)
target_link_libraries(fuzz_sequences PRIVATE GTest::gtest)
target_include_directories(fuzz_sequences PRIVATE test)
