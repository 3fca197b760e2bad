// SPDX-License-Identifier: Apache-2.0
// Any bytes to the control socket: each line has one answer, which is one line of JSON and says whether it worked.
#include <algorithm>
#include <cstdlib>

#include "console/commands.hpp"
#include "console/line_buffer.hpp"
#include "fake_steered.hpp"

using namespace pqcmav;

namespace {

void check(const std::string& line) {
  if (line.empty() || line.find('\n') != line.size() - 1) std::abort();
  const auto answer = Json::parse(line);
  if (answer["v"] != 1 || !answer["ok"].is_boolean() || !answer.contains("id")) std::abort();
  if (answer["ok"] == false && answer["error"]["text"].get<std::string>().empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static test::FakeSteered engine;
  static EventJournal log;
  static Commands commands(engine, log);
  if (log.next() == 0) log.take(Event{1, "uav1", HandshakeEvent{}});
  engine.asked.clear();
  engine.noted.clear();
  LineBuffer lines(4096);
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty() && !lines.too_long()) {
    // In pieces, as a stream brings them.
    const auto piece = rest.substr(0, std::min({lines.room(), rest.size(), std::size_t{100}}));
    lines.add(piece);
    rest.remove_prefix(piece.size());
    while (const auto line = lines.take()) {
      const auto answer = commands.answer(*line, {1, 2, 3});
      check(answer.line);
      if (answer.work) check(answer.work());
    }
  }
  return 0;
}
