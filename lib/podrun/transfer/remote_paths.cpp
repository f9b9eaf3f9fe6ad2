// SPDX-License-Identifier: Apache-2.0
// Checks and counts the paths that hosts list, and applies the ignore rules of a local directory to paths
// that only a host has.
#include "podrun/transfer/remote_paths.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/link/failure.hpp"
#include "podrun/transfer/comparison.hpp"
#include "podrun/transfer/ignore_rules.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

/// Goes from directory to directory below the source, as a walk would, even through those that are not here.
class HostDirectories {
 public:
  HostDirectories(const LocalSource& source, const TreeRequest& request)
      : local_(source.local), rules_(source.local, request) {
    const Descriptor directory(open_path(local_, O_RDONLY | O_DIRECTORY));
    rules_.enter("", directory.get());
    levels_.push_back({.is_here = directory.is_open()});
  }

  /// `directory`: below the source; empty or ends with "/". One comes after those that are above it.
  std::vector<bool> ignored(const std::string& directory, const std::vector<ListedName>& names) {
    while (!directory.starts_with(path_)) leave();
    for (std::size_t end; (end = directory.find('/', path_.size())) != std::string::npos;)
      enter(directory.substr(path_.size(), end - path_.size()));
    const Level& level = levels_.back();
    if (level.rule != Rule::ask) return std::vector<bool>(names.size(), level.rule == Rule::all);
    std::vector<ListedName> known = names;
    for (ListedName& each : known) each.is_here = level.is_here && each.type == DT_DIR && is_here(each.name);
    return rules_.ignored(known);
  }

 private:
  enum class Rule { ask, all, none };  ///< which paths below a directory are ignored
  struct Level {
    std::size_t path_size = 0;  ///< of the directory above
    Rule rule = Rule::ask;
    bool is_here = false;
  };

  bool is_here(const std::string& name) const {
    struct stat status {};
    return ::lstat((local_ + path_ + name).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  }

  void enter(const std::string& name) {
    const Level& above = levels_.back();
    Level level{path_.size(), above.rule};
    if (above.rule == Rule::ask) {
      const Descriptor directory(
          above.is_here ? open_path(local_ + path_ + name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW) : -1);
      // A file or link that will take the place of the host's directory; git follows no link.
      const bool replaces = above.is_here && !directory.is_open() && (errno == ENOTDIR || errno == ELOOP);
      level.is_here = directory.is_open();
      // git may call a directory that is not here ignored where only everything in it is. So each path in it
      // is asked about.
      const bool is_ignored = rules_.ignored({{name, DT_DIR, level.is_here || replaces}}).front();
      if (is_ignored && (level.is_here || replaces || name == ".git")) level.rule = Rule::all;
      if (level.rule == Rule::ask && replaces) level.rule = Rule::none;
      if (level.rule == Rule::ask) rules_.enter(name, directory.get());
    }
    path_ += name + '/';
    levels_.push_back(level);
  }

  void leave() {
    const Level level = levels_.back();
    levels_.pop_back();
    path_.resize(level.path_size);
    if (level.rule == Rule::ask) rules_.leave();
  }

  std::string local_;
  IgnoreRules rules_;
  std::string path_;
  std::vector<Level> levels_;
};

std::optional<LocalSource> first_directory(const TreeRequest& request) {
  for (const std::string& word : request.sources) {
    LocalSource source = find_source(word);
    if (source.is_directory()) return source;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(std::string detail) {
  throw link::HostError({kCopying, kTooLarge, std::move(detail)});
}

}  // namespace

void PathBudget::spend(std::size_t record, std::size_t name) {
  if (++taken_ > paths_) refuse(fmt::format("more files and directories than --max-files {}", paths_));
  bytes_ += record + 2 * name;
  if (bytes_ / kBytes >= paths_) {
    refuse(fmt::format("its names are too long for --max-files {}, which has room for {} bytes a path",
                       paths_, kBytes));
  }
}

void refuse_listed(std::string_view what) {
  constexpr std::size_t kShown = 200;
  throw link::HostError({kCopying, link::Cause::unexpected_answer, std::string(what.substr(0, kShown))});
}

bool goes_down(std::string_view path) {
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
}

std::vector<bool> ignored_among(const std::vector<HostOnly>& paths, const TreeRequest& request) {
  std::vector<bool> result(paths.size(), true);
  const std::optional<LocalSource> source = first_directory(request);
  if (!source) return result;
  std::map<std::string, std::vector<std::size_t>> by_directory;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!paths[i].path.starts_with(source->prefix)) continue;
    const std::string path = paths[i].path.substr(source->prefix.size());
    if (goes_down(path)) by_directory[path.substr(0, path.rfind('/') + 1)].push_back(i);
  }
  HostDirectories directories(*source, request);
  for (const auto& [directory, indices] : by_directory) {
    std::vector<ListedName> names;
    for (const std::size_t index : indices) {
      const std::string& path = paths[index].path;
      const unsigned char type = paths[index].is_directory ? DT_DIR : DT_REG;
      names.push_back({path.substr(path.rfind('/') + 1), type});
    }
    const std::vector<bool> ignored = directories.ignored(directory, names);
    for (std::size_t i = 0; i < indices.size(); ++i) result[indices[i]] = ignored[i];
  }
  return result;
}

}  // namespace podrun::transfer
