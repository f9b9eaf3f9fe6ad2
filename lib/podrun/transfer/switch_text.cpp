// SPDX-License-Identifier: Apache-2.0
// Writes the sh text of the switch: few programs with many arguments, so that it takes a moment. What is
// wholly new goes as its topmost directory; everything else file by file into the directory that is there.
// Another user may own a directory of the target, and exchange names in it meanwhile. So each program works
// in a directory that was entered part by part, through no link, on names in it that it does not follow.
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/supervisor/scripts.hpp"
#include "podrun/transfer/comparison.hpp"
#include "podrun/transfer/scripts.hpp"
#include "podrun/transfer/switch_steps.hpp"

namespace podrun::transfer {
namespace {

/// Bytes of arguments for one program: Linux allows 2 MiB at least, with the environment; busybox less.
constexpr std::size_t kMaxArguments = 64 * 1024;

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

/// The links of the host that stay, and through which files are put in place.
class KeptLinks {
 public:
  KeptLinks(const LocalTree& tree, const Transfer& transfer) {
    for (std::size_t i = 0; i < transfer.states.size(); ++i)
      if (transfer.states[i].is_kept) indices_.emplace(tree.entries()[i].path, i);
  }

  /// The text before a program that enters the directory: names the last link on the way to it.
  std::string through(const std::string& directory) const {
    if (indices_.empty()) return {};
    for (std::string path = directory; !path.empty(); path = parent(path)) {
      const auto found = indices_.find(path);
      if (found != indices_.end()) return fmt::format("through {} {} ", found->second, shell_quote(path));
    }
    return {};
  }

