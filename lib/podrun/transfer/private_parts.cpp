// SPDX-License-Identifier: Apache-2.0
// Finds the home directory, and files by which its user logs in elsewhere.
#include "podrun/transfer/private_parts.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

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

/// A directory whose contents are at `prefix` in the tree; empty or ends with "/". `path` ends with "/".
struct Place {
  std::string prefix;
  std::string path;

  friend auto operator<=>(const Place&, const Place&) = default;
};

/// Keys directly in a directory, where its path may have the first parts of a name: `gcloud` in `~/.config/`.
std::vector<std::string> private_names(const LocalTree& tree, const Place& place) {
  const std::string path = '/' + place.path;
  std::vector<std::string> names;
  for (const std::string_view name : kPrivate) {
    for (std::string_view rest = name; !rest.empty();) {
      const std::string_view above = name.substr(0, name.size() - rest.size());
      const std::optional<std::size_t> found = tree.find(place.prefix + std::string(rest));
      if (found && tree.entries()[*found].kind != Kind::link && path.ends_with(fmt::format("/{}", above)))
        names.emplace_back(rest);
      rest.remove_prefix(std::min(rest.find('/'), rest.size() - 1) + 1);
    }
  }
  return names;
}

/// As typed, or where its links lead.
std::vector<std::string> private_names(const LocalTree& tree, const LocalSource& source) {
  std::vector<std::string> names = private_names(tree, Place{source.prefix, source.local});
  std::error_code error;
  const std::string real = std::filesystem::canonical(source.local, error).string();
  for (std::string& name : private_names(tree, Place{source.prefix, real + '/'})) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::vector<std::string> private_parts(const LocalTree& tree) {
  std::vector<std::string> texts;
  for (const LocalSource& source : tree.sources()) {
    if (!source.is_directory()) continue;
    const std::vector<std::string> names = private_names(tree, source);
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
  if (!tree.home().empty()) return "the home directory";
  std::set<std::string, std::less<>> named;  // directories whose contents are named
  for (const std::string& word : words) {
    if (word.ends_with('/')) named.insert(word);
  }
  for (const Entry& entry : tree.entries()) {
    if (entry.path.empty()) named.insert(tree.sources()[entry.source].local);
  }
  std::set<Place> places;
  for (const std::string& path : named) places.insert({"", path});
  for (const Entry& entry : tree.entries()) {
    const std::string& above = tree.sources()[entry.source].local;
    const bool is_top =
        !entry.path.empty() && entry.path.find('/') == entry.path.npos && !named.contains(above);
    if (is_top && entry.kind == Kind::directory) places.insert({entry.path + '/', above + entry.path + '/'});
  }
  std::vector<std::string> names;
  for (const Place& place : places) {
    for (const std::string& name : private_names(tree, place)) {
      const std::string shown = place.prefix + name;
      if (std::ranges::find(names, shown) == names.end()) names.push_back(shown);
    }
  }
  return name_all(std::move(names));
}

}  // namespace podrun::transfer
