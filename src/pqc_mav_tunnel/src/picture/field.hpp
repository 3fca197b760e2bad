// SPDX-License-Identifier: Apache-2.0
// One table of everything that a picture of an engine has. Each figure has one row, in the order of the control socket's
// first version: its name, its type and a sentence as its ROS message has them, and how it is read. Views, messages,
// dictionaries, the schema and what is told of a counter that grows come from the rows.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "net/counters.hpp"

namespace pqcmav {

using Json = nlohmann::ordered_json;

/// Where a figure is shown. A message shows what the picture has, but for what this mask leaves out.
enum In : std::uint8_t { kInDoor = 1, kInPicture = 2, kInMessage = 4, kNoMessage = 3, kNotInDoor = 6, kEverywhere = 7 };

struct Field {
  std::string_view name, type;
  std::string_view text;          // with its unit in [ ] and bounds narrower than the type's in ( )
  std::string_view door = {};     // what version 1 calls it, if that is another name; "a.b" is b inside a
  std::string_view meaning = {};  // of a counter that is worth a warning when it grows
  std::uint8_t rank = 0;          // of these, in which order they are told
  std::uint8_t in = kEverywhere;
};

/// A figure of an `Of`.
template <typename Of>
struct Row {
  Field field;
  Json (*read)(const Of&) = nullptr;
  // Of a counter.
  std::uint64_t (*count)(const Of&) = nullptr;
  Counter& (*counter)(Of&) = nullptr;

  [[nodiscard]] constexpr Row at_door(std::string_view name) const {
    auto out = *this;
    out.field.door = name;
    return out;
  }
  [[nodiscard]] constexpr Row typed(std::string_view type) const {
    auto out = *this;
    out.field.type = type;
    return out;
  }
  [[nodiscard]] constexpr Row only(std::uint8_t in) const {
    auto out = *this;
    out.field.in = in;
    return out;
  }
  [[nodiscard]] constexpr Row warns(std::uint8_t rank, std::string_view meaning) const {
    auto out = *this;
    out.field.rank = rank;
    out.field.meaning = meaning;
    return out;
  }
};

inline Json json_of(const Counter& counter) { return counter.get(); }
template <typename Value>
Json json_of(const Value& value) {
  return value;
}

template <typename Member>
struct OfMember;
template <typename Of, typename Value>
struct OfMember<Value Of::*> {
  using Type = Of;
};

/// What a member is called in its structure.
template <auto Member>
consteval std::string_view name_of() {
  constexpr std::string_view marker = "Member = ";
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.find(marker) + marker.size());
  name = name.substr(0, name.find_first_of(";])"));
  return name.substr(name.rfind(':') + 1);
}
static_assert(name_of<&LinkCounters::enc_tx_packets>() == "enc_tx_packets");

/// What messages call a type. What is none of these has to be said.
template <typename Value>
consteval std::string_view type_of() {
  if constexpr (std::is_same_v<Value, bool>) return "bool";
  if constexpr (std::is_same_v<Value, std::uint8_t>) return "uint8";
  if constexpr (std::is_same_v<Value, std::uint32_t>) return "uint32";
  if constexpr (std::is_same_v<Value, Counter> || std::is_same_v<Value, std::uint64_t>) return "uint64";
  if constexpr (std::is_same_v<Value, double>) return "float32";
  if constexpr (std::is_convertible_v<Value, std::string_view>) return "string";
  if constexpr (std::is_same_v<Value, std::vector<std::string>>) return "string[]";
  if constexpr (std::is_same_v<Value, std::vector<std::uint64_t>>) return "uint64[]";
  return "";
}

/// The row of what `At` finds in an `Of`.
template <typename Of, auto At>
constexpr Row<Of> figure(std::string_view name, std::string_view text) {
  using Value = std::remove_cvref_t<decltype(At(std::declval<Of&>()))>;
  Row<Of> out{{name, type_of<Value>(), text}, [](const Of& of) { return json_of(At(of)); }};
  if constexpr (std::is_same_v<Value, Counter>) {
    out.count = [](const Of& of) { return At(of).get(); };
    out.counter = [](Of& of) -> Counter& { return At(of); };
  }
  return out;
}

/// The row of a member, under its own name or another one.
template <auto Member>
constexpr auto row(std::string_view text, std::string_view name = name_of<Member>()) {
  return figure<typename OfMember<decltype(Member)>::Type, [](auto& of) -> auto& { return of.*Member; }>(name, text);
}

/// The row of one place of an array member.
template <auto Member, auto Place>
constexpr auto row_in(std::string_view name, std::string_view text) {
  return figure<typename OfMember<decltype(Member)>::Type,
                [](auto& of) -> auto& { return (of.*Member)[static_cast<std::size_t>(Place)]; }>(name, text);
}

/// The six reasons to drop a packet, wherever they are counted. What an end reports of itself has them in a group.
template <auto Drops>
constexpr auto drop_rows() {
  using enum Drop;
  std::array out{
      row_in<Drops, malformed>("drop_malformed", "too short, of a wrong type or with ids of another suite [count]")
          .warns(3, "malformed packets"),
      row_in<Drops, unknown>("drop_unknown", "no live session of that id and epoch [count]"),
      row_in<Drops, seq_old>("drop_seq_old", "below the replay window [count]"),
      row_in<Drops, replay>("drop_replay", "inside the replay window and seen before [count]")
          .warns(2, "replayed packets"),
      row_in<Drops, auth_fail>("drop_auth_fail", "the tag did not verify [count]")
          .warns(1, "packets that failed authentication"),
      row_in<Drops, decrypt_fail>("drop_decrypt_fail",
                                  "verified, but the content was unusable or the crypto library failed [count]")
          .warns(4, "packets with unusable content"),
  };
  static_assert(out.size() == kDropKinds);
  return out;
}

/// Several lists of rows as one.
template <typename Of, std::size_t... Sizes>
constexpr auto joined(const std::array<Row<Of>, Sizes>&... parts) {
  std::array<Row<Of>, (Sizes + ...)> out{};
  std::size_t at = 0;
  const auto take = [&](const auto& part) {
    for (const auto& each : part) out[at++] = each;
  };
  (take(parts), ...);
  return out;
}

/// Adds to `out` what this place shows of `of`.
template <typename Of, typename Rows>
void project(Json& out, const Rows& rows, const Of& of, In where) {
  for (const auto& row : rows) {
    const auto& field = row.field;
    if ((field.in & where) == 0) continue;
    const auto name = where == kInDoor && !field.door.empty() ? field.door : field.name;
    const auto dot = name.find('.');
    if (dot == std::string_view::npos)
      out[std::string(name)] = row.read(of);
    else
      out[std::string(name.substr(0, dot))][std::string(name.substr(dot + 1))] = row.read(of);
  }
}

/// The same of counters that have their names with them.
inline void project(Json& out, const NamedCounters& counters) {
  for (const auto& [name, value] : counters) out[std::string(name)] = value;
}

}  // namespace pqcmav
