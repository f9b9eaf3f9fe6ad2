// SPDX-License-Identifier: Apache-2.0
#include "cli/option_checks.hpp"

#include <fmt/format.h>

#include "podrun/base/error.hpp"

namespace podrun::cli {
namespace {

/// `-N --label host`
bool contradicts_no_label(const OptionTable& table) {
  const auto given_last = [&table](std::string_view key) {
    const std::vector<GivenValue>& given = table.find(key)->given;
    return given.empty() ? "" : given.back().text;
  };
  return given_last("no-label") == "true" && table.is_given("label") && given_last("label") != "none";
}

/// --force and --append
void check_earlier_output(const Options& options, const OptionTable& table, const CommandRow& command) {
  if (options.force && options.outdir.empty() && command.takes.contains(OptionSet::output))
    throw UsageError("--force: it belongs to --outdir, or to podrun hosts --save (leave it out)");
  if (!table.is_on_command_line("append") || !options.append) return;
  if (options.outdir.empty())
    throw UsageError("--append: it belongs to --outdir (podrun --outdir DIR --append -- COMMAND)");
  if (options.force) throw UsageError("--append and --force contradict each other (give one)");
}

}  // namespace

void check_choice_of_hosts(const OptionTable& table) {
  for (const std::string_view other : {"hosts", "hostfile", "hosts-command"}) {
    for (const std::string_view one : {"pod", "hosts-command"}) {
      if (one != other && table.is_given(one) && table.is_given(other))
        throw UsageError(fmt::format("--{} and --{} both choose the hosts (give one)", one, other));
    }
  }
}

void check_shared_options(Options& options, const OptionTable& table, const CommandRow& command) {
  if (table.is_on_command_line("cache") && !table.is_given("hosts-command"))
    throw UsageError("--cache: it belongs to --hosts-command (leave it out)");
  check_earlier_output(options, table, command);
  if (options.same_directory && options.directory)
    throw UsageError("--cwd and --chdir both name a directory (give one)");
  if (contradicts_no_label(table)) throw UsageError("-N and --label contradict each other (give one)");
  if (options.feed_input && options.limits.serial != 0) {
    throw UsageError(
        "--stdin and --serial exclude each other (standard input is read once, for all hosts together)");
  }
  options.connect_timeout_given = table.is_given("connect-timeout");
  options.retries_given = table.is_given("retries");
}

}  // namespace podrun::cli
