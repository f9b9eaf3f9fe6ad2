// SPDX-License-Identifier: Apache-2.0
#include "ssh_command.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/rank_set.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/local/connectors.hpp"

#include "ssh_settings.hpp"

namespace podrun {
namespace {

/// By its rank, else by its name.
const Host& find_host(const std::vector<Host>& hosts, const std::string& wanted) {
  const auto by_rank = std::find_if(hosts.begin(), hosts.end(), [&wanted](const Host& host) {
    return std::to_string(host.label) == wanted;
  });
  if (by_rank != hosts.end()) return *by_rank;
  const auto is_wanted = [&wanted](const Host& host) { return host.name == wanted; };
  const auto by_name = std::find_if(hosts.begin(), hosts.end(), is_wanted);
  std::vector<std::size_t> ranks;
  for (const Host& host : hosts) ranks.push_back(host.label);
  if (by_name == hosts.end()) {
    throw UsageError(
        fmt::format("ssh: no host has rank or name \"{}\" (there are {}; podrun hosts lists them)", wanted,
                    fold_ranks(ranks)));
  }
  if (std::count_if(hosts.begin(), hosts.end(), is_wanted) > 1) {
    throw UsageError(fmt::format(
        "ssh: \"{}\" is the name of several hosts (give a rank; podrun hosts lists them)", wanted));
  }
  return *by_name;
}

[[noreturn]] void refuse_via(const Options& options, const Host& host) {
  std::vector<std::string> words = ViaTemplate(options.via).words_for(host);
  words.emplace_back("/bin/sh");
  throw UsageError(fmt::format("ssh: the way to \"{}\" is --via and not ssh (start it yourself: {})",
                               host.name, shell_quote(words)));
}

/// What ssh looks for in ~/.ssh by itself, and behind it the key of gcloud, which it does not.
constexpr std::array kOwnKeys = {"id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk"};
constexpr const char* kGoogleKey = "google_compute_engine";

bool names_identity(const SshPlan& plan, const Host& host) {
  try {
    return !plan.config->settings_for(host).identity_files.empty();
  } catch (const UsageError&) {
    return true;  // ssh itself says what is wrong with its configuration
  }
}

/// Google's key, where it is there and nothing else is named; with it ssh's own, which it drops for any -i.
std::vector<std::string> default_identities(const Options& options, const Probe& probe, const Host& host) {
  const SshPlan plan = ssh_plan(options, probe);
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

}  // namespace

std::vector<std::string> ssh_command(const Options& options, const Probe& probe) {
  if (reads_standard_input(options.hosts))
    throw UsageError("ssh: standard input is for ssh, and cannot list the hosts (give them in another way)");
  const std::vector<Host> hosts = discover(options.hosts, probe).hosts;
  const Host& host = find_host(hosts, options.ssh_rank);
  if (host.kind == HostKind::local) {
    throw UsageError(fmt::format("ssh: \"{}\" is this machine (no ssh is needed: run the command here)",
                                 options.ssh_rank));
  }
  if (!options.via.empty()) refuse_via(options, host);
  std::vector<std::string> words{"ssh"};
  const auto add = [&words](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  const std::string& user = host.user.empty() ? options.ssh.user : host.user;
  const std::uint16_t port = host.port == 0 ? options.ssh.port : host.port;
  if (!options.ssh.config_file.empty()) add("-F", options.ssh.config_file);
  for (const std::string& keyword : options.ssh.keywords) add("-o", keyword);  // first: they win, as with us
  if (!user.empty()) add("-l", user);
  if (port != 0) add("-p", std::to_string(port));
  std::vector<std::string> identities = options.ssh.identities;
  if (identities.empty()) identities = default_identities(options, probe, host);
  for (const std::string& identity : identities) add("-i", identity);
  words.push_back(host.name);  // begins with no "-", and so needs no "--", behind which ssh takes no options
  words.insert(words.end(), options.ssh_words.begin(), options.ssh_words.end());
  return words;
}

}  // namespace podrun
