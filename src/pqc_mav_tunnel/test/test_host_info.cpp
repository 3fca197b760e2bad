// SPDX-License-Identifier: Apache-2.0
#include "console/host_info.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace pqcmav {
namespace {

TEST(HostInfo, ValuesOfTheKernelsFiles) {
  const auto* text = "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
  EXPECT_EQ(value_in(text, "PRETTY_NAME", '='), "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(value_in("", "PRETTY_NAME", '='), "");
  EXPECT_EQ(value_in("MemTotal:        8000000 kB", "MemTotal", ':'), "8000000 kB");
}

TEST(HostInfo, TheProcessorOfAPcAndOfABoard) {
  EXPECT_EQ(cpu_model("processor : 0\nmodel name\t: AMD EPYC 7B13\n", ""), "AMD EPYC 7B13");
  EXPECT_EQ(cpu_model("processor : 0\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n", "other"),
            "Raspberry Pi 4 Model B Rev 1.4");
  EXPECT_EQ(cpu_model("processor : 0\n", std::string_view("Raspberry Pi 5\0", 15)), "Raspberry Pi 5");
}

TEST(HostInfo, ThisMachine) {
  const auto facts = host_info();
  EXPECT_GE(facts["cpu_count"].get<int>(), 1);
  EXPECT_GT(facts["ram_mib"].get<int>(), 0);
  EXPECT_FALSE(facts["kernel"].get<std::string>().empty() || facts["machine"].get<std::string>().empty());
}

}  // namespace
}  // namespace pqcmav
