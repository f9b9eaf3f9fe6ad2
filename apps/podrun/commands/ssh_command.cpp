// SPDX-License-Identifier: Apache-2.0
// `podrun ssh`: composes the command line of the user's own ssh for one host, and becomes it.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/local/connectors.hpp"
#include "podrun/reach/reach_plan.hpp"

#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

[[noreturn]] void refuse_via(const cli::Options& options, const hosts::Host& host) {
  std::vector<std::string> words = local::ViaTemplate(options.via).words_for(host);
  words.emplace_back("/bin/sh");
  throw UsageError(fmt::format("ssh: \"{}\" is reached by --via, not by ssh (start it yourself: {})",
                               host.name, shell_quote(words)));
}

/// The keys that ssh looks for in ~/.ssh by itself. The key of gcloud, which it does not look for, follows.
constexpr std::array kOwnKeys = {"id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk"};
constexpr const char* kGoogleKey = "google_compute_engine";

bool names_identity(const reach::ReachPlan& plan, const hosts::Host& host) {
  try {
    return !plan.config->settings_for(host).identity_files.empty();
  } catch (const UsageError&) {
    return true;  // ssh itself says what is wrong with its configuration
  }
}

/// Google's key, where it is there and nothing else is named; with it ssh's own, which it drops for any -i.
std::vector<std::string> default_identities(const cli::Options& options, const hosts::Probe& probe,
                                            const hosts::Host& host) {
  const reach::ReachPlan plan = reach::plan_reach(options.ssh, probe);
  const std::string directory = plan.home + "/.ssh/";
  const auto exists = [&directory](const std::string& name) {
    std::error_code ignored;
    return std::filesystem::exists(directory + name, ignored);
  };
  if (!exists(kGoogleKey) || names_identity(plan, host)) return {};
  std::vector<std::string> files;
  for (const char* name : kOwnKeys) {
    if (exists(name)) files.push_back(directory + name);
  }
  files.push_back(directory + kGoogleKey);
  return files;
}

/// The words of an ssh command with the settings of podrun's command line, host list and config.yaml. ssh
/// reads ~/.ssh/config itself.
std::vector<std::string> ssh_command(const cli::Options& options, const hosts::Probe& probe) {
  if (hosts::reads_standard_input(options.hosts))
    throw UsageError("ssh: standard input is for ssh, and cannot list the hosts (give them in another way)");
  const std::vector<hosts::Host> hosts = hosts::discover(options.hosts, probe).hosts;
  const hosts::Host& host = hosts[hosts::find_host(hosts, options.operands.front(), "ssh")];
  if (host.kind == hosts::HostKind::local) {
    throw UsageError(fmt::format("ssh: \"{}\" is this machine (no ssh is needed: run the command here)",
                                 options.operands.front()));
  }
  if (!options.via.empty()) refuse_via(options, host);
  std::vector<std::string> words{"ssh"};
  const auto add = [&words](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  const std::string& user = host.user.empty() ? options.ssh.user : host.user;
  const std::uint16_t port = host.port == 0 ? options.ssh.port : host.port;
  if (!options.ssh.config_file.empty()) add("-F", options.ssh.config_file);
  for (const std::string& keyword : options.ssh.options) add("-o", keyword);  // first: they win, as with us
  if (!user.empty()) add("-l", user);
  if (port != 0) add("-p", std::to_string(port));
  std::vector<std::string> identities = options.ssh.identities;
  if (identities.empty()) identities = default_identities(options, probe, host);
  for (const std::string& identity : identities) add("-i", identity);
  // It never begins with "-"; a "--" would keep ssh from reading later options.
  words.push_back(hosts::address_of(host));
  words.insert(words.end(), options.rest.begin(), options.rest.end());
  return words;
}

constexpr int kCannotRunStatus = 126;  // as shells have them
constexpr int kNotFoundStatus = 127;

/// Replaces podrun by the user's ssh; returns only where that is not possible.
int become(std::vector<std::string> words, const cli::Context& context) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  ::execvp(argv.front(), argv.data());
  const int error = errno;
  context.say(
      {fmt::format("ssh: cannot start it: {} (expected OpenSSH's client in $PATH)", std::strerror(error))});
  return error == ENOENT ? kNotFoundStatus : kCannotRunStatus;
}

class SshCommand final : public cli::Command {
 public:
  /// ssh is told a connect timeout of the command line; that of config.yaml is for runs.
  void check(cli::Options& options, const cli::OptionTable& table) override {
    if (!table.is_on_command_line("connect-timeout")) return;
    std::vector<std::string>& keywords = options.ssh.options;  // of two the first counts
    keywords.insert(keywords.begin(),
                    fmt::format("ConnectTimeout={}", options.limits.connect_timeout.count()));
  }

  int run(const cli::Context& context) override {
    const cli::Options& options = context.options;
    std::vector<std::string> words = ssh_command(options, context.probe);
    const std::string line = shell_quote(words);
    if (options.dry_run) return context.answer(line + '\n');
    if (options.verbosity > 0) context.say({line});
    return become(std::move(words), context);
  }
};

}  // namespace

std::unique_ptr<cli::Command> make_ssh_command() { return std::make_unique<SshCommand>(); }

}  // namespace podrun::commands
