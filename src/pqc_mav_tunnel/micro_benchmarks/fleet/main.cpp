// SPDX-License-Identifier: Apache-2.0
// pqcmav-fleet: a fleet of drones for the laboratory (chaos/storms.py), in one process.
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "fleet.hpp"
#include "mavlink_messages.hpp"
#include "pqc_mav_tunnel/error.hpp"
#include "text.hpp"

namespace {

using namespace pqcmav;

constexpr const char* kUsage =
    "Usage: pqcmav-fleet --keys DIR --gcs HOST:PORT --drones N [--rate MSGS_PER_S] [--size BYTES] [--rekey SECONDS]\n"
    "                    [--suites A,B] [--seconds S] [--spread S] [--events FILE] [--ground HOST:PORT]\n"
    "Flies N drones against a running gcs and prints a line of JSON a second. --keys: the root of all keys; --rekey 0: "
    "no\n"
    "rekeys; --suites: of one signature, each handshake draws one; --spread: begin over so many seconds; --ground: "
    "count, and answer, what the gcs delivers there.\n"
    "On standard input: 'cut' and 'restore' for the links of all, 'hush' and 'speak' for their messages, 'stop'.\n";

class WrongUsage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename Number>
Number number_of(const std::string& option, std::string_view text, Number least, Number most) {
  const auto out = pqcmav::number_of<Number>(text);
  if (!out || !(*out >= least && *out <= most))
    throw WrongUsage(option + " '" + std::string(text) + "' must be a " +
                     (std::is_integral_v<Number> ? "whole number" : "number") + " from " + std::to_string(least) +
                     " to " + std::to_string(most) + ".");
  return *out;
}

fleet::FleetOptions options_of(int argc, char** argv) {
  fleet::FleetOptions out;
  const std::map<std::string, std::string*> texts{{"--keys", &out.keys},
                                                  {"--gcs", &out.gcs},
                                                  {"--suites", &out.suites},
                                                  {"--events", &out.events},
                                                  {"--ground", &out.ground}};
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw WrongUsage("A value is missing after " + name + ".");
    const std::string value = argv[i + 1];
    if (const auto text = texts.find(name); text != texts.end())
      *text->second = value;
    else if (name == "--drones")
      out.drones = number_of<std::size_t>(name, value, 1, 60'000);
    else if (name == "--size")
      out.size = number_of(name, value, fleet::kAttitudeSize, fleet::kMessageLargest);
    else if (name == "--rate")
      out.rate = number_of(name, value, 0.0, 1000.0);
    else if (name == "--rekey")
      out.rekey_s = number_of(name, value, 0.0, 86'400.0);
    else if (name == "--spread")
      out.spread_s = number_of(name, value, 0.0, 3600.0);
    else if (name == "--seconds")
      out.seconds = number_of(name, value, 0.0, 1e6);
    else
      throw WrongUsage("There is no option " + name + ".");
  }
  if (out.keys.empty() || out.gcs.empty() || out.drones == 0)
    throw WrongUsage("--keys, --gcs and --drones must be given.");
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::cout << kUsage;
    return 0;
  }
  try {
    fleet::Fleet fleet(options_of(argc, argv));
    fleet.run([](const std::string& line) { std::cout << line << std::endl; });
    return 0;
  } catch (const WrongUsage& error) {
    std::cerr << "pqcmav-fleet: " << error.what() << '\n';
    return 2;
  } catch (const TunnelError& error) {
    std::cerr << "pqcmav-fleet: " << error.what() << '\n';
    return 1;
  }
}
