// SPDX-License-Identifier: Apache-2.0
// The `pqc_proxy` process: start, orderly end on SIGINT and SIGTERM, exit code; SIGHUP has it read everything again.
#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <rclcpp/executors/single_threaded_executor.hpp>
#include <rclcpp/utilities.hpp>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "failure.hpp"
#include "proxy_node.hpp"
#include "signals.hpp"
#include "text.hpp"

namespace {

using pqc_mav_proxy_cpp::ExitCode;
using pqc_mav_proxy_cpp::Failure;
using pqc_mav_proxy_cpp::ProxyNode;

// Between being finalized and leaving: an answer that has not come to whoever asked for it is lost with this process.
constexpr std::chrono::seconds kAnswered{1};

void initialise(int argc, char** argv) {
  try {
    rclcpp::init(argc, argv, rclcpp::InitOptions(), rclcpp::SignalHandlerOptions::None);
  } catch (const std::exception& error) {
    throw Failure(std::string("Bad arguments: ") + error.what());
  }
}

ExitCode serve(int argc, char** argv) {
  pqc_mav_proxy_cpp::Signals::block();
  const std::vector<std::string> arguments(argv, argv + argc);
  pqc_mav_proxy_cpp::check_parameter_files(arguments);
  initialise(argc, argv);
  const auto node = std::make_shared<ProxyNode>(pqc_mav_proxy_cpp::options_of(arguments, ProxyNode::kName));
  rclcpp::executors::SingleThreadedExecutor executor;  // enough: the node's callbacks wait for no handshake
  executor.add_node(node->get_node_base_interface());
  rclcpp::TimerBase::SharedPtr leaving;
  auto code = ExitCode::ok;
  node->when_finalized([&] {
    leaving = node->create_wall_timer(kAnswered, [&] {
      code = ExitCode::finalized;
      executor.cancel();
    });
  });
  const pqc_mav_proxy_cpp::Signals signals([&] { node->reload(); }, [] { rclcpp::shutdown(); });
  executor.spin();
  return code;
}

int run(int argc, char** argv) {
  auto code = ExitCode::ok;
  std::string said;
  try {
    code = serve(argc, argv);
  } catch (const Failure& failure) {
    code = failure.code();
    said = failure.what();
  } catch (const std::exception& error) {
    code = ExitCode::failed;
    said = pqc_mav_proxy_cpp::one_line(error.what());
  }
  if (rclcpp::ok()) rclcpp::shutdown();
  if (!said.empty()) std::cerr << ProxyNode::kName << ": error: " << said << std::endl;
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) != "--version") continue;
    std::cout << ProxyNode::kName << " " << PQC_MAV_PROXY_CPP_VERSION << '\n';
    return 0;
  }
  return run(argc, argv);
}
