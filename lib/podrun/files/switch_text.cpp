// SPDX-License-Identifier: Apache-2.0
// Writes the sh text of the switch: few programs with many arguments, so that it takes a moment. What is
// wholly new goes as its topmost directory; everything else file by file into the directory that is there.
#include "podrun/files/switch_text.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/remote/scripts.hpp"

namespace podrun::files {
namespace {

/// Bytes of arguments for one program: Linux allows 2 MiB at least, with the environment; busybox less.
constexpr std::size_t kMaxArguments = 64 * 1024;
constexpr std::uint32_t kOwnerAccess = 0700;

/// The directory that a path is in; empty: the target.
std::string parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string quoted(const std::string& path) { return shell_quote("./" + path); }

/// `run PROGRAM ARGUMENT...` for all arguments, in as many lines as they need.
class Lines {
 public:
  explicit Lines(std::string& text) : text_(text) {}

  void add(const std::string& program, const std::vector<std::string>& arguments,
           const std::string& last = {}) {
    std::string line;
    for (const std::string& argument : arguments) {
      if (line.size() + argument.size() > kMaxArguments) end(program, line, last);
      line += ' ' + argument;
    }
    if (!line.empty()) end(program, line, last);
  }

 private:
  void end(const std::string& program, std::string& line, const std::string& last) {
    text_ += fmt::format("{}{}{}{}\n", program, std::exchange(line, {}), last.empty() ? "" : " ", last);
  }

