// SPDX-License-Identifier: Apache-2.0
// `podrun hosts`: lists the hosts, saves them, or removes their stored host keys.
#include <arpa/inet.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <set>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <fmt/format.h>

#include "podrun/base/blocking_pool.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/hosts/host_views.hpp"
#include "podrun/hosts/sources.hpp"
#include "podrun/hosts/this_machine.hpp"
#include "podrun/hosts/tpu_metadata.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/reach/reach_plan.hpp"
#include "podrun/ssh/host_keys/host_keys.hpp"
#include "podrun/ssh/host_keys/known_hosts_store.hpp"
#include "podrun/ssh/transport/resolver.hpp"

#include "cli/option_rows.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

/// For name look-ups.
constexpr std::size_t kThreads = 16;

asio::awaitable<std::string> first_address(ssh::Lookup& lookup) {
  try {
    const ssh::Addresses addresses = co_await lookup.get();
    co_return addresses.front().to_string();
  } catch (const link::HostError&) {
    co_return "";
  }
}

/// The first address of each name, looked up together; empty where there is none `within` this time. An empty
/// name has none.
std::vector<std::string> addresses_of(const std::vector<std::string>& names,
                                      std::chrono::milliseconds within) {
  std::vector<std::string> addresses(names.size());
  const auto context = std::make_shared<asio::io_context>(1);
  BlockingPool pool(context, kThreads);
  const ssh::Resolver resolver(context->get_executor(), pool);
  std::list<ssh::Lookup> lookups;
  std::size_t open = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) continue;
    ++open;
    asio::co_spawn(*context, first_address(lookups.emplace_back(resolver, names[i], ssh::AddressFamily::any)),
                   [&, i](const std::exception_ptr&, std::string address) {
                     addresses[i] = std::move(address);
                     --open;
                   });
  }
  asio::steady_timer limit(*context, within);
  limit.async_wait([&lookups](const std::error_code& error) {
    if (error) return;
    for (ssh::Lookup& lookup : lookups) lookup.stop({link::Stage::name_lookup, link::Cause::timed_out});
  });
  while (open > 0) context->run_one();
  return addresses;
}

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

/// Describes this machine's part in the saved list: the file itself does not mark it.
std::string describe_saved(const std::vector<hosts::Host>& all, bool has_all, const hosts::Probe& probe) {
  if (!has_all) return count_hosts(all.size() - 1) + " beside this machine, which is worker 0 with -i";
  const hosts::ThisMachine self(probe);
  const auto own =
      std::find_if(all.begin(), all.end(), [&self](const hosts::Host& host) { return self.is(host); });
  if (own == all.begin() || own == all.end()) return count_hosts(all.size());
  return fmt::format("{}; this machine is worker {}, with -i", count_hosts(all.size()), own - all.begin());
}

/// The bytes of an IPv4 address; empty for other text.
std::vector<std::uint8_t> ipv4_bytes(const std::string& text) {
  std::vector<std::uint8_t> bytes(4);
  return ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ? bytes : std::vector<std::uint8_t>();
}

/// Whether all hosts are private addresses of a network that this machine seems not to be on: its own
/// addresses begin with other bytes.
bool seem_elsewhere(const std::vector<hosts::Host>& all, const hosts::Probe& probe) {
  std::set<std::pair<std::uint8_t, std::uint8_t>> own_networks;
  for (const std::string& name : probe.own_names()) {
    if (const auto bytes = ipv4_bytes(name); !bytes.empty()) own_networks.emplace(bytes[0], bytes[1]);
  }
  return std::all_of(all.begin(), all.end(), [&own_networks](const hosts::Host& host) {
    const auto bytes = ipv4_bytes(hosts::address_of(host));
    return hosts::is_private_address(hosts::address_of(host)) && !own_networks.contains({bytes[0], bytes[1]});
  });
}

/// Writes the whole list to ~/podips.txt, at once or not at all. Returns notes that say so, and whether this
/// machine may not reach the hosts by these addresses. Throws UsageError.
std::vector<std::string> save_hosts(const hosts::Discovery& found, bool may_replace,
                                    const hosts::Probe& probe) {
  const std::optional<std::string> path = hosts::podips_path(probe);
  if (!path) throw UsageError("--save: no $HOME to write podips.txt to (set it)");
  struct stat status {};
  if (!may_replace && ::lstat(path->c_str(), &status) == 0) {
    throw UsageError(fmt::format("--save: {} exists (replace it with --force)", *path));
  }
  const std::string text = hosts::saved_list(found.all, probe);
  if (text.empty()) throw UsageError("--save: there is no other host to write (name some with -H)");
  if (!replace_file(*path, text)) throw UsageError(fmt::format("cannot write {:?}: {}", *path, errno_text()));
  const auto lines = std::count(text.begin(), text.end(), '\n') - (text.starts_with('#') ? 1 : 0);
  const bool has_all = static_cast<std::size_t>(lines) >= found.all.size();
  std::vector<std::string> notes{
      fmt::format("wrote {}: {}", *path, describe_saved(found.all, has_all, probe))};
  if (!hosts::is_google_machine(probe) && seem_elsewhere(found.all, probe)) {
    notes.emplace_back(
        "these are addresses of a private network that this machine does not seem to be on (--external takes "
        "the external addresses from gcloud's description)");
  }
  return notes;
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
    for (std::string& note : save_hosts(found, options.force, probe)) answer.notes.push_back(std::move(note));
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
