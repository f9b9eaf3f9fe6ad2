// SPDX-License-Identifier: Apache-2.0
// The options of --restarts: their rows, what contradicts them, and what they make of a run.
#include "cli/restart_rows.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/ranges.h>

#include "podrun/base/text.hpp"
#include "podrun/hosts/discovery.hpp"

#include "cli/option_rows.hpp"
#include "cli/option_values.hpp"

namespace podrun::cli {
namespace {

using enum OptionSet;

/// `93,126`, or `none`.
std::vector<int> parse_statuses(const std::string& text) {
  constexpr std::size_t kMost = 255;
  std::vector<int> statuses;
  if (text == "none") return statuses;
  for (const std::string_view part : split(text, ',')) {
    const std::optional<std::size_t> status = to_number(part);
    if (!status || *status == 0 || *status > kMost)
      throw UsageError(
          fmt::format("bad list \"{}\" (expected statuses from 1 to 255, as in 93,126, or none)", text));
    statuses.push_back(static_cast<int>(*status));
  }
  return statuses;
}

}  // namespace

void add_restart_options(OptionTable& table, RestartOptions& options) {
  const Rows rows{table, kRestartsTopic};
  restarts::RestartLimits& limits = options.restart_limits;
  rows.value(restarts, "--restarts N", "Start again after a failure or a lost host: N times",
             [&](const std::string& text) {
               limits.restarts = parse_count(text, 0);
               options.may_restart = true;
             },
             {.common = true});
  rows.value(restarts, "--wait-hosts TIME", "Wait for hosts that are gone for at most TIME, or forever ({})",
             [&](const std::string& text) {
               limits.wait_hosts =
                   text == "forever" ? std::nullopt : std::optional(parse_positive_duration(text));
             },
             {.default_text = limits.wait_hosts ? duration_option(*limits.wait_hosts) : "forever"});
  rows.value(restarts, "--restart-reset TIME", "A try that ran for TIME gives all N restarts back ({})",
             into(limits.reset, parse_positive_duration), {.default_text = duration_option(limits.reset)});
  rows.value(restarts, "--short-try TIME",
             "Stop where the command has never run for TIME, or failed sooner three times in a row ({})",
             into(limits.short_try, parse_positive_duration),
             {.default_text = duration_option(limits.short_try)});
  rows.value(restarts, "--final STATUS,...",
             "Never start again after one of these exit statuses, or none ({})",
             into(limits.final_statuses, parse_statuses),
             {.default_text = fmt::format("{}", fmt::join(limits.final_statuses, ","))});
  rows.value(restarts, "--prepare COMMAND",
             "Run COMMAND on this machine before each restart; status 75: ask again in a minute",
             not_empty(options.prepare, "shell text"));
  rows.value(restarts, "--stall TIME[:FIRST]",
             fmt::format(
                 "No output of any host for TIME, and a try FIRST old ({}): look what they do, and stop them",
                 duration_option(options.stall_limits.first)),
             [&](const std::string& text) {
               const std::size_t colon = std::min(text.find(':'), text.size());
               options.stall_limits.all = parse_positive_duration(text.substr(0, colon));
               if (colon < text.size()) options.stall_limits.first = parse_duration(text.substr(colon + 1));
             });
  rows.value(restarts, "--stall-progress REGEX",
             "For --stall only output that matches counts, as for grep -E",
             [&](const std::string& text) { options.stall_progress.emplace(text); });
  rows.value(restarts, "--on-stall SCRIPT",
             "Run this script on every host before a stop by --stall (stacks, kernel log, accelerators)",
             not_empty(options.on_stall, "a file"), {.value = ValueKind::local_file});
}

bool has_restarts(const Options& options) { return options.may_restart || options.stall_limits.are_set(); }

void check_restarts(const Options& options, const OptionTable& table) {
  const bool watches = options.stall_limits.are_set();
  if (!watches && !options.on_stall.empty()) throw UsageError("--on-stall: it belongs to --stall TIME");
  if (!watches && options.stall_progress) throw UsageError("--stall-progress: it belongs to --stall TIME");
  for (const std::string_view key : {"prepare", "wait-hosts", "restart-reset", "short-try", "final"}) {
    if (!options.may_restart && table.is_on_command_line(key))
      throw UsageError(fmt::format("--{}: it belongs to --restarts N", key));
  }
  if (!has_restarts(options)) return;
  const auto refuse = [&options](const std::string& option, const std::string& why) {
    throw UsageError(fmt::format("--{} and {} exclude each other ({})",
                                 options.may_restart ? "restarts" : "stall", option, why));
  };
  if (options.limits.serial > 0) refuse("--serial", "it is about all hosts together");
  if (options.limits.on_unreachable == run::OnUnreachable::skip)
    refuse("--skip-unreachable", "the command starts again when all hosts are there");
  if (options.feed_input) refuse("--stdin", "standard input is read once");
  if (options.detach) refuse("--detach", "podrun start NAME --restarts N keeps a command, not a task");
}

std::string describe_restarts(const Options& options) {
  std::string text;
  if (options.may_restart) {
    const std::optional<std::chrono::seconds> wait = options.restart_limits.wait_hosts;
    text += fmt::format("restarts: at most {} in a row, waiting for hosts {}\n",
                        options.restart_limits.restarts, wait ? "for " + format_duration(*wait) : "forever");
  }
  if (const std::optional<std::chrono::seconds>& limit = options.stall_limits.all)
    text += fmt::format("stalled: all hosts are silent for {}\n", format_duration(*limit));
  return text;
}

restarts::RestartSpec restart_spec(const Options& options, const hosts::Probe& probe) {
  restarts::RestartSpec spec;
  spec.limits = options.restart_limits;
  spec.limits.allowed = options.may_restart;
  spec.limits.timeout = options.limits.timeout;
  spec.prepare = options.prepare;
  spec.stall.limits = options.stall_limits;
  spec.stall.progress = options.stall_progress;
  if (!options.on_stall.empty()) {
    const std::optional<std::string> script = probe.read_file(options.on_stall);
    if (!script) throw UsageError(fmt::format("--on-stall: \"{}\" cannot be read", options.on_stall));
    spec.stall.script = *script;
  }
  if (!hosts::reads_standard_input(options.hosts))
    spec.find_hosts = [&options, &probe] { return hosts::discover(options.hosts, probe).hosts; };
  return spec;
}

void add_notify_options(OptionTable& table, std::vector<std::string>& commands) {
  const Rows rows{table, kLimitsTopic};
  rows.list(OptionSet::notify, "--notify COMMAND",
            "At the end run COMMAND on this machine, with the result as JSON on its standard input",
            [&commands](const std::string& text) {
              std::string command;
              not_empty(command, "shell text")(text);
              commands.push_back(command);
            },
            {.merge = Merge::adds});
}

}  // namespace podrun::cli
