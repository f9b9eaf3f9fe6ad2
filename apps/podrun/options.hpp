// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/discovery.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/output/color.hpp"
#include "podrun/output/dedup_sink.hpp"
#include "podrun/output/line_printer.hpp"
#include "podrun/output/status_line.hpp"
#include "podrun/run/check_report.hpp"
#include "podrun/run/run_policy.hpp"

namespace podrun {

/// The first word of the command line.
enum class Task { run, hosts, check, config, ssh };

/// How hosts are reached over SSH, as given; ssh_plan() reads it.
struct SshOptions {
  std::string user;        ///< empty: not given
  std::uint16_t port = 0;  ///< 0: not given
  std::vector<std::string> identities;
  std::vector<std::string> keywords;  ///< each `-o`
  std::string config_file;            ///< `-F`; empty: not given
};

/// A variable or a file of variables that the configuration gives to the command.
struct ConfiguredEnvironment {
  bool is_file = false;
  std::string text;   ///< `NAME=VALUE`, `NAME` or the path of the file
  std::string where;  ///< `~/.config/podrun/config.yaml:7: env`
};

/// The command line and the configuration, split into what each part needs; no host is looked up yet.
struct Options {
  Task task = Task::run;
  HostQuery hosts;
  std::string pod;                           ///< empty: none of the configuration
  bool forget_keys = false;                  ///< of Task::hosts
  CheckRequest check;                        ///< of Task::check
  std::optional<std::chrono::seconds> wait;  ///< of Task::check
  bool save = false;                         ///< of Task::hosts
  bool force = false;                        ///< with `save` or `outdir`
  std::string via;                           ///< empty: not given
  std::string ssh_rank;                      ///< of Task::ssh: a rank or a name
  std::vector<std::string> ssh_words;        ///< what stands behind it
  SshOptions ssh;

  // What runs
  std::optional<std::vector<std::string>> words;  ///< behind `--`
  std::optional<std::string> script;
  std::vector<std::string> environment;  ///< each `-e`
  std::vector<std::string> environment_files;
  std::vector<ConfiguredEnvironment> configured_environment;  ///< a later one wins
  std::optional<std::string> directory;
  bool same_directory = false;
  bool clean_up = false;
  bool login = false;
  bool sudo = false;
  bool feed_input = false;

  // Start, failure, end
  Limits limits;
  std::chrono::seconds orphan_timeout{120};

  // Output
  Label label = Label::rank;
  ColorMode color = ColorMode::automatic;
  Progress progress = Progress::automatic;
  std::optional<Controls> controls;  ///< none: colours alone on a terminal, everything elsewhere
  std::optional<Same> dedup;
  DedupLimits dedup_limits;
  bool rank0 = false;
  bool gather = false;
  bool json = false;
  std::string outdir;   ///< empty: not given
  bool append = false;  ///< with `outdir`
  int verbosity = 0;
  bool dry_run = false;
  bool version = false;

  bool connect_timeout_given = false;
  bool retries_given = false;

  std::vector<std::string> arguments;            ///< the command line as it was given
  std::vector<std::string> arguments_to_repeat;  ///< without --ranks, --append and --force
};

/// Text to print on standard output instead of running something.
struct Answer {
  std::string text;
};

/// Reads the configuration too. Throws UsageError: one line that names what is wrong and the way out.
std::variant<Options, Answer> parse_options(const std::vector<std::string>& arguments, const Probe& probe);

/// What `--help` prints.
std::string help_text();

}  // namespace podrun
