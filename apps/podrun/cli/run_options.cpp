// SPDX-License-Identifier: Apache-2.0
// The rows of the options that several commands take: hosts, SSH, what runs, limits. Those of the output are
// in output_options.cpp, those of one command in the command's file.
#include "cli/run_options.hpp"

#include "podrun/base/duration.hpp"
#include "podrun/config/described_hosts.hpp"
#include "podrun/ssh/config/proxy_jump.hpp"

#include "cli/habits.hpp"
#include "cli/host_list_command.hpp"
#include "cli/option_values.hpp"

namespace podrun::cli {
namespace {

OptionRow reach_row(std::string_view topic, std::string_view names, std::string_view help,
                    std::string_view type = {}) {
  return {.topic = topic, .set = OptionSet::reach, .names = names, .help = help, .type = type};
}

/// Sets which addresses are taken from a cloud's description of the hosts.
void read_addresses(hosts::HostQuery& hosts, config::Addresses which) {
  hosts.read_description = [which](const std::string& text, std::string_view where) {
    return config::hosts_of_description(text, which, where);
  };
}

void add_hosts_command(OptionTable& table, hosts::HostQuery& hosts) {
  table.value({.topic = kHostsTopic,
               .set = OptionSet::reach,
               .names = "--hosts-command",
               .help = "Run COMMAND on this machine and read the hosts from its output",
               .type = "COMMAND",
               .subject = "hosts"},
              [&](const std::string& text) { not_empty(hosts.command.emplace(), "shell text")(text); });
  table.value({.topic = kHostsTopic,
               .set = OptionSet::reach,
               .names = "--cache",
               .help = "Use the output of --hosts-command again for TIME",
               .type = "TIME"},
              [&](const std::string& text) {
                hosts.read_command = [cache = parse_positive_duration(text)](const std::string& command) {
                  return read_hosts_command(command, cache);
                };
              });
  table.flag(reach_row(kHostsTopic, "--external", "Take the external addresses from gcloud's description"),
             [&](bool is_on) {
               read_addresses(hosts, is_on ? config::Addresses::external : config::Addresses::internal);
             });
}

void add_host_lists(OptionTable& table, hosts::HostQuery& hosts, std::string& pod) {
  table.list({.topic = kHostsTopic,
              .set = OptionSet::reach,
              .names = "-H,--hosts",
              .help = "Hosts: a,b · tpu-[0-15,20] · user@host:port · local[0-3] · ^FILE",
              .type = "LIST",
              .value = ValueKind::host_list,
              .subject = "hosts",
              .common = true},
             [&](const std::string& text) {
               check_host_list(text);
               hosts.lists.push_back(text);
             });
  table.value({.topic = kHostsTopic,
               .set = OptionSet::reach,
               .names = "--hostfile,--machinefile",
               .help = "Read the hosts from a file, one per line",
               .type = "FILE",
               .value = ValueKind::local_file,
               .subject = "hosts"},
              [&](const std::string& text) {
                if (hosts.hostfile) throw UsageError("given twice (one file only)");
                hosts.hostfile = text;
              });
  table.value({.topic = kHostsTopic,
               .set = OptionSet::reach,
               .names = "-p,--pod",
               .help = "Use a pod of config.yaml (docs/configuration.md)",
               .type = "NAME",
               .subject = "hosts",
               .common = true},
              [&](const std::string& text) {
                if (!pod.empty()) throw UsageError("given twice (one pod only)");
                not_empty(pod, "a pod of the configuration")(text);
              });
  table.list({.topic = kHostsTopic,
              .set = OptionSet::reach,
              .names = "-x,--exclude-hosts",
              .help = "Leave out these hosts",
              .type = "LIST",
              .value = ValueKind::host_list},
             [&](const std::string& text) { hosts.exclude.push_back(text); });
}

void add_hosts(OptionTable& table, Options& options) {
  hosts::HostQuery& hosts = options.hosts;
  read_addresses(hosts, config::Addresses::internal);
  hosts.read_command = [](const std::string& command) { return read_hosts_command(command, std::nullopt); };
  add_host_lists(table, hosts, options.pod);
  add_hosts_command(table, hosts);
  table.value({.topic = kHostsTopic,
               .set = OptionSet::reach,
               .names = "--workers,--worker,--ranks",
               .help = "Use only these hosts, by worker number: 0,3-7 or all",
               .type = "NUMBERS",
               .merge = Merge::not_allowed,
               .common = true,
               .repeat_sets = true},
              [&](const std::string& text) { hosts.workers = text; });
  table.flag(reach_row(kHostsTopic, "-i,--include-local", "Include this machine"), [&](bool is_on) {
    hosts.include_local = is_on ? hosts::IncludeLocal::yes : hosts::IncludeLocal::no;
  });
  table.flag(reach_row(kHostsTopic, "--allow-repeats", "Allow a host to be given twice"),
             [&](bool is_on) { hosts.repeats = is_on ? hosts::Repeats::allow : hosts::Repeats::refuse; });
  table.value({.topic = kHostsTopic,
               .set = OptionSet::reach,
               .names = "--via",
               .help = "Command that opens a shell on a host, instead of SSH: 'ssh {host}'",
               .type = "WORDS",
               .value = ValueKind::via_words},
              [&](const std::string& text) {
                if (text.empty())
                  throw UsageError("no words (write how to reach a host, as in 'ssh {host}')");
                options.via = text;
              });
}

void add_ssh(OptionTable& table, Options& options) {
  ssh::SshCommandLine& ssh = options.ssh;
  table.value(reach_row(kSshTopic, "-l,--user", "Log in as USER (default: your name here)", "USER"),
              not_empty(ssh.user, "who you are on the hosts"));
  table.value(reach_row(kSshTopic, "--port", "Port of hosts listed without one (22)", "PORT"),
              [&](const std::string& text) { ssh.port = parse_port(text); });
  table.list({.topic = kSshTopic,
              .set = OptionSet::reach,
              .names = "--identity",
              .help = "Log in with this private key (default: the agent's keys, and those in ~/.ssh)",
              .type = "FILE",
              .value = ValueKind::local_file},
             [&](const std::string& text) { ssh.identities.push_back(text); });
  table.value({.topic = kSshTopic,
               .set = OptionSet::reach,
               .names = "-J,--jump",
               .help = "Connect through these hosts, as ssh -J: user@bastion:port,…",
               .type = "HOSTS",
               .value = ValueKind::jump_hosts},
              [&](const std::string& text) {
                ssh::parse_proxy_jump(text);
                ssh.options.push_back("ProxyJump=" + text);
              });
  table.value({.topic = kSshTopic,
               .set = OptionSet::reach,
               .names = "-F,--ssh-config",
               .help = "Read this file instead of ~/.ssh/config and the system's, as ssh -F",
               .type = "FILE",
               .value = ValueKind::local_file},
              not_empty(ssh.config_file, "an ssh_config, or none"));
  table.list({.topic = kSshTopic,
              .set = OptionSet::reach,
              .names = "-o,--ssh-option",
              .help = "Set an option of ssh_config: StrictHostKeyChecking=yes, BindAddress=…",
              .type = "KEY=VALUE",
              .merge = Merge::adds,
              .value = ValueKind::ssh_keyword},
             [&](const std::string& text) { ssh.options.push_back(text); });
}

void add_environment(OptionTable& table, Options& options) {
  table.list({.topic = kCommandTopic,
              .set = OptionSet::surroundings,
              .names = "-e,--env",
              .help = "Set a variable; without =VALUE, copy this shell's",
              .type = "NAME[=VALUE]",
              .merge = Merge::adds,
              .value = ValueKind::variable,
              .common = true},
             [&](const std::string& text) { options.environment.push_back(text); });
  table.list({.topic = kCommandTopic,
              .set = OptionSet::surroundings,
              .names = "--env-file",
              .help = "Set the variables of a file of NAME=VALUE lines",
              .type = "FILE",
              .merge = Merge::adds,
              .value = ValueKind::variable_file},
             [&](const std::string& text) { options.environment_files.push_back(text); });
  table.flag({.topic = kCommandTopic,
              .set = OptionSet::directory,
              .names = "-w,--cwd",
              .help = "Run in the same directory as here",
              .subject = "directory",
              .common = true},
             options.same_directory);
  table.value({.topic = kCommandTopic,
               .set = OptionSet::directory,
               .names = "--chdir",
               .help = "Run in this directory",
               .type = "DIR",
               .subject = "directory"},
              [&](const std::string& text) {
                not_empty(options.directory.emplace(), "a directory of the hosts")(text);
              });
}

void add_what_runs(OptionTable& table, Options& options) {
  table.value(
      {.topic = kCommandTopic,
       .set = OptionSet::script,
       .names = "-s,--script",
       .help = "Run a local script (-: standard input); its #! line names the interpreter, else /bin/sh",
       .type = "FILE",
       .merge = Merge::not_allowed},
      [&](const std::string& text) { options.script = text; });
  add_environment(table, options);
  table.flag(
      {.topic = kCommandTopic,
       .set = OptionSet::clean_up,
       .names = "-c,--clean-up",
       .help = "First remove stale libtpu locks and move old logs aside; an error if the TPU is in use"},
      options.clean_up);
  table.flag({.topic = kCommandTopic,
              .set = OptionSet::surroundings,
              .names = "--login",
              .help = "Run through a login shell"},
             options.login);
  table.flag({.topic = kCommandTopic,
              .set = OptionSet::start,
              .names = "--sudo",
              .help = "Run as root, through sudo -n"},
             options.sudo);
  table.flag({.topic = kCommandTopic,
              .set = OptionSet::batches,
              .names = "-I,--stdin",
              .help = "Copy standard input to every host",
              .merge = Merge::not_allowed,
              .common = true},
             options.feed_input);
  table.flag({.topic = kCommandTopic,
              .set = OptionSet::task,
              .names = "--detach",
              .help = "Start run as a job with the task's name, which outlives this terminal",
              .merge = Merge::not_allowed},
             options.detach);
}

OptionRow limit_row(OptionSet set, std::string_view names, std::string_view help, std::string_view type = {},
                    std::string_view default_text = {}) {
  return {.topic = kLimitsTopic,
          .set = set,
          .names = names,
          .help = help,
          .type = type,
          .default_text = default_text};
}

void add_start(OptionTable& table, run::Limits& limits) {
  table.flag(limit_row(OptionSet::batches, "--skip-unreachable",
                       "Run on the hosts that can be reached (default: on all or none)"),
             [&](bool is_on) {
               limits.on_unreachable = is_on ? run::OnUnreachable::skip : run::OnUnreachable::stop;
             });
  table.value(
      limit_row(OptionSet::start, "-f,--fanout", "Connect to at most N hosts at a time ({})", "N", "128"),
      [&](const std::string& text) { limits.fanout = parse_count(text); });
  table.value(limit_row(OptionSet::batches, "--serial",
                        "Run on N hosts at a time; stop after the first batch that fails", "N"),
              [&](const std::string& text) { limits.serial = parse_count(text); });
  table.value(limit_row(OptionSet::connect_timeout, "-t,--connect-timeout",
                        "Time for a host to become ready, per attempt ({})", "TIME", "10s"),
              [&](const std::string& text) { limits.connect_timeout = parse_positive_duration(text); });
  table.value(limit_row(OptionSet::start, "--retries",
                        "Retry failures that may be temporary up to N times ({})", "N", "2"),
              [&](const std::string& text) { limits.retries = parse_count(text, 0); });
}

void add_limits(OptionTable& table, Options& options) {
  static const std::string grace = duration_option(kDefaultGrace);
  static const std::string orphan_timeout = duration_option(kDefaultOrphanTimeout);
  run::Limits& limits = options.limits;
  add_start(table, limits);
  table.value({.topic = kLimitsTopic,
               .set = OptionSet::timeout,
               .names = "-u,--timeout",
               .help = "Stop a command after TIME (none; podrun check: 1m)",
               .type = "TIME",
               .common = true},
              [&](const std::string& text) { limits.timeout = parse_positive_duration(text); });
  table.flag(
      {.topic = kLimitsTopic,
       .set = OptionSet::batches,
       .names = "-k,--fail-fast",
       .help = "Stop the others at the first failure",
       .common = true},
      [&](bool is_on) { limits.on_failure = is_on ? run::OnFailure::stop_others : run::OnFailure::go_on; });
  table.value(limit_row(OptionSet::start, "--grace", "Time between TERM and KILL ({}; podrun kill: 30s)",
                        "TIME", grace),
              [&](const std::string& text) { limits.grace = parse_duration(text); });
  table.value(
      limit_row(OptionSet::start, "--orphan-timeout",
                "Time without contact after which a host stops its command ({})", "TIME", orphan_timeout),
      [&](const std::string& text) { options.orphan_timeout = parse_positive_duration(text); });
  table.value(limit_row(OptionSet::files, "--max-files",
                        "Accept at most N paths from a host: to copy, or to delete ({})", "N", "250000"),
              [&](const std::string& text) { options.max_files = parse_count(text); });
}

}  // namespace

std::function<void(const std::string&)> not_empty(std::string& target, const std::string& advice) {
  return [&target, advice](const std::string& text) {
    if (text.empty()) throw UsageError("an empty name (write " + advice + ")");
    target = text;
  };
}

void add_shared_options(OptionTable& table, Options& options) {
  add_hosts(table, options);
  add_ssh(table, options);
  add_what_runs(table, options);
  add_limits(table, options);
  add_output_options(table, options);
}

}  // namespace podrun::cli
