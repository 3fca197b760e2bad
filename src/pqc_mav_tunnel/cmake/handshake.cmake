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
)

pqcmav_test(control)
pqcmav_test(frame)
pqcmav_test(handshake)
pqcmav_test(link_estimator)
pqcmav_test(rate_limiter)
pqcmav_test(replay_window)
