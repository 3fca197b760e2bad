// SPDX-License-Identifier: Apache-2.0
// What is worth a line in the log of an engine's host, and how it is put.
#pragma once

#include <optional>
#include <string>

#include "pqc_mav_tunnel/attempt_log.hpp"
#include "pqc_mav_tunnel/engine.hpp"

namespace pqcmav {

/// As the log shows it; nothing where it is not worth it.
std::optional<LogEvent> said_of(const Event& event, AttemptLog& attempts, AttemptLog::Clock::time_point now);

/// Of an engine that has just started: where packets come and go, and with that where ground software must listen.
std::string start_sentence(const Engine& engine);

}  // namespace pqcmav
