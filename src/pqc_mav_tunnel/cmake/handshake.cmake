target_sources(pqcmav_engine PRIVATE
  src/replay_window.cpp
  src/frame.cpp
  src/control.cpp
  src/link_estimator.cpp
  src/rate_limiter.cpp
)
