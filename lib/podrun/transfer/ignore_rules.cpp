// SPDX-License-Identifier: Apache-2.0
// Asks git which paths are ignored. Rules that git does not read itself (.podrunignore, --exclude) are copied
// as .gitignore into a temporary tree, where git is asked about equal paths.
#include "podrun/transfer/ignore_rules.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"

namespace podrun::transfer {
namespace {

/// git opens files by their paths, which may have 4,095 bytes; so nothing is ignored below longer ones.
constexpr std::size_t kLongestPath = 3500;
constexpr std::size_t kMaxRules = 16 * 1024 * 1024;

constexpr std::string_view kGitForGitignore = "push: git is needed to obey .gitignore (install git)";
constexpr std::string_view kGitForPodrunignore = "push: git is needed to obey .podrunignore (install git)";
constexpr std::string_view kGitForSkyignore = "push: git is needed to obey .skyignore (install git)";
constexpr std::string_view kGitForExclude = "push: git is needed for --exclude (install git)";

bool has(int directory, const char* name) {
  struct stat status {};
  return ::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/// True if this directory or one above it has a `.git`. Saves starting git where there is none.
bool has_git_above(int directory) {
  Descriptor at(::openat(directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  while (at.is_open()) {
    if (has(at.get(), ".git")) return true;
    struct stat here {};
    struct stat above {};
    const int parent = ::openat(at.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const bool is_root = ::fstat(at.get(), &here) != 0 || parent < 0 || ::fstat(parent, &above) != 0 ||
                         (here.st_dev == above.st_dev && here.st_ino == above.st_ino);
    at.reset(parent);
    if (is_root) return false;
  }
  return false;
}

/// Never proposes --no-ignore, which would send what the user keeps out of git, secrets among it.
[[noreturn]] void fail(const std::string& path, std::string_view why) {
  constexpr std::string_view kDubious = "detected dubious ownership in repository at '";
  if (why.starts_with(kDubious)) {
    why.remove_prefix(kDubious.size());
    const std::string_view repository = why.substr(0, why.rfind('\''));
    throw UsageError(
        fmt::format("push: {}: git does not trust a repository of another user (if you do: git config "
                    "--global --add safe.directory {})",
                    path, shell_quote(std::string(repository))));
  }
  throw UsageError(fmt::format("push: {}: {} (podrun asks git what to leave out)", path,
                               why.empty() ? "git failed" : why));
}

/// The path of the directory inside its work tree, with a final "/", or empty for the top; none outside of
/// work trees, and without git.
std::optional<std::string> path_in_work_tree(const std::string& directory) {
  constexpr std::string_view kInside = "true\n";
  const GitRun run = run_git({"-C", directory, "rev-parse", "--is-inside-work-tree", "--show-prefix"});
  if (run.error == ENOENT) return std::nullopt;
  if (run.error != 0) fail(directory, lower_first(std::generic_category().message(run.error)));
  if (run.status == 0) {
    if (!run.output.starts_with(kInside)) return std::nullopt;
    std::string path = run.output.substr(kInside.size());
    if (path.ends_with('\n')) path.pop_back();
    return path;
  }
  if (run.message.find("not a git repository") != std::string::npos) return std::nullopt;
  fail(directory, run.message);
}

/// The tracked paths below the directory that git's patterns match: they are sent nevertheless.
std::vector<std::string> tracked_and_ignored(const std::string& directory) {
  const GitRun run =
      run_git({"-C", directory, "ls-files", "-z", "--cached", "--ignored", "--exclude-standard"});
  if (run.status != 0) fail(directory, run.message);
  std::vector<std::string> paths;
  for (std::string_view rest = run.output; !rest.empty();) paths.emplace_back(take_part(rest, '\0'));
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// True if the path or one below it is among the sorted ones.
bool has_at_or_below(const std::vector<std::string>& sorted, const std::string& path) {
  if (std::binary_search(sorted.begin(), sorted.end(), path)) return true;
  const std::string below = path + '/';
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), below);
  return found != sorted.end() && found->starts_with(below);
}

/// The patterns of a file; none if there is no such regular file. Like git, this follows no link.
std::optional<std::string> read_rules(int directory, const char* name, const std::string& path) {
  const Descriptor file(::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open() && (errno == ENOENT || errno == ELOOP)) return std::nullopt;
  struct stat status {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) fail(path + name, lower_first(errno_text()));
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  std::optional<std::string> rules = read_whole(file.get(), kMaxRules);
  if (!rules) fail(path + name, lower_first(errno_text()));
  return rules;
}

/// The patterns as lines of a file. A leading "#" is escaped, since it would begin a comment.
std::string exclude_lines(const std::vector<std::string>& patterns) {
  std::string lines;
  for (const std::string& pattern : patterns) {
    if (pattern.find('\n') != std::string::npos)
      throw UsageError("--exclude: a pattern cannot contain a newline (\"?\" matches one)");
    if (pattern.starts_with('#')) lines += '\\';
    lines += pattern + '\n';
  }
  return lines;
}

/// Whether git, Mercurial, Jujutsu or Subversion keeps its own data under this name.
bool is_of_version_control(std::string_view name) {
  return name == ".git" || name == ".hg" || name == ".jj" || name == ".svn";
}

/// Adds the matches of a lower rule where no higher one matches.
void add_lower_rules(std::vector<Match>& matches, const std::vector<Match>& lower) {
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (matches[i] == Match::none) matches[i] = lower[i];
  }
}

}  // namespace

/// The temporary tree. It has the patterns, and the directories that are asked about, since a pattern that
/// ends with "/" only matches directories.
class IgnoreRules::CopiedRules {
 public:
  CopiedRules(const TempRepository& repository, std::string_view name, std::string_view if_missing)
      : root_(make(repository.path(name))), check_(repository.options(root_), if_missing) {}

  /// `directory`: empty, or ends with "/".
  void add(const std::string& directory, std::string_view rules) {
    std::error_code ignored;  // the file below cannot be written then
    std::filesystem::create_directories(root_ + directory, ignored);
    std::ofstream file(root_ + directory + ".gitignore", std::ios::binary);
    file << rules << std::flush;
    if (!file) throw UsageError(fmt::format("push: {}: cannot be written", root_ + directory + ".gitignore"));
  }

  std::vector<Match> ask(const std::string& directory, const std::vector<ListedName>& names) {
    std::vector<std::string> paths;
    paths.reserve(names.size());
    for (const ListedName& each : names) {
      paths.push_back(directory + each.name);
      if (each.type == DT_DIR) ::mkdir((root_ + paths.back()).c_str(), 0700);
    }
    return check_.ask(paths);
  }

 private:
  static std::string make(const std::string& directory) {
    ::mkdir(directory.c_str(), 0700);
    return directory + '/';
  }

  std::string root_;
  PathCheck check_;
};

IgnoreRules::IgnoreRules(std::string local, const TreeRequest& request)
    : local_(std::move(local)), obeys_(request.ignore), takes_skyignore_(request.skyignore) {
  if (request.excludes.empty()) return;
  excludes_ = std::make_unique<CopiedRules>(temporary(), "excludes", kGitForExclude);
  excludes_->add("", exclude_lines(request.excludes));
}

IgnoreRules::~IgnoreRules() = default;

const TempRepository& IgnoreRules::temporary() {
  if (!temporary_) temporary_ = std::make_unique<TempRepository>();
  return *temporary_;
}

void IgnoreRules::enter(const std::string& name, int directory) {
  Level level{.path_size = path_.size()};
  const bool is_source = levels_.empty();
  if (!is_source) path_ += name + '/';
  if (obeys_ && directory >= 0) {
    if (is_source && takes_skyignore_) enter_skyignore(directory);
    const bool may_be_repository =
        !skyignore_ && (is_source ? has_git_above(directory) : has(directory, ".git"));
    level.is_repository = (may_be_repository && enter_repository()) || enter_brought_back(name);
    level.has_gitignore = !skyignore_ && repositories_.empty() && enter_gitignore(directory);
    level.has_podrunignore = enter_podrunignore(directory);
  }
  levels_.push_back(std::move(level));
}

bool IgnoreRules::enter_brought_back(const std::string& name) {
  if (levels_.empty()) return false;
  const std::vector<std::string>& names = levels_.back().brought_back;
  if (std::find(names.begin(), names.end(), name) == names.end()) return false;
  repositories_.emplace_back();
  return true;
}

/// True if a repository's rules count from here on.
bool IgnoreRules::enter_repository() {
  const std::string directory = local_ + path_;
  if (directory.size() > kLongestPath) return false;
  std::optional<std::string> in_work_tree = path_in_work_tree(directory);
  if (!in_work_tree || (!path_.empty() && !in_work_tree->empty())) return false;
  Repository repository{
      .check = std::make_unique<PathCheck>(std::vector<std::string>{"-C", directory}, kGitForGitignore),
      .base = path_.size()};
  if (!in_work_tree->empty()) {
    // A source that its repository ignores is sent, since the user named it: it counts as outside of work
    // trees.
    in_work_tree->pop_back();
    const std::string own_name = in_work_tree->substr(in_work_tree->rfind('/') + 1);
    if (repository.check->ask({"../" + own_name}).front() == Match::ignored) return false;
  }
  repository.tracked = tracked_and_ignored(directory);
  repositories_.push_back(std::move(repository));
  return true;
}

bool IgnoreRules::enter_gitignore(int directory) {
  struct stat status {};
  if (::fstatat(directory, ".gitignore", &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
    return false;
  if (!outside_) outside_ = std::make_unique<PathCheck>(temporary().options(local_), kGitForGitignore);
  ++gitignores_;
  return true;
}

bool IgnoreRules::enter_podrunignore(int directory) {
  const std::optional<std::string> rules = read_rules(directory, ".podrunignore", local_ + path_);
  if (!rules) return false;
  if (!podrunignore_)
    podrunignore_ = std::make_unique<CopiedRules>(temporary(), "podrunignore", kGitForPodrunignore);
  podrunignore_->add(path_, *rules);
  ++podrunignores_;
  return true;
}

/// SkyPilot reads only the one at the top, and then no .gitignore.
void IgnoreRules::enter_skyignore(int directory) {
  const std::optional<std::string> rules = read_rules(directory, ".skyignore", local_);
  if (!rules) return;
  skyignore_ = std::make_unique<CopiedRules>(temporary(), "skyignore", kGitForSkyignore);
  skyignore_->add("", *rules);
}

void IgnoreRules::leave() {
  const Level level = levels_.back();
  levels_.pop_back();
  path_.resize(level.path_size);
  if (level.is_repository) repositories_.pop_back();
  if (level.has_gitignore) --gitignores_;
  if (level.has_podrunignore) --podrunignores_;
}

std::vector<bool> IgnoreRules::ignored(const std::vector<ListedName>& names) {
  std::vector<Match> matches(names.size(), Match::none);
  if (path_.size() <= kLongestPath) {
    if (excludes_) add_lower_rules(matches, excludes_->ask(path_, names));
    if (podrunignores_ > 0) add_lower_rules(matches, podrunignore_->ask(path_, names));
    if (skyignore_) add_lower_rules(matches, skyignore_->ask(path_, names));
    add_git_rules(matches, names);
  }
  std::vector<bool> result(names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    result[i] = matches[i] == Match::ignored || (obeys_ && is_of_version_control(names[i].name));
  return result;
}

void IgnoreRules::add_git_rules(std::vector<Match>& matches, const std::vector<ListedName>& names) {
  const Repository* const repository = repositories_.empty() ? nullptr : &repositories_.back();
  if (repository ? !repository->check : gitignores_ == 0) return;
  const std::string directory = repository ? path_.substr(repository->base) : path_;
  std::vector<std::string> paths;
  paths.reserve(names.size());
  for (const ListedName& each : names) {
    paths.push_back(directory + each.name);
    if (each.type == DT_DIR && !each.is_here) paths.back() += '/';
  }
  const std::vector<Match> by_git = (repository ? *repository->check : *outside_).ask(paths);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (by_git[i] != Match::ignored) continue;
    const bool is_tracked = repository && has_at_or_below(repository->tracked, directory + names[i].name);
    if (matches[i] == Match::none && !is_tracked) matches[i] = Match::ignored;
    if (matches[i] == Match::included && names[i].type == DT_DIR)
      levels_.back().brought_back.push_back(names[i].name);
  }
}

}  // namespace podrun::transfer
