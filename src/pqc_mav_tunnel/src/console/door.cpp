// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/door.hpp"

#include <unistd.h>

#include "clock.hpp"
#include "console/commands.hpp"
#include "console/saying.hpp"
#include "console/steered_engine.hpp"

namespace pqcmav {

class Door::Impl {
 public:
  Impl(Engine& of, const EventJournal& log) : engine(of), commands(steered, log) {}

  std::string line_of_event(const Event& event) {
    auto out = event_json(event, {}, true);
    if (const auto said = said_of(event, attempts, AttemptLog::Clock::now()))
      out["say"] = {{"level", to_string(said->level)}, {"text", said->text}};
    return line_of(out);
  }

  Engine& engine;
  SteeredEngine steered{engine};
  Commands commands;
  const Asker host{::getpid(), ::geteuid(), ::getegid(), true, std::make_shared<Diagnoser>()};
  AttemptLog attempts;
  bool introduced = false;
};

Door::Door(Engine& engine) : impl_(std::make_unique<Impl>(engine, engine.journal())) {}
Door::~Door() = default;

std::string Door::ask(std::string_view request) {
  auto answer = impl_->commands.answer(request, impl_->host);
  auto line = answer.work ? answer.work() : std::move(answer.line);
  line.pop_back();
  return line;
}

std::vector<std::string> Door::events(std::chrono::nanoseconds timeout, std::size_t most) {
  std::vector<Event> events;
  if (impl_->introduced) {
    events = impl_->engine.events().wait(timeout, most);
  } else {
    events.push_back({now_ns(), "", LogEvent{LogLevel::info, start_sentence(impl_->engine)}});
    impl_->introduced = true;
  }
  std::vector<std::string> out;
  for (const auto& event : events) {
    out.push_back(impl_->line_of_event(event));
    out.back().pop_back();
  }
  return out;
}

}  // namespace pqcmav
