// SPDX-License-Identifier: Apache-2.0
// The rows: what each podrun command is called, takes and does.
#include "commands/command_table.hpp"

#include <array>

#include "commands/check_command.hpp"
#include "commands/config_command.hpp"
#include "commands/help_command.hpp"
#include "commands/hosts_command.hpp"
#include "commands/run_command.hpp"
#include "commands/ssh_command.hpp"

namespace podrun::commands {

std::span<const cli::CommandRow> command_table() {
  using enum cli::OptionSet;
  constexpr cli::OptionSets kWhatRunTakes{reach,       general, looks, connect_timeout, launch,
                                          own_command, output,  json,  force,           dry_run};
  static const std::array<cli::CommandRow, 6> kRows{{
      {.name = "run",
       .usage = "  podrun [OPTIONS] -- COMMAND [ARG...]     run a command on every host\n"
                "  podrun [OPTIONS] -s SCRIPT [-- ARG...]   run a local script on every host\n"
                "  echo TEXT | podrun [OPTIONS]             run shell text on every host\n",
       .summary = "Run a command on every host, at once, and print its output live",
       .takes = kWhatRunTakes,
       .runs_users_command = true,
       .make = make_run_command},
      {.name = "hosts",
       .usage = "  podrun hosts [OPTIONS]\n",
       .summary = "List the hosts, and where they were found",
       .takes = {reach, general, looks, json, force},
       .make = make_hosts_command},
      {.name = "check",
       .usage = "  podrun check [OPTIONS]\n",
       .summary = "Test that every host can be reached, and that all agree",
       .takes = {reach, general, looks, connect_timeout, launch, json, dry_run},
       .make = make_check_command},
      {.name = "config",
       .usage = "  podrun config [OPTIONS]\n",
       .summary = "Show the options in effect, and where each comes from",
       .takes = kWhatRunTakes,
       .make = make_config_command},
      {.name = "ssh",
       .usage = "  podrun ssh [OPTIONS] WORKER [ARG...]\n",
       .summary = "Start your own ssh to a host (by worker number or name)",
       .takes = {reach, general, looks, connect_timeout, dry_run},
       .operands = {.least = 1,
                    .most = 1,
                    .missing = "which host? (podrun ssh WORKER; podrun hosts lists them)",
                    .rest_is_its_own = true},
       .make = make_ssh_command},
      {.name = "help",
       .usage = "  podrun help [COMMAND | all]\n",
       .summary = "Show the page of a command, or every option",
       .takes = {general},
       .operands = {.most = 1},
       .reads_config = false,
       .make = make_help_command},
  }};
  return kRows;
}

}  // namespace podrun::commands
