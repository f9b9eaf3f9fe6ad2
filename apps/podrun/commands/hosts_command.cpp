// SPDX-License-Identifier: Apache-2.0
// `podrun hosts`: lists the hosts, saves them, or removes their stored host keys.
#include "commands/hosts_command.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/hosts/host_views.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/reach/reach_plan.hpp"
#include "podrun/ssh/host_keys/host_keys.hpp"
#include "podrun/ssh/host_keys/known_hosts_store.hpp"

#include "commands/answers.hpp"
#include "commands/host_addresses.hpp"
#include "commands/save_hosts.hpp"

namespace podrun::commands {
namespace {

/// For all names together: people wait for it.
constexpr std::chrono::seconds kLookUpTime{2};

std::vector<std::string> addresses(const std::vector<hosts::Host>& hosts, ssh::SshConfig& config) {
  std::vector<std::string> names;
  for (const hosts::Host& host : hosts) {
    names.push_back(host.kind == hosts::HostKind::local ? "" : config.settings_for(host).host_name);
  }
  return addresses_of(names, kLookUpTime);
}

std::string forget(const std::vector<hosts::Host>& hosts, ssh::SshConfig& config) {
  std::vector<std::pair<std::string, std::uint16_t>> names;
  std::set<std::string> files;
  for (const hosts::Host& host : hosts) {
    if (host.kind == hosts::HostKind::local) continue;
    const ssh::SshSettings settings = config.settings_for(host);
    files.insert(settings.user_known_hosts.begin(), settings.user_known_hosts.end());
    const ssh::HostKeyTarget target = ssh::host_key_target(settings, settings.host_name);
    names.emplace_back(target.host, target.port);
  }
  std::string text;
  for (const std::string& file : files) {
    const std::size_t removed = ssh::forget_host_keys(file, names);
    if (removed > 0) text += fmt::format("forgot {} key{} in {}\n", removed, removed == 1 ? "" : "s", file);
  }
  return text.empty() ? "no key of these hosts is stored\n" : text;
}

/// The output of `podrun hosts`.
struct HostsAnswer {
  std::string text;                ///< on standard output
  std::vector<std::string> notes;  ///< each a line of standard error: what was tried, and what to know
};

/// The options of `podrun hosts` alone.
struct HostsOptions {
  bool save = false;
  bool forget_keys = false;
};

HostsAnswer answer_hosts(const HostsOptions& own, const cli::Options& options, const hosts::Probe& probe) {
  hosts::Discovery found = hosts::discover(options.hosts, probe);
  const reach::ReachPlan plan = reach::plan_reach(options.ssh, probe);
  if (own.forget_keys) return {.text = forget(found.hosts, *plan.config), .notes = found.notes};
  HostsAnswer answer;
  if (!options.json) answer.notes = hosts::to_texts(found.tried);
  answer.notes.insert(answer.notes.end(), found.notes.begin(), found.notes.end());
  if (own.save) {
    if (!options.hosts.exclude.empty() || options.hosts.workers)
      throw UsageError("--save: it saves the whole list (leave out -x and --workers)");
    for (std::string& note : save_hosts(found, options.force ? Overwrite::replace : Overwrite::refuse, probe))
      answer.notes.push_back(std::move(note));
  }
  if (!options.json) {
    for (hosts::Host& host : found.hosts) host.source = output::escape_controls(host.source);
  }
  const auto view = options.json ? hosts::hosts_json : hosts::hosts_table;
  answer.text = view(found, addresses(found.hosts, *plan.config));
  return answer;
}

class HostsCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    table.flag({.topic = "podrun hosts",
                .set = cli::OptionSet::own,
                .names = "--forget-keys",
                .help = "Remove the stored host keys of these hosts",
                .merge = cli::Merge::not_allowed},
               own_.forget_keys);
    table.flag({.topic = "podrun hosts",
                .set = cli::OptionSet::own,
                .names = "--save",
                .help = "Write the hosts to ~/podips.txt",
                .merge = cli::Merge::not_allowed},
               own_.save);
  }

  void check(cli::Options& options, const cli::OptionTable& /*table*/) override {
    if (options.force && !own_.save)
      throw UsageError("--force: it belongs to --outdir, or to podrun hosts --save (leave it out)");
    if (own_.save && own_.forget_keys) throw UsageError("--save and --forget-keys are two tasks (give one)");
  }

  int run(const cli::Context& context) override {
    try {
      const HostsAnswer found = answer_hosts(own_, context.options, context.probe);
      say(found.notes, *context.terminal);
      return answer(found.text, *context.terminal);
    } catch (const hosts::NoHosts& error) {
      say(hosts::to_texts(error.tried), *context.terminal);
      throw;
    }
  }

 private:
  HostsOptions own_;
};

}  // namespace

std::unique_ptr<cli::Command> make_hosts_command() { return std::make_unique<HostsCommand>(); }

}  // namespace podrun::commands
