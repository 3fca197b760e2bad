// SPDX-License-Identifier: Apache-2.0
// Any text as a configuration file: it makes a checked configuration, or one sentence says why not; nothing else.
#include <cstdlib>
#include <string>

#include "config_yaml.hpp"
#include "pqc_mav_tunnel/error.hpp"

using namespace pqcmav;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const auto config = EngineConfig::from_flat(parse_yaml_config(text, "fuzz.yaml"));
    // What was accepted means the same when it is given again in full.
    if (EngineConfig::from_flat(config.effective).effective != config.effective) std::abort();
  } catch (const TunnelError& error) {
    if (std::string(error.what()).empty()) std::abort();
    switch (error.code()) {
      case Errc::config_syntax:
      case Errc::config_unknown_key:
      case Errc::config_invalid:
      case Errc::suite_unknown:
      case Errc::suite_unavailable: break;
      default: std::abort();
    }
  }
  return 0;
}
