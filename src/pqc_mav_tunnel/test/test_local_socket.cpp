// SPDX-License-Identifier: Apache-2.0
#include "console/local_socket.hpp"

#include <sys/wait.h>

#include "local_client.hpp"
#include "temp_folder.hpp"

namespace pqcmav {
namespace {

using namespace test;

EngineConfig config_for(const std::string& path) {
  EngineConfig out;
  out.role = Role::drone;
  out.drone_id = "uav1";
  out.control_socket = path;
  out.control_socket_mode = 0660;
  return out;
}

TEST(LocalSocket, IsThereWithItsModeAndGoesAway) {
  const TempFolder folder;
  const auto path = folder / "own.sock";
  {
    const LocalSocket socket(config_for(path));
    EXPECT_EQ(socket.path(), path);
    EXPECT_EQ(mode_of(path), 0660u);
    EXPECT_TRUE(LocalClient(path).connected());
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(LocalSocket, IsNamedAfterTheEnd) {
  auto config = config_for("auto");
  EXPECT_EQ(socket_name(config), "drone-uav1.sock");
  config.role = Role::gcs;
  config.gcs_id = "gcs";
  EXPECT_EQ(socket_name(config), "gcs.sock");
  config.gcs_id = "north";
  EXPECT_EQ(socket_name(config), "gcs-north.sock");
}

TEST(LocalSocket, AutoIsInTheNamedFolder) {
  const TempFolder folder;
  ASSERT_EQ(::setenv(kRunFolderVariable, folder.path().c_str(), 1), 0);
  {
    const LocalSocket socket(config_for("auto"));
    EXPECT_EQ(socket.path(), folder / "drone-uav1.sock");
  }
  ASSERT_EQ(::setenv(kRunFolderVariable, "/nowhere/at/all", 1), 0);
  expect_error(Errc::permission, {"/nowhere/at/all", "control_socket"}, [] { LocalSocket(config_for("auto")); });
  ::unsetenv(kRunFolderVariable);
}

TEST(LocalSocket, ALiveOneIsNeverTaken) {
  const TempFolder folder;
  const auto path = folder / "own.sock";
  const LocalSocket first(config_for(path));
  expect_error(Errc::port_in_use, {path, "another engine"}, [&] { LocalSocket(config_for(path)); });
  EXPECT_TRUE(LocalClient(path).connected());
}

/// A process that is killed leaves its file.
TEST(LocalSocket, OneOfADeadProcessIsReplaced) {
  const TempFolder folder;
  const auto path = folder / "own.sock";
  const auto child = ::fork();
  if (child == 0) {
    const LocalSocket socket(config_for(path));
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_FALSE(LocalClient(path).connected());
  const LocalSocket socket(config_for(path));
  EXPECT_TRUE(LocalClient(path).connected());
}

TEST(LocalSocket, WhatIsNoSocketStays) {
  const TempFolder folder;
  write_text(folder / "note", "mine");
  expect_error(Errc::permission, {"no socket"}, [&] { LocalSocket(config_for(folder / "note")); });
  EXPECT_EQ(read_text(folder / "note"), "mine");
}

TEST(LocalSocket, AFileThatAnotherPutThereIsNotRemoved) {
  const TempFolder folder;
  const auto path = folder / "own.sock";
  {
    const LocalSocket socket(config_for(path));
    std::filesystem::remove(path);
    write_text(path, "mine");
  }
  EXPECT_EQ(read_text(path), "mine");
}

TEST(LocalSocket, GroupsAndPathsThatCannotBe) {
  const TempFolder folder;
  auto config = config_for(folder / "own.sock");
  config.control_socket_group = "no-such-group";
  expect_error(Errc::config_invalid, {"no-such-group"}, [&] { LocalSocket{config}; });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  expect_error(Errc::config_invalid, {"too long"}, [&] { LocalSocket(config_for(folder / std::string(200, 'x'))); });
  expect_error(Errc::permission, {"/nowhere/own.sock"}, [&] { LocalSocket(config_for("/nowhere/own.sock")); });
}

}  // namespace
}  // namespace pqcmav
