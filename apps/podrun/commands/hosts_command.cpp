// SPDX-License-Identifier: Apache-2.0
// `podrun hosts`: lists the hosts, saves them, or removes their stored host keys.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "podrun/base/error.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/hosts/host_views.hpp"
#include "podrun/hosts/save_hosts.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/reach/host_addresses.hpp"
#include "podrun/reach/reach_plan.hpp"

#include "cli/option_rows.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

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
  if (own.forget_keys)
    return {.text = reach::forget_keys_of(found.hosts, *plan.config), .notes = found.notes};
  HostsAnswer answer;
  if (!options.json) answer.notes = hosts::to_texts(found.tried);
  answer.notes.insert(answer.notes.end(), found.notes.begin(), found.notes.end());
  if (own.save) {
    if (!options.hosts.exclude.empty() || options.hosts.workers)
      throw UsageError("--save: it saves the whole list (leave out -x and --workers)");
    for (std::string& note : hosts::save_hosts(found.all, options.force, probe))
      answer.notes.push_back(std::move(note));
  }
  if (!options.json) {
    for (hosts::Host& host : found.hosts) host.source = output::escape_controls(host.source);
  }
  const auto view = options.json ? hosts::hosts_json : hosts::hosts_table;
  answer.text = view(found, reach::addresses_of(found.hosts, *plan.config));
  return answer;
}

class HostsCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const cli::Rows rows{table, "podrun hosts"};
    rows.flag(cli::OptionSet::own, "--forget-keys", "Remove the stored host keys of these hosts",
              cli::into(own_.forget_keys), {.merge = cli::Merge::not_allowed});
    rows.flag(cli::OptionSet::own, "--save", "Write the hosts to ~/podips.txt", cli::into(own_.save),
              {.merge = cli::Merge::not_allowed});
  }

  void check(cli::Options& options, const cli::OptionTable& /*table*/) override {
    if (options.force && !own_.save)
      throw UsageError("--force: it belongs to --outdir, or to podrun hosts --save (leave it out)");
    if (own_.save && own_.forget_keys)
      throw UsageError("--save and --forget-keys exclude each other (give one)");
  }

  int run(const cli::Context& context) override {
    try {
      const HostsAnswer found = answer_hosts(own_, context.options, context.probe);
      context.note(found.notes);
      return context.answer(found.text);
    } catch (const hosts::NoHosts& error) {
      context.say(hosts::to_texts(error.tried));
      throw UsageError(error.short_message);
    }
  }

 private:
  HostsOptions own_;
};

}  // namespace

std::unique_ptr<cli::Command> make_hosts_command() { return std::make_unique<HostsCommand>(); }

}  // namespace podrun::commands
