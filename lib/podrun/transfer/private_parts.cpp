// SPDX-License-Identifier: Apache-2.0
// Finds the home directory, and files by which its user logs in elsewhere.
#include "podrun/transfer/private_parts.hpp"

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/text.hpp"

namespace podrun::transfer {
namespace {

constexpr std::array<std::string_view, 19> kPrivate = {".ssh",
                                                       ".gnupg",
                                                       ".aws",
                                                       ".azure",
                                                       ".kube",
                                                       ".oci",
                                                       ".config/gcloud",
                                                       ".config/gh",
                                                       ".config/rclone",
                                                       ".docker/config.json",
                                                       ".netrc",
                                                       ".git-credentials",
                                                       ".pgpass",
                                                       ".pypirc",
                                                       ".kaggle",
                                                       ".huggingface",
                                                       ".password-store",
                                                       ".vault-token",
                                                       ".cache/huggingface/token"};

/// `.ssh, .aws and .netrc`
std::string name_all(std::vector<std::string> names) {
  if (names.size() < 2) return join(names, "");
  const std::string last = std::move(names.back());
  names.pop_back();
  return fmt::format("{} and {}", join(names, ", "), last);
}

std::vector<std::string> private_names(const LocalTree& tree, std::string_view prefix) {
  std::vector<std::string> names;
  for (const std::string_view name : kPrivate) {
    const std::optional<std::size_t> found = tree.find(fmt::format("{}{}", prefix, name));
    if (found && tree.entries()[*found].kind != Kind::link) names.emplace_back(name);
  }
  return names;
}

}  // namespace

std::vector<std::string> private_parts(const LocalTree& tree) {
  std::vector<std::string> texts;
  for (const LocalSource& source : tree.sources()) {
    if (!source.is_directory()) continue;
    const std::vector<std::string> names = private_names(tree, source.prefix);
    const bool has_home = tree.home().starts_with(source.local);
    if (!has_home && names.empty()) continue;
    std::string text = fmt::format("{:?}", source.local);
    if (has_home)
      text += tree.home() == source.local ? " is your home directory"
                                          : fmt::format(" has your home directory, {:?}", tree.home());
    if (!names.empty()) text += fmt::format("{} {}", has_home ? ", with" : " has", name_all(names));
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string private_parts_of_host(const LocalTree& tree, const std::vector<std::string>& words) {
  std::set<std::string, std::less<>> prefixes;
  for (const std::string& word : words) {
    if (word == "./") return "the home directory";
    if (word.ends_with('/')) prefixes.emplace();
  }
  for (const Entry& entry : tree.entries()) {
    if (entry.kind == Kind::directory && entry.path.find('/') == entry.path.npos)
      prefixes.insert(entry.path + '/');
  }
  std::vector<std::string> names;
  for (const std::string& prefix : prefixes) {
    for (const std::string& name : private_names(tree, prefix)) names.push_back(prefix + name);
  }
  return name_all(std::move(names));
}

}  // namespace podrun::transfer