  std::string& text_;
};

/// What the switch does, from a transfer.
struct Steps {
  std::map<std::string, std::vector<std::string>> moved;  ///< directory: paths that go into it
  std::vector<std::string> in_the_way;                    ///< of another kind than what replaces it
  std::set<std::string> changed;  ///< directories in which something is moved or deleted
  std::map<std::uint32_t, std::vector<std::string>> modes;
  std::map<std::int64_t, std::vector<std::string>> times;
  std::vector<std::string> opened;  ///< directories that their owner must be let into first
};

const Entry* find(const LocalTree& tree, const std::string& path, const Transfer& transfer,
                  const PathState** state) {
  const std::vector<Entry>& entries = tree.entries();
  const auto found =
      std::lower_bound(entries.begin(), entries.end(), path,
                       [](const Entry& entry, const std::string& p) { return entry.path < p; });
  if (found == entries.end() || found->path != path) return nullptr;
  *state = &transfer.states[static_cast<std::size_t>(found - entries.begin())];
  return &*found;
}

void plan_moves(const LocalTree& tree, const Transfer& transfer, Steps& steps) {
  Directories whole;
  for (const std::size_t index : transfer.chosen) {
    const Entry& entry = tree.entries()[index];
    if (whole.contain(entry.path)) continue;
    const PathState& state = transfer.states[index];
    const bool is_other_kind = !state.same_kind && (state.is_directory || entry.kind == Kind::directory);
    if (state.present && (is_other_kind || state.is_own_target)) steps.in_the_way.push_back(entry.path);
    steps.moved[parent(entry.path)].push_back(entry.path);
    if (entry.kind == Kind::directory) whole.add(entry.path);
  }
  for (const auto& [directory, paths] : steps.moved) steps.changed.insert(directory);
  for (const HostOnly& each : transfer.deleted) steps.changed.insert(parent(each.path));
}

/// A new directory came with the access that staging needs, and a changed one may have been opened.
void plan_attributes(const LocalTree& tree, const Transfer& transfer, Steps& steps) {
  const std::vector<Entry>& entries = tree.entries();
  std::size_t next = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const PathState& state = transfer.states[i];
    const bool chosen = next < transfer.chosen.size() && transfer.chosen[next] == i;
    if (chosen) ++next;
    if (entry.kind == Kind::link || (chosen && entry.kind == Kind::file)) continue;
    const bool changed = entry.kind == Kind::directory && steps.changed.contains(entry.path);
    const bool opened = !chosen && changed && state.lacks_access;
    if (opened) steps.opened.push_back(quoted(entry.path));
    const bool lacks_access = (entry.mode & kOwnerAccess) != kOwnerAccess;
    if (chosen ? lacks_access : opened || !state.present || state.mode_differs)
      steps.modes[entry.mode].push_back(quoted(entry.path));
    if (!chosen && ((changed && !entry.path.empty()) || !state.present || state.time_differs))
      steps.times[entry.mtime].push_back(quoted(entry.path));
  }
}

/// `202611230911.07`, in UTC, as touch(1) takes it; empty: it has no such form.
std::string touch_time(std::int64_t mtime) {
  const auto time = static_cast<std::time_t>(mtime);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  if (parts.tm_year < -1900 || parts.tm_year > 9999 - 1900) return {};
  return fmt::format("{:04}{:02}{:02}{:02}{:02}.{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::vector<std::string> all_quoted(const std::vector<std::string>& paths) {
  std::vector<std::string> words;
  for (const std::string& path : paths) words.push_back(quoted(path));
  return words;
}

/// The deepest first, since a directory may become one that cannot be entered.
std::vector<std::string> reversed(const std::vector<std::string>& words) {
  return {words.rbegin(), words.rend()};
}

/// A target that counts from the home directory, or `~/x`, as a word of sh.
std::string target_word(const std::string& target) {
  if (target == "~") return "\"$HOME\"";
  if (target.starts_with("~/")) return "\"$HOME\"/" + shell_quote(target.substr(2));
  return target.starts_with('/') ? shell_quote(target) : shell_quote("./" + target);
}

}  // namespace

std::string check_text(const LocalTree& tree, const Transfer& transfer) {
  Steps steps;
  plan_moves(tree, transfer, steps);
  std::vector<std::string> there;
  for (const std::string& directory : steps.changed) {
    const PathState* state = nullptr;
    const Entry* const entry = find(tree, directory, transfer, &state);
    if (!entry || (state->present && state->same_kind)) there.push_back(quoted(directory));
  }
  std::string text;
  Lines(text).add("podrun_need_writable", there);
  return text;
}

std::string switch_text(const LocalTree& tree, const Transfer& transfer, const std::string* make) {
  Steps steps;
  plan_moves(tree, transfer, steps);
  plan_attributes(tree, transfer, steps);
  std::string text(remote::kEnvironmentScript);
  text +=
      "podrun_clean_environment\npodrun_failed=0\nrun() { \"$@\" || podrun_failed=1; }\n"
      "podrun_new=${0%/*}/staging/new\ntrap '' HUP INT QUIT TERM\n";
  if (make) {
    text += fmt::format("cd -- \"${{HOME:-/}}\" && mkdir -p -- {0} && cd -P -- {0} || exit 1\n",
                        target_word(*make));
  } else {
    text += "cd -P -- \"${0%/*}/target\" || exit 1\n";
  }
  Lines lines(text);
  lines.add("run chmod u+rwx --", steps.opened);
  std::vector<std::string> deleted;
  for (const HostOnly& each : transfer.deleted) deleted.push_back(quoted(each.path));
  lines.add("run rm -rf --", deleted);
  lines.add("run rm -rf --", all_quoted(steps.in_the_way));
  for (const auto& [directory, paths] : steps.moved) {
    std::vector<std::string> staged;
    for (const std::string& path : paths) staged.push_back("\"$podrun_new\"/" + shell_quote(path));
    lines.add("run mv -f --", staged, quoted(directory + '/'));
  }
  for (const auto& [mode, paths] : steps.modes)
    lines.add(fmt::format("run chmod 0{:04o} --", mode), reversed(paths));
  // Now, since the directory that the staging directory is in has a time too.
  text +=
      "(cd -P -- \"${0%/*}/staging\" && rm -rf -- \"$PWD\") && rm -f -- \"${0%/*}/staging\"\nTZ=UTC0\nexport "
      "TZ\n";
  for (const auto& [mtime, paths] : steps.times) {
    const std::string time = touch_time(mtime);
    if (!time.empty()) lines.add(fmt::format("run touch -c -m -t {} --", time), reversed(paths));
  }
  return text + "exit $podrun_failed\n";
}

}  // namespace podrun::files
