target_sources(pqcmav_engine PRIVATE
  src/control.cpp
  src/frame.cpp
  src/handshake_frames.cpp
  src/handshake_initiator.cpp
  src/handshake_messages.cpp
  src/handshake_responder.cpp
  src/handshake_text.cpp
  src/key_schedule.cpp
  src/link_estimator.cpp
  src/rate_limiter.cpp
  src/replay_window.cpp
  src/running_hash.cpp
)

pqcmav_test(control)
pqcmav_test(frame)
pqcmav_test(handshake)
pqcmav_test(handshake_frames)
pqcmav_test(handshake_messages)
pqcmav_test(handshake_refusals)
pqcmav_test(handshake_tampering)
pqcmav_test(handshake_text)
pqcmav_test(link_estimator)
pqcmav_test(rate_limiter)
pqcmav_test(replay_window)

# The vectors belong to the repository, not to the package: a source tree of the package alone does without this test.
get_filename_component(pqcmav_vectors "${CMAKE_CURRENT_SOURCE_DIR}/../../docs/vectors" ABSOLUTE)
if(EXISTS "${pqcmav_vectors}")
  pqcmav_test(vectors)
  if(TARGET test_vectors)
    target_compile_definitions(test_vectors PRIVATE PQCMAV_VECTORS="${pqcmav_vectors}")
  endif()
endif()

if(PQCMAV_FUZZ)
  # Without this the fuzzers would see no coverage inside the engine.
  target_compile_options(pqcmav_engine PRIVATE -fsanitize=fuzzer-no-link)
endif()
pqcmav_fuzz(control)
pqcmav_fuzz(frame)
pqcmav_fuzz(handshake_initiator)
pqcmav_fuzz(handshake_responder)
