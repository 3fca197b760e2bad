// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "config_yaml.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using test::expect_error;
using Names = std::vector<std::string>;

class ConfigYaml : public ::testing::Test {
 protected:
  FlatConfig load(std::string_view text) const {
    test::write_text(file, text);
    return ConfigSources{{file}, {}, {}}.read();
  }
  void expect_refused(std::initializer_list<std::string> words, std::string_view text) const {
    expect_error(Errc::config_syntax, words, [&] { (void)load(text); });
  }
  test::TempFolder folder;
  const std::filesystem::path file = folder / "tunnel.yaml";
};

TEST_F(ConfigYaml, NestedAndFlatKeysMeanTheSame) {
  const FlatConfig expected{{"role", "gcs"},
                            {"drones", Names{"uav1", "7"}},
                            {"drone.uav1.plain_peer", "127.0.0.1:14550"},
                            {"drone.uav1.require_signature", true},
                            {"max_payload", 1200},
                            {"grace_s", 1.5}};
  EXPECT_EQ(load("role: gcs\n"
                 "drones: [uav1, 7]\n"
                 "drone:\n"
                 "  uav1:\n"
                 "    plain_peer: 127.0.0.1:14550\n"
                 "    require_signature: true\n"
                 "max_payload: 1200   # bytes\n"
                 "grace_s: 1.5\n"),
            expected);
  EXPECT_EQ(load("{role: gcs, drones: [uav1, '7'], drone.uav1.plain_peer: '127.0.0.1:14550', drone.uav1: "
                 "{require_signature: True}, max_payload: 1200, grace_s: 15e-1}"),
            expected);
}

TEST_F(ConfigYaml, TheRosFormGivesWhatItHasForTheProxy) {
  const FlatConfig expected{{"role", "gcs"}, {"drone.uav1.plain_peer", "127.0.0.1:14550"}};
  EXPECT_EQ(load("/**:\n  pqc_proxy:\n    ros__parameters:\n      role: gcs\n      autostart: true\n      drone:\n"
                 "        uav1: {plain_peer: '127.0.0.1:14550'}\n"
                 "  pqc_policy:\n    ros__parameters: {mode: auto}\n"),
            expected);
  EXPECT_EQ(load("/gcs/pqc_proxy: {ros__parameters: {role: gcs, drone.uav1.plain_peer: '127.0.0.1:14550'}}"), expected);
  EXPECT_EQ(load("{'/**': {ros__parameters: {role: gcs}}, pqc_proxy: {ros__parameters: {drone: {uav1: {plain_peer: "
                 "'127.0.0.1:14550'}}}}}"),
            expected);
  expect_refused({"tunnel.yaml", "pqc_proxy"}, "/**: {pqc_policy: {ros__parameters: {mode: auto}}}");
  expect_refused({"'role' is given twice"},
                 "{'/**': {ros__parameters: {role: gcs}}, pqc_proxy: {ros__parameters: {role: gcs}}}");
}

TEST_F(ConfigYaml, ADumpOfTheNodesParametersHasMoreThanTheEngines) {
  EXPECT_EQ(load("/drone/pqc_proxy:\n  ros__parameters:\n    autostart: true\n    qos_overrides:\n"
                 "      /diagnostics: {publisher: {depth: 1, reliability: reliable}}\n"
                 "      /drone/pqc_proxy/status: {publisher: {depth: 3}}\n    role: drone\n"
                 "    start_type_description_service: true\n    tunnel: daemon\n    use_sim_time: false\n"),
            (FlatConfig{{"role", "drone"}}));
}

