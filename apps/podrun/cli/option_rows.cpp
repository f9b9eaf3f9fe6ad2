// SPDX-License-Identifier: Apache-2.0
// The rows of the options that several commands take: hosts, SSH, what runs, limits, output. An option of a
// single command is in the command's file.
#include "cli/option_rows.hpp"

#include <tuple>

#include "podrun/base/text.hpp"
#include "podrun/check/check_run.hpp"
#include "podrun/config/described_hosts.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/kill/kill_run.hpp"
#include "podrun/reach/host_list_command.hpp"
#include "podrun/ssh/config/proxy_jump.hpp"

#include "cli/option_values.hpp"
#include "cli/restart_rows.hpp"

namespace podrun::cli {
namespace {

using enum OptionSet;

/// Adds a row for when something is shown.
template <typename When>
void add_when(const Rows& rows, std::string_view names, const std::string& help, When& target) {
  const WordChoice<When> parse{{{"auto", When::automatic}, {"always", When::always}, {"never", When::never}}};
  rows.value(looks, names, help, into(target, parse),
             {.default_text = parse.word_for(target), .choices = "auto always never"});
}

/// Sets which addresses are taken from a cloud's description of the hosts.
void read_addresses(hosts::HostQuery& hosts, config::Addresses which) {
  hosts.external = which == config::Addresses::external;
  hosts.read_description = [which](const std::string& text, std::string_view where) {
    return config::hosts_of_description(text, which, where);
  };
}

/// Sets how long the output of --hosts-command is used again.
void read_command(hosts::HostQuery& hosts, std::optional<std::chrono::seconds> cache) {
  hosts.read_command = [cache](const std::string& command, const hosts::Probe& probe) {
    return reach::read_hosts_command(command, cache, probe);
  };
}

void add_host_lists(OptionTable& table, hosts::HostQuery& hosts, std::string& pod) {
  const Rows rows{table, kHostsTopic};
  rows.list(reach, "-H,--hosts LIST", "Hosts: a,b · tpu-[0-15,20] · local[0-3] · ^FILE",
            [&](const std::string& text) {
              hosts::check_is_not_a_file(text);
              hosts.lists.push_back(text);
            },
            {.value = ValueKind::host_list, .subject = "hosts", .common = true});
  rows.value(reach, "--hostfile,--machinefile FILE", "Read the hosts from a file, one per line",
             [&](const std::string& text) {
               if (hosts.hostfile) throw UsageError("given twice (one file only)");
               hosts.hostfile = text;
             },
             {.value = ValueKind::local_file, .subject = "hosts"});
  rows.value(reach, "-p,--pod NAME", "Use a pod of config.yaml (podrun help configuration)",
             [&](const std::string& text) {
               if (!pod.empty()) throw UsageError("given twice (one pod only)");
               not_empty(pod, "a pod of the configuration")(text);
             },
             {.subject = "hosts", .common = true});
  rows.list(reach, "-x,--exclude-hosts LIST", "Leave out these hosts", into(hosts.exclude),
            {.value = ValueKind::host_list});
  rows.value(reach, "--hosts-command COMMAND",
             "Run COMMAND on this machine and read the hosts from its output",
             [&](const std::string& text) { not_empty(hosts.command.emplace(), "shell text")(text); },
             {.subject = "hosts"});
  rows.value(reach, "--cache TIME", "Reuse the output of --hosts-command for TIME",
             [&](const std::string& text) { read_command(hosts, parse_positive_duration(text)); });
}

void add_hosts(OptionTable& table, Options& options) {
  const Rows rows{table, kHostsTopic};
  using config::Addresses;
  hosts::HostQuery& hosts = options.hosts;
  read_addresses(hosts, Addresses::internal);
  read_command(hosts, std::nullopt);
  add_host_lists(table, hosts, options.pod);
  rows.flag(reach, "--external", "Take the external addresses from gcloud's description",
            [&](bool is_on) { read_addresses(hosts, is_on ? Addresses::external : Addresses::internal); });
  rows.value(reach, "--workers,--worker,--ranks NUMBERS",
             "Only these hosts: 0,3-7, or failed, silent (last run)",
             [&](const std::string& text) { hosts.workers = text; },
             {.choices = "failed silent", .merge = Merge::not_allowed, .common = true, .repeat_sets = true});
  rows.flag(reach, "-i,--include-local", "Include this machine",
            either(hosts.include_local, hosts::IncludeLocal::yes, hosts::IncludeLocal::no));
  rows.flag(reach, "--allow-repeats", "Allow a host to be given twice",
            either(hosts.repeats, hosts::Repeats::allow, hosts::Repeats::refuse));
  rows.value(reach, "--via WORDS", "Command that opens a shell on a host, instead of SSH: 'ssh {host}'",
             [&](const std::string& text) {
               if (text.empty()) throw UsageError("no words (write how to reach a host, as in 'ssh {host}')");
               options.via = text;
               options.hosts.by_via = true;
             },
             {.value = ValueKind::via_words});
}

void add_ssh(OptionTable& table, ssh::SshCommandLine& ssh) {
  const Rows rows{table, kSshTopic};
  rows.value(reach, "-l,--user USER", "Log in as USER (default: your name here)",
             not_empty(ssh.user, "who you are on the hosts"));
  rows.value(reach, "--port PORT", fmt::format("Port of hosts listed without one ({})", hosts::kSshPort),
             into(ssh.port, parse_port));
  rows.list(reach, "--identity FILE",
            "Log in with this private key (default: the agent's keys, and those in ~/.ssh)",
            into(ssh.identities), {.value = ValueKind::local_file});
  rows.value(reach, "-J,--jump HOSTS", "Connect through these hosts, as ssh -J: user@bastion:port,…",
             [&](const std::string& text) {
               ssh::parse_proxy_jump(text);
               ssh.options.push_back("ProxyJump=" + text);
             },
             {.value = ValueKind::jump_hosts});
  rows.value(reach, "-F,--ssh-config FILE",
             "Read this file instead of ~/.ssh/config and the system's, as ssh -F",
             not_empty(ssh.config_file, "an ssh_config, or none"), {.value = ValueKind::local_file});
  rows.list(reach, "-o,--ssh-option KEY=VALUE",
            "Set an option of ssh_config: StrictHostKeyChecking=yes, BindAddress=…", into(ssh.options),
            {.merge = Merge::adds, .value = ValueKind::ssh_keyword});
}

void add_environment(OptionTable& table, Options& options) {
  const Rows rows{table, kCommandTopic};
  rows.list(surroundings, "-e,--env NAME[=VALUE]", "Set a variable; without =VALUE, copy this shell's",
            into(options.environment), {.merge = Merge::adds, .value = ValueKind::variable, .common = true});
  rows.list(surroundings, "--env-file FILE", "Read variables from FILE (NAME=VALUE lines)",
            into(options.environment_files), {.merge = Merge::adds, .value = ValueKind::variable_file});
  rows.flag(directory, "-w,--cwd", "Run in the same directory as here", into(options.same_directory),
            {.subject = "directory", .common = true});
  rows.value(directory, "--chdir DIR", "Run in this directory",
             [&](const std::string& text) {
               not_empty(options.directory.emplace(), "a directory of the hosts")(text);
             },
             {.subject = "directory"});
}

void add_what_runs(OptionTable& table, Options& options) {
  const Rows rows{table, kCommandTopic};
  rows.value(script, "-s,--script FILE",
             "Run a local script (-: standard input, @NAME: see podrun example); its #! line names the "
             "interpreter, else /bin/sh",
             [&](const std::string& text) { options.script = text; }, {.merge = Merge::not_allowed});
  rows.flag(script, "--exec", "The words after -- are a program and its arguments, also a single one",
            into(options.exact_words), {.merge = Merge::not_allowed});
  add_environment(table, options);
  rows.flag(clean_up, "-c,--clean-up",
            "First remove stale libtpu locks and move old logs aside; an error if the TPU is in use",
            into(options.clean_up));
  rows.flag(surroundings, "--login", "Run through a login shell", into(options.login));
  rows.flag(start, "--sudo", "Run as root, through sudo -n", into(options.sudo));
  rows.flag(batches, "-I,--stdin", "Copy standard input to every host", into(options.feed_input),
            {.merge = Merge::not_allowed});
  rows.flag(task, "--detach", "Start run as a job with the task's name, which outlives this terminal",
            into(options.detach), {.merge = Merge::not_allowed});
  rows.flag(task, "--on-host", "Run a task for a container image on the hosts themselves",
            into(options.on_host), {.merge = Merge::not_allowed});
}

void add_limits(OptionTable& table, Options& options) {
  const Rows rows{table, kLimitsTopic};
  run::Limits& limits = options.limits;
  rows.flag(batches, "--skip-unreachable", "Run on the hosts that can be reached (default: on all or none)",
            either(limits.on_unreachable, run::OnUnreachable::skip, run::OnUnreachable::stop));
  rows.value(start, "-f,--fanout N", "Connect to at most N hosts at a time ({})",
             into(limits.fanout, count_from(1)), {.default_text = std::to_string(limits.fanout)});
  rows.value(batches, "--serial N", "Run on N hosts at a time; stop after the first batch that fails",
             into(limits.serial, count_from(1)));
  rows.value(connect_timeout, "-t,--connect-timeout TIME",
             "Time for a host to become ready, per attempt ({})",
             into(limits.connect_timeout, parse_positive_duration),
             {.default_text = duration_option(limits.connect_timeout)});
  rows.value(start, "--retries N", "Retry failures that may be temporary up to N times ({})",
             into(limits.retries, count_from(0)), {.default_text = std::to_string(limits.retries)});
  rows.value(
      timeout, "-u,--timeout TIME",
      fmt::format("Stop a command after TIME (none; podrun check: {})", duration_option(check::kTimeout)),
      into(limits.timeout, parse_time_limit), {.common = true});
  rows.flag(batches, "-k,--fail-fast", "Stop the others at the first failure",
            either(limits.on_failure, run::OnFailure::stop_others, run::OnFailure::go_on), {.common = true});
  rows.value(start, "--grace TIME",
             fmt::format("Time between TERM and KILL ({{}}; podrun kill: {})",
                         duration_option(kill::KillPlan{}.time_to_close)),
             into(limits.grace, parse_duration), {.default_text = duration_option(limits.grace)});
  rows.value(start, "--orphan-timeout TIME", "Time without contact after which a host stops its command ({})",
             into(options.orphan_timeout, parse_positive_duration),
             {.default_text = duration_option(options.orphan_timeout)});
  rows.value(files, "--max-files N", "Accept at most N paths from a host: to copy, or to delete ({})",
             into(options.max_files, count_from(1)), {.default_text = std::to_string(options.max_files)});
  rows.flag(spread, "--spread", "Send one copy, which the hosts hand on to each other", into(options.spread));
}

void add_looks(OptionTable& table, OutputOptions& options) {
  const Rows rows{table, kOutputTopic};
  using output::Label;
  const WordChoice<Label> labels{{{"worker", Label::worker},
                                  {"rank", Label::worker},
                                  {"host", Label::host},
                                  {"both", Label::both},
                                  {"none", Label::none}}};
  rows.value(output, "--label WHAT", "Text before each line: {} (default), host, both or none",
             into(options.label, labels),
             {.default_text = labels.word_for(options.label),
              .choices = "worker host both none",
              .subject = "label"});
  rows.flag(output, "-N,--no-label", "Print no label before lines",
            [&](bool is_on) {
              if (is_on) options.label = Label::none;
            },
            {.subject = "label"});
  add_when(rows, "--progress WHEN", "Show the status line: {} (default: on a terminal), always or never",
           options.progress);
  add_when(rows, "--color WHEN", "Use colours: {} (default), always or never", options.color);
}

void add_dedup(OptionTable& table, OutputOptions& options) {
  const Rows rows{table, kOutputTopic};
  const WordChoice<std::optional<output::Same>> parse{{{"bytes", output::Same::bytes},
                                                       {"log", output::Same::log_line},
                                                       {"numbers", output::Same::numbers},
                                                       {"false", std::nullopt}}};
  table.choice(
      rows.row(output, "-d,--dedup",
               "Print lines that hosts share once, live; =log ignores times, pids, addresses; =numbers all "
               "numbers",
               {.choices = "log numbers", .common = true}),
      "bytes", "-d,--dedup[=HOW]",
      [&options, parse](const std::string& text) { options.dedup = parse(text == "true" ? "bytes" : text); });
  rows.list(output, "--dedup-ignore REGEX", "As -d, and ignore what matches REGEX, as for grep -E",
            [&options](const std::string& text) { options.dedup_ignored.emplace_back(text); },
            {.merge = Merge::adds});
  rows.value(output, "--window TIME",
             "Time that a line waits for other hosts, with -d, and an error on a terminal ({})",
             into(options.dedup_limits.window, parse_milliseconds),
             {.default_text = duration_option(options.dedup_limits.window)});
  rows.value(output, "--late TIME",
             "Time in which lines of late hosts are counted, not printed, with -d ({})",
             into(options.dedup_limits.late, parse_milliseconds),
             {.default_text = duration_option(options.dedup_limits.late)});
}

void add_json(OptionTable& table, OutputOptions& options) {
  const WordChoice<std::pair<bool, bool>> parse{
      {{"lines", {true, true}}, {"events", {true, false}}, {"false", {false, true}}}};
  table.choice(
      Rows{table, kOutputTopic}.row(json, "--json", "Print JSON (podrun help json); =events: no lines",
                                    {.choices = "lines events", .common = true}),
      "lines", "--json[=WHAT]", [&options, parse](const std::string& text) {
        std::tie(options.json, options.json_lines) = parse(text == "true" ? "lines" : text);
      });
}

void add_output_options(OptionTable& table, Options& options) {
  const Rows rows{table, kOutputTopic};
  add_looks(table, options);
  add_dedup(table, options);
  rows.flag(output, "-0,--rank0", "Print only the first host's output, and the last lines of those that fail",
            into(options.rank0));
  rows.flag(output, "-b,--gather", "Print output at the end, once for hosts that agree",
            into(options.gather));
  rows.flag(output, "--timestamps",
            "Print the time (UTC) before each line; with --outdir also beside its files",
            into(options.timestamps));
  add_json(table, options);
  rows.value(output, "--outdir DIR", "Write raw output to DIR/WORKER-HOST.out and .err too",
             not_empty(options.outdir, "a directory"), {.value = ValueKind::here});
  rows.flag(output, "--append", "Append to existing files of --outdir", into(options.append),
            {.repeat_sets = true});
  rows.flag(force, "--force", "Replace files (--outdir, hosts --save); delete all (push --delete), send keys",
            into(options.force), {.merge = Merge::not_allowed, .repeat_sets = true});
  rows.flag(
      output, "--escape", "Show control bytes as \\x1b (default on a terminal, except for colours)",
      [&](bool is_on) { options.controls = is_on ? output::Controls::escape : output::Controls::pass; });
  table.count(
      rows.row(general, "-v,--verbose", "Print each step; twice: also the protocol", {.common = true}),
      options.verbosity);
  rows.flag(general, "-q,--quiet", "Print only errors and what the hosts print: no notes, no status line",
            into(options.quiet));
  rows.flag(dry_run, "--dry-run", "Print what would run where", into(options.dry_run),
            {.merge = Merge::not_allowed, .common = true});
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
  add_ssh(table, options.ssh);
  add_what_runs(table, options);
  add_limits(table, options);
  add_restart_options(table, options);
  add_notify_options(table, options.notify);
  add_output_options(table, options);
}

void add_other_options(OptionTable& table, Options& options) {
  const Rows rows{table, kOtherTopic};
  rows.flag(general, "-V,--version", "Print the version", into(options.version),
            {.merge = Merge::not_allowed});
}

}  // namespace podrun::cli
