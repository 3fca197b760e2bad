// SPDX-License-Identifier: Apache-2.0
// One handshake of every core suite, each a test of its own. For emulated builds, where test_handshake's EveryKem, with
// both modes and the extended suites, would take too long.
#include <algorithm>

#include "handshake_fixture.hpp"

namespace pqcmav::test {
namespace {

class EveryCoreSuite : public ::testing::TestWithParam<const Suite*> {};

TEST_P(EveryCoreSuite, AgreesOnKeys) {
  const Scene scene{.suite = GetParam()};
  expect_agreement(scene, run(scene));
}

std::vector<const Suite*> core_suites() {
  std::vector<const Suite*> out;
  for (const auto& suite : all_suites())
    if (suite.core) out.push_back(&suite);
  return out;
}

std::string name_of(const ::testing::TestParamInfo<const Suite*>& info) {
  std::string name(info.param->id);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Core, EveryCoreSuite, ::testing::ValuesIn(core_suites()), name_of);

TEST(CoreSuites, Are72) { EXPECT_EQ(core_suites().size(), 72U); }

}  // namespace
}  // namespace pqcmav::test
