// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "podrun/base/defaults.hpp"
#include "podrun/base/regex.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/output/status_line.hpp"
#include "podrun/restarts/restart_policy.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/session/choose_sinks.hpp"
#include "podrun/ssh/config/ssh_config.hpp"
#include "podrun/transfer/remote_paths.hpp"

// The values of the options that several commands take. A command's own options are in its file.
namespace podrun::cli {

/// Which hosts, and how they are reached.
struct ReachOptions {
  hosts::HostQuery hosts;
  std::string pod;  ///< empty: none of the configuration
  std::string via;  ///< empty: not given
  ssh::SshCommandLine ssh;
};

/// A variable or a file of variables that the configuration gives to the command.
struct ConfiguredEnvironment {
  bool is_file = false;
  std::string text;   ///< `NAME=VALUE`, `NAME` or the path of the file
  std::string where;  ///< `~/.config/podrun/config.yaml:7: env`
};

/// The command to run, with its environment and directory.
struct WhatRunsOptions {
  std::optional<std::vector<std::string>> words;  ///< after `--`
  std::optional<std::string> script;
  bool exact_words = false;              ///< also a single word is a program
  std::vector<std::string> environment;  ///< each `-e`
  std::vector<std::string> environment_files;
  std::vector<ConfiguredEnvironment> configured_environment;  ///< a later one wins
  std::optional<std::string> directory;
  bool same_directory = false;
  bool clean_up = false;
  bool login = false;
  bool sudo = false;
  bool feed_input = false;
  bool detach = false;   ///< the `run` of a task becomes a job
  bool on_host = false;  ///< a task for a container image runs on the hosts themselves
};

/// Start, failure, end.
struct LimitOptions {
  run::Limits limits;
  std::chrono::seconds orphan_timeout = kDefaultOrphanTimeout;
  bool connect_timeout_given = false;
  bool retries_given = false;
  bool attempts_chosen = false;                               ///< one of these two on the command line
  std::size_t max_files = transfer::PathBudget::kUsualPaths;  ///< paths that podrun keeps of a host
  bool spread = false;                                        ///< hosts hand files on to each other
};

/// Whether and how a command is started again.
struct RestartOptions {
  bool may_restart = false;  ///< --restarts was given
  restarts::RestartLimits restart_limits;
  std::string prepare;
  restarts::StallLimits stall_limits;
  std::optional<Regex> stall_progress;
  std::string on_stall;             ///< the path of a script; empty: not given
  std::vector<std::string> notify;  ///< each --notify
};

/// How output is shown and stored; `view()` adds what `append` and `force` mean for it.
struct OutputOptions : session::View {
  output::Progress progress = output::Progress::automatic;
  bool append = false;  ///< with `outdir`
  bool force = false;   ///< with `outdir`, `podrun hosts --save`, `podrun push` and copies of a task
  int verbosity = 0;
};

/// The command line and the configuration, split into what each part needs; no host is looked up yet.
struct Options : ReachOptions, WhatRunsOptions, LimitOptions, RestartOptions, OutputOptions {
  bool dry_run = false;
  bool version = false;
  std::vector<std::string> operands;  ///< words after the name of a podrun command: the host of `podrun ssh`
  std::optional<std::string> source_host;  ///< a host that takes part even if it is not chosen: 3 of 3:ckpt
  std::vector<std::string> rest;  ///< all words after the last operand, for commands that pass them on

  std::vector<std::string> arguments;            ///< the command line as it was given
  std::vector<std::string> arguments_to_repeat;  ///< without what the retry command sets itself
  std::vector<std::string> arguments_of_run;     ///< options for a run of the same command, up to `--`
  std::string words_for_hosts;                   ///< see repeated_words.hpp
  std::string kept_in;                           ///< the directory of the job that this run is; empty: none
};

}  // namespace podrun::cli
