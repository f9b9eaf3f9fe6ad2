// SPDX-License-Identifier: Apache-2.0
// The rows of the options that say what becomes of the output.
#include "cli/option_values.hpp"
#include "cli/run_options.hpp"

namespace podrun::cli {
namespace {

OptionRow output_row(OptionSet set, std::string_view names, std::string_view help, std::string_view type = {},
                     std::string_view default_text = {}) {
  return {.topic = kOutputTopic,
          .set = set,
          .names = names,
          .help = help,
          .type = type,
          .default_text = default_text};
}

void add_looks(OptionTable& table, OutputOptions& options) {
  table.value({.topic = kOutputTopic,
               .set = OptionSet::output,
               .names = "--label",
               .help = "Text before each line: {} (default), host, both or none",
               .type = "WHAT",
               .default_text = "worker",
               .choices = "worker host both none",
               .subject = "label"},
              [&](const std::string& text) {
                options.label = parse_choice<output::Label>(text, {{"worker", output::Label::worker},
                                                                   {"rank", output::Label::worker},
                                                                   {"host", output::Label::host},
                                                                   {"both", output::Label::both},
                                                                   {"none", output::Label::none}});
              });
  table.flag({.topic = kOutputTopic,
              .set = OptionSet::output,
              .names = "-N,--no-label",
              .help = "Print no label before lines",
              .subject = "label"},
             [&](bool is_on) {
               if (is_on) options.label = output::Label::none;
             });
  table.value({.topic = kOutputTopic,
               .set = OptionSet::looks,
               .names = "--progress",
               .help = "Show the status line: {} (default: on a terminal), always or never",
               .type = "WHEN",
               .default_text = "auto",
               .choices = "auto always never"},
              [&](const std::string& text) {
                options.progress =
                    parse_choice<output::Progress>(text, {{"auto", output::Progress::automatic},
                                                          {"always", output::Progress::always},
                                                          {"never", output::Progress::never}});
              });
  table.value({.topic = kOutputTopic,
               .set = OptionSet::looks,
               .names = "--color",
               .help = "Use colours: {} (default), always or never",
               .type = "WHEN",
               .default_text = "auto",
               .choices = "auto always never"},
              [&](const std::string& text) {
                options.color = parse_choice<output::ColorMode>(text, {{"auto", output::ColorMode::automatic},
                                                                       {"always", output::ColorMode::always},
                                                                       {"never", output::ColorMode::never}});
              });
}

void add_dedup(OptionTable& table, OutputOptions& options) {
  table.choice(
      {.topic = kOutputTopic,
       .set = OptionSet::output,
       .names = "-d,--dedup",
       .help = "Print lines shared by several hosts once, live; =log also ignores "
               "timestamps, pids and addresses",
       .common = true},
      "bytes", "-d,--dedup[=log]", [&](const std::string& text) {
        options.dedup = parse_choice<std::optional<output::Same>>(
            text == "true" ? "bytes" : text,
            {{"bytes", output::Same::bytes}, {"log", output::Same::log_line}, {"false", std::nullopt}});
      });
  table.value(output_row(OptionSet::output, "--window",
                         "Time that a line waits for other hosts, with -d ({})", "TIME", "500ms"),
              [&](const std::string& text) { options.dedup_limits.window = parse_milliseconds(text); });
  table.value(
      output_row(OptionSet::output, "--late",
                 "Time in which lines of late hosts are counted, not printed, with -d ({})", "TIME", "10s"),
      [&](const std::string& text) { options.dedup_limits.late = parse_milliseconds(text); });
}

void add_files(OptionTable& table, OutputOptions& options) {
  table.value({.topic = kOutputTopic,
               .set = OptionSet::output,
               .names = "--outdir",
               .help = "Write raw output to DIR/WORKER-HOST.out and .err too",
               .type = "DIR",
               .value = ValueKind::here},
              not_empty(options.outdir, "a directory"));
  table.flag({.topic = kOutputTopic,
              .set = OptionSet::output,
              .names = "--append",
              .help = "Append to existing files of --outdir",
              .repeat_sets = true},
             options.append);
  table.flag({.topic = kOutputTopic,
              .set = OptionSet::force,
              .names = "--force",
              .help = "Replace existing files (--outdir, hosts --save); delete all (push --delete)",
              .merge = Merge::not_allowed,
              .repeat_sets = true},
             options.force);
}

}  // namespace

void add_output_options(OptionTable& table, Options& options) {
  add_looks(table, options);
  add_dedup(table, options);
  table.flag(output_row(OptionSet::output, "-0,--rank0",
                        "Print only the first host's output, and the last lines of those that fail"),
             options.rank0);
  table.flag({.topic = kOutputTopic,
              .set = OptionSet::output,
              .names = "-b,--gather",
              .help = "Print output at the end, once for hosts that agree"},
             options.gather);
  table.flag({.topic = kOutputTopic,
              .set = OptionSet::json,
              .names = "--json",
              .help = "Print JSON, for programs (docs/json.md)",
              .common = true},
             options.json);
  add_files(table, options);
  table.flag(
      output_row(OptionSet::output, "--escape",
                 "Show control bytes as \\x1b (default on a terminal, except for colours)"),
      [&](bool is_on) { options.controls = is_on ? output::Controls::escape : output::Controls::pass; });
  table.count({.topic = kOutputTopic,
               .set = OptionSet::general,
               .names = "-v,--verbose",
               .help = "Print each step; twice: also the protocol",
               .common = true},
              options.verbosity);
  table.flag({.topic = kOutputTopic,
              .set = OptionSet::dry_run,
              .names = "--dry-run",
              .help = "Print what would run where",
              .merge = Merge::not_allowed,
              .common = true},
             options.dry_run);
}

void add_other_options(OptionTable& table, Options& options) {
  table.flag({.topic = kOtherTopic,
              .set = OptionSet::general,
              .names = "-V,--version",
              .help = "Print the version",
              .merge = Merge::not_allowed},
             options.version);
}

}  // namespace podrun::cli
