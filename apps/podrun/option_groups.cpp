// SPDX-License-Identifier: Apache-2.0
#include "option_groups.hpp"

#include "podrun/base/duration.hpp"
#include "podrun/config/described_hosts.hpp"
#include "podrun/ssh/proxy_jump.hpp"

#include "option_values.hpp"

namespace podrun {
namespace {

/// A value that must not be empty; `advice` says what it is.
std::function<void(const std::string&)> not_empty(std::string& target, const std::string& advice) {
  return [&target, advice](const std::string& text) {
    if (text.empty()) throw UsageError("an empty name (write " + advice + ")");
    target = text;
  };
}

void add_hosts(OptionTable& table, Options& options) {
  const std::string group = "Which hosts (else those that podrun hosts finds)";
  HostQuery& hosts = options.hosts;
  hosts.read_description = hosts_of_description;
  table.list({group, "-H,--hosts", "a,b · tpu-[0-15,20] · user@host:port · local[0-3] · ^FILE", "LIST"},
             [&](const std::string& text) { hosts.lists.push_back(text); });
  table.value({group, "--hostfile,--machinefile", "Hosts from a file, one a line", "FILE"},
              [&](const std::string& text) {
                if (hosts.hostfile) throw UsageError("given twice (one file only)");
                hosts.hostfile = text;
              });
  table.value({group, "-p,--pod", "A pod of the configuration (docs/configuration.md)", "NAME"},
              [&](const std::string& text) {
                if (!options.pod.empty()) throw UsageError("given twice (one pod only)");
                not_empty(options.pod, "a pod of the configuration")(text);
              });
  table.list({group, "-x,--exclude-hosts", "Without these", "LIST"},
             [&](const std::string& text) { hosts.exclude.push_back(text); });
  table
      .value({group, "--ranks,--worker", "Only these, by number: 0,3-7 or all", "RANKS"},
             [&](const std::string& text) { hosts.ranks = text; })
      .command_line_only = true;
  table.flag({group, "-i,--include-local", "This machine takes part"},
             [&](bool is_on) { hosts.include_local = is_on ? IncludeLocal::yes : IncludeLocal::no; });
  table.flag({group, "--forget-keys", "podrun hosts: drop their stored host keys"}, options.forget_keys)
      .command_line_only = true;
  table.flag({group, "--save", "podrun hosts: write them to ~/podips.txt"}, options.save).command_line_only =
      true;
  table.flag({group, "--force", "--save, --outdir: replace what is there"}, options.force).command_line_only =
      true;
  table.flag({group, "--allow-repeats", "A host may be given twice"},
             [&](bool is_on) { hosts.repeats = is_on ? Repeats::allow : Repeats::refuse; });
  table.value({group, "--via", "The way in, ending in a shell there: 'ssh {host}'", "WORDS"},
              [&](const std::string& text) {
                if (text.empty())
                  throw UsageError("no words (write how to reach a host, as in 'ssh {host}')");
                options.via = text;
              });
}

void add_ssh(OptionTable& table, Options& options) {
  const std::string group = "SSH";
  SshOptions& ssh = options.ssh;
  table.value({group, "-l,--user", "Log in as (who you are here)", "USER"},
              not_empty(ssh.user, "who you are on the hosts"));
  table.value({group, "--port", "Of hosts that are listed without one (22)", "PORT"},
              [&](const std::string& text) { ssh.port = parse_port(text); });
  table.list({group, "--identity", "A private key (the agent's, and those in ~/.ssh)", "FILE"},
             [&](const std::string& text) { ssh.identities.push_back(text); });
  table.value({group, "-J,--jump", "Through these hosts, as for ssh: user@bastion:port,…", "HOSTS"},
              [&](const std::string& text) {
                parse_proxy_jump(text);
                ssh.keywords.push_back("ProxyJump=" + text);
              });
  table.value({group, "-F,--ssh-config", "Instead of ~/.ssh/config and the system's, as for ssh", "FILE"},
              not_empty(ssh.config_file, "an ssh_config, or none"));
  table.list({group, "-o,--ssh-option", "As for ssh: StrictHostKeyChecking=yes, BindAddress=…", "KEY=VALUE"},
             [&](const std::string& text) { ssh.keywords.push_back(text); });
}

void add_what_runs(OptionTable& table, Options& options) {
  const std::string group = "What runs";
  table
      .value({group, "-s,--script", "A local script; its #! line decides, else /bin/sh", "FILE"},
             [&](const std::string& text) { options.script = text; })
      .command_line_only = true;
  table.list({group, "-e,--env", "A variable of the command; no value: that of here", "NAME[=VALUE]"},
             [&](const std::string& text) { options.environment.push_back(text); });
  table.list({group, "--env-file", "Variables from NAME=VALUE lines", "FILE"},
             [&](const std::string& text) { options.environment_files.push_back(text); });
  table.flag({group, "-w,--cwd", "In the same directory as here"}, options.same_directory);
  table.value({group, "--chdir", "In this directory", "DIR"}, [&](const std::string& text) {
    not_empty(options.directory.emplace(), "a directory of the hosts")(text);
  });
  table.flag({group, "-c,--clean-up", "First remove libtpu locks and old logs, if the TPU is idle"},
             options.clean_up);
  table.flag({group, "--login", "Through a login shell"}, options.login);
  table.flag({group, "--sudo", "As root, through sudo -n"}, options.sudo);
  table.flag({group, "-I,--stdin", "Copy standard input to every host"}, options.feed_input)
      .command_line_only = true;
}

void add_start_and_end(OptionTable& table, Options& options) {
  const std::string group = "Start, failure, end";
  Limits& limits = options.limits;
  table.flag({group, "--skip-unreachable", "Run on those that are reached (default: all or none)"},
             [&](bool is_on) { limits.on_unreachable = is_on ? OnUnreachable::skip : OnUnreachable::stop; });
  table.value({group, "-f,--fanout", "Connect to at most N hosts at a time ({})", "N", "128"},
              [&](const std::string& text) { limits.fanout = parse_count(text); });
  table.value({group, "--serial", "N hosts at a time, stop at the first batch that fails", "N"},
              [&](const std::string& text) { limits.serial = parse_count(text); });
  table.value(
      {group, "-t,--connect-timeout", "For a host to become ready ({}), at each attempt", "TIME", "10s"},
      [&](const std::string& text) { limits.connect_timeout = parse_positive_duration(text); });
  table.value({group, "--retries", "Attempts more, where what is wrong may pass ({})", "N", "2"},
              [&](const std::string& text) { limits.retries = parse_count(text, 0); });
  table.value({group, "-u,--timeout", "End a command that runs longer (no limit)", "TIME"},
              [&](const std::string& text) { limits.timeout = parse_positive_duration(text); });
  table.flag({group, "-k,--fail-fast", "The first failure ends the others"},
             [&](bool is_on) { limits.on_failure = is_on ? OnFailure::end_others : OnFailure::go_on; });
  table.value({group, "--grace", "Between TERM and KILL ({})", "TIME", "10s"},
              [&](const std::string& text) { limits.grace = parse_duration(text); });
  table.value({group, "--orphan-timeout", "A host that hears nothing for so long ends its command ({})",
               "TIME", "2m"},
              [&](const std::string& text) { options.orphan_timeout = parse_positive_duration(text); });
}

void add_labels_and_looks(OptionTable& table, Options& options, const std::string& group) {
  table.value(
      {group, "--label", "Before each line: {} (default), host, both or none", "WHAT", "rank"},
      [&](const std::string& text) {
        options.label = parse_choice<Label>(
            text,
            {{"rank", Label::rank}, {"host", Label::host}, {"both", Label::both}, {"none", Label::none}});
      });
  table.flag({group, "-N,--no-label", "No label"}, [&](bool is_on) {
    if (is_on) options.label = Label::none;
  });
  table.value(
      {group, "--progress", "The status line: {} (default: on a terminal), always or never", "WHEN", "auto"},
      [&](const std::string& text) {
        options.progress = parse_choice<Progress>(
            text, {{"auto", Progress::automatic}, {"always", Progress::always}, {"never", Progress::never}});
      });
  table.value(
      {group, "--color", "{} (default), always or never", "WHEN", "auto"}, [&](const std::string& text) {
        options.color = parse_choice<ColorMode>(
            text,
            {{"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}});
      });
}

void add_check(OptionTable& table, Options& options) {
  const std::string group = "podrun check";
  table.value({group, "--wait", "Until every host is up, at most so long", "TIME"},
              [&](const std::string& text) { options.wait = parse_positive_duration(text); });
  table.value(
      {group, "--dir", "Compare the git commit in this directory too", "DIR"},
      [&, set = not_empty(options.check.directory, "a directory of the hosts")](const std::string& text) {
        if (!options.check.directory.empty()) throw UsageError("given twice (one directory only)");
        set(text);
      });
  table.value({group, "--python", "Whose packages are compared (python3)", "PATH"},
              not_empty(options.check.python, "a python of the hosts"));
}

void add_output(OptionTable& table, Options& options) {
  const std::string group = "Output";
  add_labels_and_looks(table, options, group);
  table.choice({group, "-d,--dedup", "Once what many hosts print, live; log: but for its timestamps"},
               "bytes", "-d,--dedup[=log]", [&](const std::string& text) {
                 options.dedup = parse_choice<std::optional<Same>>(
                     text == "true" ? "bytes" : text,
                     {{"bytes", Same::bytes}, {"log", Same::log_line}, {"false", std::nullopt}});
               });
  table.value({group, "--window", "-d: how long a line waits for other hosts ({})", "TIME", "500ms"},
              [&](const std::string& text) { options.dedup_limits.window = parse_milliseconds(text); });
  table.value({group, "--late", "-d: how late a host is only counted ({})", "TIME", "10s"},
              [&](const std::string& text) { options.dedup_limits.late = parse_milliseconds(text); });
  table.flag({group, "-0,--rank0", "Only the first host's output; of failures the last lines"},
             options.rank0);
  table.flag({group, "-b,--gather", "At the end, hosts with equal output together"}, options.gather);
  table.flag({group, "--json", "One JSON object a line, for programs (docs/json.md)"}, options.json);
  table.value({group, "--outdir", "Raw output too, in DIR/RANK-HOST.out and .err", "DIR"},
              not_empty(options.outdir, "a directory"));
  table.flag({group, "--append", "--outdir: add to the output of an earlier run"}, options.append);
  table.flag({group, "--escape", "Show control bytes as \\x1b (default on a terminal, but for colours)"},
             [&](bool is_on) { options.controls = is_on ? Controls::escape : Controls::pass; });
  table.count({group, "-v,--verbose", "Say what is being done; twice: the protocol too"}, options.verbosity);
  table.flag({group, "--dry-run", "Print what would run where"}, options.dry_run).command_line_only = true;
}

}  // namespace

void add_options(OptionTable& table, Options& options) {
  add_hosts(table, options);
  add_ssh(table, options);
  add_what_runs(table, options);
  add_start_and_end(table, options);
  add_check(table, options);
  add_output(table, options);
  table.flag({"Other", "-V,--version", "Print the version"}, options.version).command_line_only = true;
  table.add_help("Other");
}

}  // namespace podrun
