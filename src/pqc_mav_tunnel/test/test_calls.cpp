// SPDX-License-Identifier: Apache-2.0
#include "pqc_mav_tunnel/calls.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pqc_mav_tunnel/error.hpp"
#include "pqc_mav_tunnel/suites.hpp"
#include "pqc_mav_tunnel/version.hpp"

namespace pqcmav {
namespace {

using Parsed = nlohmann::json;

Errc refusal(std::string_view name, std::string_view arguments) {
  try {
    (void)call(name, arguments);
  } catch (const TunnelError& error) {
    return error.code();
  }
  ADD_FAILURE() << name << " took " << arguments;
  return Errc::state;
}

TEST(Calls, AnswerInJson) {
  EXPECT_EQ(Parsed::parse(call("engine_version", "{}")), engine_version());
  const auto suites = Parsed::parse(call("suites", R"({"view": "core", "only_available": false})"));
  EXPECT_EQ(suites.size(), 72U);
  const auto found = Parsed::parse(call("find_suite", R"({"name": "ml-768-ag-md-65"})"));
  EXPECT_EQ(found.at("id"), kDefaultSuite);
  EXPECT_EQ(found.at("public_key_bytes"), 1184);
}

TEST(Calls, WhatTheFunctionRefusesHasItsOwnCode) {
  EXPECT_EQ(refusal("find_suite", R"({"name": "rsa"})"), Errc::suite_unknown);
  EXPECT_EQ(refusal("list_keys", R"({"folder": "/nowhere"})"), Errc::key_missing);
  EXPECT_EQ(refusal("config_schema", R"({"role": "pilot"})"), Errc::config_invalid);
}

TEST(Calls, ArgumentsThatAreNoneAreRefused) {
  for (const auto* arguments :
       {"", "{", "[]", "7", "null", "{}", R"({"name": 7})", "{\"name\": \"\xff\"}", R"({"name": "\ud800"})"})
    EXPECT_EQ(refusal("find_suite", arguments), Errc::config_invalid) << arguments;
  EXPECT_EQ(refusal("closest_suites", R"({"text": "a", "count": "b"})"), Errc::config_invalid);
  EXPECT_EQ(refusal("", "{}"), Errc::config_invalid);
  EXPECT_EQ(refusal("reload", "{}"), Errc::config_invalid);
}

}  // namespace
}  // namespace pqcmav
