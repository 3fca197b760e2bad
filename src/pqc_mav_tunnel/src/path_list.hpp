// SPDX-License-Identifier: Apache-2.0
// A drone's ways to its ground station as its configuration has them (docs/paths.md).
#pragma once

#include <string>
#include <string_view>

#include "pqc_mav_tunnel/config.hpp"

namespace pqcmav {

/// Of `path.<name>.via` and `path.<name>.peer`. Throws TunnelError(config_invalid).
PathEntry path_entry(const std::string& name, const std::string& via, const std::string& peer, std::uint16_t data_port);
/// Of `path.<name>.use`, one of the schema's choices.
PathUse path_use_of(std::string_view word);
/// What does not go together. Throws TunnelError(config_invalid).
void check_paths(const EngineConfig& config);
/// "" when the drone has a path of this name, else a sentence.
std::string problem_of_path(const EngineConfig& config, const std::string& name);

}  // namespace pqcmav