TEST_F(ConfigYaml, BlocksOfTheNamedNodeCountInTheOrderOfRcl) {
  const auto first = (folder / "1.yaml").string(), second = (folder / "2.yaml").string();
  test::write_text(first,
                   "/**: {ros__parameters: {a: 1, b: 1, c: 1, d: 1, autostart: true}}\n"
                   "/gcs/pqc_proxy: {ros__parameters: {a: 2, c: 2}}\n"
                   "/**: {pqc_proxy: {ros__parameters: {b: 3}}}\n"
                   "/drone: {'*': {ros__parameters: {c: 4}}, pqc_policy: {ros__parameters: {c: 5}}}\n");
  test::write_text(second, "/**: {ros__parameters: {a: 6, d: 6}}\n/other/pqc_proxy: {ros__parameters: {d: 9}}\n");
  const auto read = [&](std::vector<std::string> files, std::string node) {
    return ConfigSources{std::move(files), {}, std::move(node)}.read();
  };
  // What a ROS node of that name gets of the same files (pqc_mav_common's test_config_file.py asks one).
  EXPECT_EQ(read({first, second}, "/gcs/pqc_proxy"), (FlatConfig{{"a", 2}, {"b", 3}, {"c", 2}, {"d", 6}}));
  EXPECT_EQ(read({second, first}, "/gcs/pqc_proxy"), (FlatConfig{{"a", 2}, {"b", 3}, {"c", 2}, {"d", 1}}));
  EXPECT_EQ(read({first, second}, "/drone/pqc_proxy"), (FlatConfig{{"a", 6}, {"b", 3}, {"c", 4}, {"d", 6}}));
  EXPECT_EQ(read({second}, "/fleet/a/pqc_proxy"), (FlatConfig{{"a", 6}, {"d", 6}}));
  test::write_text(second, "/other/pqc_proxy: {ros__parameters: {d: 9}}\n");
  EXPECT_EQ(read({second, first}, "/pqc_proxy").at("d"), ConfigValue(1)) << "one file may have nothing for it";
  expect_error(Errc::config_syntax, {"2.yaml", "without a block for /gcs/pqc_proxy"},
               [&] { (void)read({second}, "/gcs/pqc_proxy"); });
}

TEST_F(ConfigYaml, LaterFilesWinAndSettingsWinAgainstAll) {
  const auto first = (folder / "1.yaml").string(), second = (folder / "2.yaml").string();
  test::write_text(first, "{role: gcs, drones: [a, b], grace_s: 1.5, drone: {a: {plain_peer: x}}}");
  test::write_text(second, "{grace_s: 2.5, drones: [c]}");
  const FlatConfig expected{{"role", "drone"}, {"drones", Names{"c"}}, {"grace_s", 2.5}, {"drone.a.plain_peer", "y"}};
  EXPECT_EQ((ConfigSources{{first, second}, {"role=drone", "drone.a={plain_peer: y}"}, {}}.read()), expected);
  const FlatConfig set{
      {"a", Names{"x", "y"}}, {"b", ""}, {"c", "d=e"}, {"keys", std::string(std::getenv("HOME")) + "/k"}};
  EXPECT_EQ((ConfigSources{{}, {"a=[]", "a=[x, y]", "b=''", "c=d=e", "keys=~/k"}, {}}.read()), set);
  for (const auto* bad : {"a", "=a", "a=", "a=[", "a=[[b]]"})
    expect_error(Errc::config_syntax, {std::string("The setting '") + bad + "'"},
                 [&] { (void)ConfigSources{{}, {bad}, {}}.read(); });
}

TEST_F(ConfigYaml, ATildeInPathsIsTheHome) {
  const char* home = std::getenv("HOME");
  ASSERT_NE(home, nullptr);
  const FlatConfig expected{
      {"keys", std::string(home) + "/keys"}, {"state_dir", std::string(home)}, {"peer", "~/keys"}};
  EXPECT_EQ(load("{keys: ~/keys, state_dir: '~', peer: ~/keys}"), expected);
  EXPECT_EQ(load("{keys: ~other/keys}"), (FlatConfig{{"keys", "~other/keys"}}));
}

TEST_F(ConfigYaml, TypesOfScalars) {
  const FlatConfig values = load(
      "a: true\nb: FALSE\nc: 12\nd: -12\ne: 1e3\nf: .5\ng: '12'\nh: \"true\"\ni: text\nj: nan\nk: infinity\nl: "
      "1.2.3\nm: 0x10\nn: 99999999999999999999\no: yes\np: []\nq: ''\n");
  const FlatConfig expected{{"a", true},       {"b", false},   {"c", 12},     {"d", -12},    {"e", 1000.0},
                            {"f", 0.5},        {"g", "12"},    {"h", "true"}, {"i", "text"}, {"j", "nan"},
                            {"k", "infinity"}, {"l", "1.2.3"}, {"m", "0x10"}, {"n", 1e20},   {"o", "yes"},
                            {"p", Names{}},    {"q", ""}};
  for (const auto& [key, value] : expected) EXPECT_EQ(values.at(key), value) << key;
}

TEST_F(ConfigYaml, BrokenSyntaxWithItsLine) {
  expect_refused({"tunnel.yaml, line 3"}, "role: gcs\nkeys: [a, b\n");
  expect_refused({"tunnel.yaml, line 3"}, "role: gcs\nkeys: x\n  indented: y\n");
  expect_refused({"tunnel.yaml, line 1"}, "role: *nowhere\n");
  expect_refused({"tunnel.yaml, line 1"}, "\t- x: y");
  expect_refused({"tunnel.yaml"}, std::string("\x00\x01\xff\xfe", 4));
}

