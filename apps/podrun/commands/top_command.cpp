// SPDX-License-Identifier: Apache-2.0
// `podrun top`: its options, and the run that they ask for.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/top/top_run.hpp"

#include "cli/option_rows.hpp"
#include "cli/option_values.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

/// With more hosts the default interval is longer.
constexpr std::size_t kManyHosts = 256;
constexpr std::chrono::seconds kInterval{2};
constexpr std::chrono::seconds kIntervalOfMany{5};
constexpr std::chrono::minutes kMostInterval{10};

class TopCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const cli::Rows rows{table, "podrun top"};
    rows.flag(cli::OptionSet::own, "--once", "Print one table, for a pipe, and exit",
              cli::into(request_.is_once));
    rows.value(cli::OptionSet::own, "--count N", "With --json: exit after N samples of each host",
               cli::into(request_.count, cli::count_from(1)));
    rows.value(cli::OptionSet::own, "--interval TIME",
               "Time between two samples of a host (2s; 5s for more than 256 hosts)",
               cli::into(interval_, cli::parse_positive_duration));
    rows.flag(cli::OptionSet::own, "--gpu", "Ask nvidia-smi for GPU figures (default)",
              cli::into(request_.asks_gpus));
  }

  void check(cli::Options& options, const cli::OptionTable& /*table*/) override {
    if (interval_ && *interval_ > kMostInterval)
      throw UsageError(
          "top: --interval is at most 10 min (podrun top --once, from cron, looks now and then)");
    if (request_.count && request_.is_once)
      throw UsageError("top: --once is one sample of each host (leave out -n or --once)");
    if (request_.count && !options.json)
      throw UsageError("top: -n counts the samples of --json (add --json)");
  }

  int run(const cli::Context& context) override {
    const cli::Options& options = context.options;
    session::SessionSpec spec = options.json ? context.session_for_reader() : context.session_spec();
    const std::chrono::seconds usual = spec.hosts.size() > kManyHosts ? kIntervalOfMany : kInterval;
    request_.interval = interval_.value_or(usual);
    session::RunSpec run = top::top_run(spec, request_);
    run.view.json = options.json;
    if (options.dry_run) return context.describe(spec, cli::describe_run(run));
    if (request_.is_once || options.json) {
      session::Session session(spec, context.probe, session::Session::Connections::closed);
      return top::print_samples(session, run, request_);
    }
    return show_screen(context, std::move(spec), std::move(run));
  }

 private:
  int show_screen(const cli::Context& context, session::SessionSpec spec, session::RunSpec run) const {
    const std::string term = context.probe.env("TERM").value_or("");
    output::FullScreen screen(term);
    spec.status.way = output::StatusWay::none;
    spec.status.lists = false;
    run.plan.verbosity = session::kQuiet;
    session::Session session(spec, context.probe, session::Session::Connections::closed);
    return top::show_screen(session, run, request_, screen, palette(context, term),
                            {.options = host_options(context.table), .has_ssh = context.options.via.empty()});
  }

  static top::Palette palette(const cli::Context& context, const std::string& term) {
    const std::optional<std::string> no_color = context.probe.env("NO_COLOR");
    const output::ColorEnvironment environment{no_color ? no_color->c_str() : nullptr, term.c_str()};
    if (output::choose_color(context.options.color, environment, true) == output::Color::off)
      return top::Palette::none;
    const bool has_256 = term.find("256color") != std::string::npos || context.probe.env("COLORTERM");
    return has_256 ? top::Palette::full : top::Palette::basic;
  }

  /// `-H 'tpu-[0-3]' `: how another podrun command finds these hosts.
  static std::string host_options(const cli::OptionTable& table) {
    std::string words;
    for (const cli::OptionEntry& option : table.entries()) {
      if (option.row.set != cli::OptionSet::reach || !option.is_on_command_line() ||
          option.key() == "workers")
        continue;
      for (const cli::GivenValue& value : option.given) {
        const bool is_flag = option.kind == cli::OptionKind::flag;
        words += (is_flag && value.text == "false" ? "--no-" : "--") + option.key();
        if (!is_flag) words += " " + shell_quote(value.text);
        words += ' ';
      }
    }
    return words;
  }

  top::SampleRequest request_;
  std::optional<std::chrono::seconds> interval_;
};

}  // namespace

std::unique_ptr<cli::Command> make_top_command() { return std::make_unique<TopCommand>(); }

}  // namespace podrun::commands
