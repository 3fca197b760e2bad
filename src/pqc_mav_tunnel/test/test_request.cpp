// SPDX-License-Identifier: Apache-2.0
#include "console/request.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace pqcmav {
namespace {

Json with(const char* field, Json value) {
  auto out = Json::object();
  out[field] = std::move(value);
  return out;
}

std::string refusal_of(const std::function<void()>& read) {
  try {
    read();
  } catch (const Refused& refused) {
    return refused.code + ": " + refused.text;
  }
  return "nothing";
}

TEST(Request, AFieldThatIsNotThereHasItsUsualValue) {
  const Json empty = Json::object();
  EXPECT_EQ(text_in(empty, "drone"), "");
  EXPECT_EQ(number_in(empty, "limit", 7, 1, 9), 7);
  EXPECT_FALSE(flag_in(empty, "dry_run"));
  EXPECT_TRUE(id_in(empty).is_null());
  EXPECT_TRUE(settings_in(empty).empty());
}

TEST(Request, AValueAtItsBoundIsTakenAndOneBeyondIsRefused) {
  const std::string most(kTextMost, 'x'), id(kIdMost, 'x');
  EXPECT_EQ(text_in(with("drone", most), "drone"), most);
  EXPECT_EQ(refusal_of([&] { text_in(with("drone", most + "x"), "drone"); }),
            "bad_request: 'drone' must be a text of at most 255 bytes.");
  EXPECT_EQ(number_in(with("limit", 9), "limit", 7, 0.5, 9), 9);
  EXPECT_EQ(refusal_of([] { number_in(with("limit", 9.1), "limit", 7, 0.5, 9); }),
            "bad_request: 'limit' must be a number from 0.5 to 9.0.");
  EXPECT_EQ(id_in(with("id", id)), id);
  EXPECT_EQ(id_in(with("id", -3)), -3);
  for (const auto& bad : {Json(id + "x"), Json(1.5), Json(true), Json::array()})
    EXPECT_EQ(refusal_of([&] { id_in(with("id", bad)); }),
              "bad_request: 'id' must be a whole number or a text of at most 64 bytes.")
        << bad;
}

TEST(Request, AValueOfAnotherKindIsRefusedByTheFieldsName) {
  EXPECT_EQ(refusal_of([] { text_in(with("drone", 1), "drone"); }),
            "bad_request: 'drone' must be a text of at most 255 bytes.");
  EXPECT_EQ(refusal_of([] { number_in(with("limit", "9"), "limit", 7, 1, 9); }),
            "bad_request: 'limit' must be a number from 1.0 to 9.0.");
  EXPECT_EQ(refusal_of([] { flag_in(with("dry_run", 1), "dry_run"); }),
            "bad_request: 'dry_run' must be true or false.");
}

TEST(Request, SettingsAreFlagsWholeNumbersTextsAndListsOfTexts) {
  const auto good =
      with("settings", Json::parse(R"({"plain": "udp", "sign": true, "radio_id": 2, "suites": ["a", "b"]})"));
  const FlatConfig expected = {{"plain", std::string("udp")},
                               {"sign", true},
                               {"radio_id", std::int64_t{2}},
                               {"suites", std::vector<std::string>{"a", "b"}}};
  EXPECT_EQ(settings_in(good), expected);
  EXPECT_EQ(refusal_of([] { settings_in(with("settings", "x")); }),
            "bad_request: 'settings' must be an object of keys and values.");
  const std::string most(kTextMost + 1, 'x');
  for (const auto& bad : {Json(1.5), Json(~std::uint64_t{0}), Json(nullptr), Json(most), Json(std::vector<int>{1}),
                          Json(std::vector<std::string>(kListMost + 1, "x"))})
    EXPECT_EQ(
        refusal_of([&] { settings_in(with("settings", with("key", bad))); }),
        "bad_request: 'key' in 'settings' must be true, false, a whole number, a text of at most 255 bytes or a list "
        "of texts.")
        << bad;
}

}  // namespace
}  // namespace pqcmav
