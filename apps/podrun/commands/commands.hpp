// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

/// Every podrun command. A new one is a file beside this, a function here and a row in command_table.cpp.
std::span<const cli::CommandRow> command_table();

std::unique_ptr<cli::Command> make_check_command();
std::unique_ptr<cli::Command> make_completion_command();
std::unique_ptr<cli::Command> make_config_command();
std::unique_ptr<cli::Command> make_example_command();
std::unique_ptr<cli::Command> make_exec_command();
std::unique_ptr<cli::Command> make_help_command();
std::unique_ptr<cli::Command> make_hosts_command();
std::unique_ptr<cli::Command> make_kill_command();
std::unique_ptr<cli::Command> make_launch_command();
std::unique_ptr<cli::Command> make_logs_command();
std::unique_ptr<cli::Command> make_ps_command();
std::unique_ptr<cli::Command> make_pull_command();
std::unique_ptr<cli::Command> make_push_command();
std::unique_ptr<cli::Command> make_rm_command();
std::unique_ptr<cli::Command> make_run_command();
std::unique_ptr<cli::Command> make_shell_command();
std::unique_ptr<cli::Command> make_ssh_command();
std::unique_ptr<cli::Command> make_start_command();
std::unique_ptr<cli::Command> make_stop_command();
std::unique_ptr<cli::Command> make_top_command();
std::unique_ptr<cli::Command> make_version_command();
std::unique_ptr<cli::Command> make_wait_command();

}  // namespace podrun::commands