TEST_F(ConfigYaml, NotAMapping) {
  expect_refused({"is empty"}, "");
  expect_refused({"is empty"}, "# only a comment\n");
  expect_refused({"is empty"}, "---\n");
  expect_refused({"key: value"}, "just a text\n");
  expect_refused({"key: value"}, "- a\n- list\n");
  expect_refused({"several documents"}, "role: gcs\n---\nrole: drone\n");
  for (const auto* text : {",", ",`", "}", "]", "role: gcs\n...\n,"}) expect_refused({"tunnel.yaml"}, text);
}

TEST_F(ConfigYaml, ValuesThatAreNoValues) {
  expect_refused({"line 1", "'keys' has no value"}, "keys:\n");
  expect_refused({"line 1", "'keys' has no value"}, "keys: ~\n");
  expect_refused({"line 2", "'drones' must be a list of strings"}, "role: gcs\ndrones: [a, [b]]\n");
  expect_refused({"'drones' must be a list of strings"}, "drones: [a, {b: c}]\n");
  expect_refused({"tunnel.yaml"}, "? [a, b]\n: c\n");
}

TEST_F(ConfigYaml, Duplicates) {
  expect_refused({"line 2", "'role' is given twice"}, "role: gcs\nrole: drone\n");
  expect_refused({"line 2", "'drones' is given twice"}, "drones: [a]\ndrones: [b]\n");
  expect_refused({"line 4", "'drone.a.plain_peer' is given twice"},
                 "drone.a.plain_peer: x\ndrone:\n  a:\n    plain_peer: y\n");
}

TEST_F(ConfigYaml, NestedTooDeep) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += std::string(static_cast<std::size_t>(i), ' ') + "k:\n";
  expect_refused({"nested too deeply"}, text + std::string(20, ' ') + "k: v\n");
  expect_refused({"tunnel.yaml"}, "a: " + std::string(100000, '['));
  expect_refused({"tunnel.yaml"}, std::string(100000, '{'));
}

TEST_F(ConfigYaml, AliasesDoNotMultiplyWithoutLimit) {
  // Nine lines that stand for nine to the eighth values.
  std::string text = "a0: &a0 {x1: 1, x2: 1, x3: 1, x4: 1, x5: 1, x6: 1, x7: 1, x8: 1, x9: 1}\n";
  for (int i = 1; i < 8; ++i) {
    const auto last = "*a" + std::to_string(i - 1), name = "a" + std::to_string(i);
    text += name + ": &" + name + " {";
    for (int k = 1; k <= 9; ++k) text += (k == 1 ? "x" : ", x") + std::to_string(k) + ": " + last;
    text += "}\n";
  }
  expect_refused({"values"}, text);
  EXPECT_EQ(load("a: &a [x]\nb: *a\n").at("b"), ConfigValue(Names{"x"})) << "aliases as such are fine";
}

TEST_F(ConfigYaml, AFileHasRoomForTenThousandDronesAndAliasesForNoMore) {
  std::string drones = "drone:\n";
  for (int i = 0; i < 10'000; ++i)
    drones += "  d" + std::to_string(i) + ": {plain_peer: '127.0.0.1:14550', a: 1, b: 1}\n";
  EXPECT_EQ(load(drones).size(), 30'000u);
  std::string names = "a: &a [x";
  for (int i = 0; i < 999; ++i) names += ", x";
  names += "]\n";
  for (int i = 0; i < 100; ++i) names += "b" + std::to_string(i) + ": *a\n";
  expect_refused({"more than 100000 values"}, names);
}

TEST_F(ConfigYaml, FilesThatAreNone) {
  expect_error(Errc::config_syntax, {"missing.yaml", "No such file"},
               [&] { (void)ConfigSources{{folder / "missing.yaml"}, {}, {}}.read(); });
  expect_error(Errc::config_syntax, {folder.path().string()},
               [&] { (void)ConfigSources{{folder.path().string()}, {}, {}}.read(); });
  expect_error(Errc::config_syntax, {"at most 1 MiB"}, [&] { (void)load(std::string((1 << 20) + 1, '#')); });
  EXPECT_EQ(load("role: gcs\n" + std::string((1 << 20) - 10, '#')).size(), 1u);
}

}  // namespace
}  // namespace pqcmav