 private:
  std::map<std::string, std::size_t> indices_;
};

/// `202611230911.07`, in UTC, for touch(1); empty if it has no such form.
std::string touch_time(std::int64_t mtime) {
  const auto time = static_cast<std::time_t>(mtime);
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  if (parts.tm_year < -1900 || parts.tm_year > 9999 - 1900) return {};
  return fmt::format("{:04}{:02}{:02}{:02}{:02}.{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

/// The names in each directory.
std::map<std::string, std::vector<std::string>> by_directory(const std::vector<std::string>& paths) {
  std::map<std::string, std::vector<std::string>> names;
  for (const std::string& path : paths) names[parent(path)].push_back(quoted_name(path));
  return names;
}

/// The beginning of all switches. The shell's current directory is the staging directory, which nobody can
/// exchange. Its place among the processes leads there too, with rename(2) on one file system.
/// "through INDEX LINK" in front of another function: what this enters is behind the link, and
/// podrun.link.INDEX has the way there, without links. Behind a link there may be another file system:
/// "place" first copies beside a file, and then renames.
constexpr std::string_view kBegin = R"(podrun_clean_environment
trap '' HUP INT QUIT TERM
podrun_run=${0%/*}
podrun_up=..
podrun_failed=0
podrun_say() { echo "podrun: $*" >&2; return 1; }
read -r podrun_inode podrun_mode podrun_owner <"$podrun_run/podrun.staging"
cd -P -- "$podrun_run/staging" 2>/dev/null && set -- $(ls -ldni .) &&
[ "$1 $2 $4" = "$podrun_inode $podrun_mode $podrun_owner" ] ||
{ podrun_say "the staging directory was renamed or replaced"; exit 1; }
podrun_name=${PWD##*/}
podrun_link=
podrun_skip=
podrun_staging=/proc/$$/cwd
[ "$podrun_staging" -ef . ] || podrun_staging=$PWD
podrun_target=$(cat "$podrun_run/podrun.target"; echo /)
run() { "$@" || podrun_failed=1; }
go() {
  podrun_rest=$1
  podrun_find_place
  while [ "$podrun_rest" ]; do
    podrun_part=${podrun_rest%%/*}
    case $podrun_rest in */*) podrun_rest=${podrun_rest#*/} ;; *) podrun_rest= ;; esac
    case $podrun_part in
      "" | .) continue ;;
      ..) cd -P .. && podrun_find_place && continue || return ;;
    esac
    podrun_before=${podrun_here%/}/$podrun_part
    [ -z "$podrun_make" ] || [ -d "./$podrun_part" ] || mkdir -- "./$podrun_part"
    cd -P -- "./$podrun_part" || return
    podrun_find_place
    [ "$podrun_here" = "$podrun_before" ] || podrun_say "$podrun_before: was renamed or replaced by a link meanwhile" || return
  done
}
enter() {
  if [ "$podrun_link" ]; then
    podrun_way=$(cat "$podrun_run/podrun.link.$podrun_link"; echo /)
    cd -P / && go "${podrun_way%?}" || return
  else cd -P "$podrun_up" && go "${podrun_target%?}" && podrun_make= || return
  fi
  go "${1#"$podrun_skip"}"
}
through() {
  podrun_link=$1
  podrun_skip=$2
  shift 2
  "$@"
  podrun_link=
  podrun_skip=
}
remove() {
  [ "$podrun_owner" = 0 ] || find "$@" -type d ! -perm -700 -exec chmod u+rwx {} \; 2>/dev/null
  rm -rf -- "$@"
}
at() { (enter "$1" && shift && "$@") || podrun_failed=1; }
place() {
  if [ -z "$podrun_link" ]; then mv -f -- "$@" ./; return; fi
  podrun_place=$podrun_name.$podrun_link
  mkdir -m 700 -- "./$podrun_place" && go "$podrun_place" || return
  mv -f -- "$@" ./
  podrun_status=$?
  for podrun_each; do
    podrun_each=./${podrun_each##*/}
    [ $podrun_status != 0 ] || mv -f -- "$podrun_each" ../ || podrun_status=1
    [ $podrun_status = 0 ] || rm -rf -- "$podrun_each"
  done
  cd -P .. && rmdir -- "./$podrun_place" && return $podrun_status
}
put() { (enter "$1" && shift && place "$@") || podrun_failed=1; }
hold() {
  mkdir -p "./held/$1"
  (enter "$1" && podrun_held=$podrun_staging/held/$1 && shift && { ln -- "$@" "$podrun_held/" 2>/dev/null || hold_each "$@"; }) ||
    podrun_failed=1
}
hold_each() {
  podrun_status=0
  for podrun_each; do
    rm -f -- "$podrun_held/$podrun_each"
    if ln -- "./$podrun_each" "$podrun_held/" 2>/dev/null; then continue; fi
    if [ "$podrun_owner" != 0 ] && ! [ -O "./$podrun_each" ]; then
      podrun_say "${podrun_here%/}/$podrun_each: belongs to another user, who alone can change its mode and time" || podrun_status=1
    elif cp -pP -- "./$podrun_each" "$podrun_held/" && : >"$podrun_held/.podrun.copied"; then :
    else podrun_status=1; fi
  done
  return $podrun_status
}
put_back() {
  [ ! -e "./held/$1/.podrun.copied" ] || (
    podrun_held=$podrun_staging/held/$1
    enter "$1" && shift && for podrun_again; do
      [ ! -e "$podrun_held/$podrun_again" ] || place "$podrun_held/$podrun_again" || exit
    done
  ) || podrun_failed=1
}
)";

constexpr std::string_view kRemoveStaging = R"(rm -rf -- new run sums held
cd -P .. && rmdir -- "./$podrun_name" && rm -f -- "$podrun_run/staging"
podrun_up=.
TZ=UTC0
export TZ
)";

/// Modes and times of files that stay: by hard links in the staging directory, where a link to elsewhere
/// cannot take a file's place; without hard links, on copies that replace the files.
void add_held(const Steps& steps, const KeptLinks& links, Lines& lines, std::string& text) {
  if (steps.held.empty()) return;
  for (const auto& [directory, names] : steps.held)
    lines.add(fmt::format("{}hold {}", links.through(directory), shell_quote(directory)), names);
  text += "find ./held ! -type f ! -type d -exec rm -f -- {} +\nTZ=UTC0\nexport TZ\n";
  for (const auto& [mode, places] : steps.modes) lines.add(fmt::format("run chmod 0{:04o} --", mode), places);
  for (const auto& [mtime, places] : steps.times) {
    const std::string time = touch_time(mtime);
    if (!time.empty()) lines.add(fmt::format("run touch -c -m -t {} --", time), places);
  }
  for (const auto& [directory, names] : steps.held)
    lines.add(fmt::format("{}put_back {}", links.through(directory), shell_quote(directory)), names);
}

}  // namespace

std::string check_text(const LocalTree& tree, const Transfer& transfer) {
  Steps steps;
  plan_moves(tree, transfer, steps);
  std::vector<std::string> there;
  for (const std::string& directory : steps.changed) {
    const std::optional<std::size_t> index = tree.find(directory);
    if (!index || (transfer.states[*index].present && transfer.states[*index].same_kind))
      there.push_back(shell_quote("./" + directory));
  }
  std::string text;
  Lines(text).add("podrun_need_writable", there);
  return text;
}

std::string switch_text(const LocalTree& tree, const Transfer& transfer, Target target) {
  Steps steps;
  plan_moves(tree, transfer, steps);
  plan_attributes(tree, transfer, steps);
  const std::string make = target == Target::missing ? "1" : "";
  std::string text =
      fmt::format("podrun_make={}\n{}{}{}", make, supervisor::kEnvironmentScript, kPlaceScript, kBegin);
  if (!make.empty()) text += "at ''\npodrun_make=\n[ $podrun_failed = 0 ] || exit 1\n";
  Lines lines(text);
  const KeptLinks links(tree, transfer);
  const auto in = [&links](std::string_view function, const std::string& directory) {
    return fmt::format("{}{} {}", links.through(directory), function, shell_quote(directory));
  };
  for (const std::string& each : steps.opened) text += in("at", each) + " chmod u+rwx .\n";
  std::vector<std::string> removed;
  for (const HostOnly& each : transfer.deleted) removed.push_back(each.path);
  removed.insert(removed.end(), steps.in_the_way.begin(), steps.in_the_way.end());
  for (const auto& [directory, names] : by_directory(removed))
    lines.add(in("at", directory) + " remove", names);
  for (const auto& [directory, paths] : steps.moved) {
    std::vector<std::string> staged;
    for (const std::string& path : paths) staged.push_back("\"$podrun_staging\"/new/" + shell_quote(path));
    lines.add(in("put", directory), staged);
  }
  add_held(steps, links, lines, text);
  for (auto each = steps.dir_modes.rbegin(); each != steps.dir_modes.rend(); ++each)
    text += fmt::format("{} chmod 0{:04o} .\n", in("at", each->first), each->second);
  // Now, since the directory that the staging directory is in has a time too.
  text += kRemoveStaging;
  for (auto each = steps.dir_times.rbegin(); each != steps.dir_times.rend(); ++each) {
    const std::string time = touch_time(each->second);
    if (!time.empty()) text += fmt::format("{} touch -c -m -t {} .\n", in("at", each->first), time);
  }
  return text + "exit $podrun_failed\n";
}

}  // namespace podrun::transfer
