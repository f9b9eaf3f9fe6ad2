// SPDX-License-Identifier: Apache-2.0
#include "cli/podrun_inside.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"

namespace podrun::cli {
namespace {

/// Paths. The command starts in another directory.
constexpr std::array kPaths = {"PODRUN_HOSTFILE", "DLTS_HOSTFILE", "PBS_NODEFILE", "SSH_AUTH_SOCK"};
/// Ignored if relative (XDG Base Directory Specification), so an absolute one would be another directory.
constexpr std::array kDirectories = {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"};
constexpr std::array kOthers = {"SLURM_JOB_NODELIST",   "SKYPILOT_NODE_IPS", "TPU_PROCESS_ADDRESSES",
                                "TPU_WORKER_HOSTNAMES", "TPU_WORKER_ID",     "MEGASCALE_NUM_SLICES",
                                "GCE_METADATA_HOST",    "GCE_METADATA_IP",   "TPU_SKIP_MDS_QUERY"};

std::string absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  return error || path.empty() ? path : whole.string();
}

/// `^FILE` in PODRUN_HOSTS names a file.
std::string with_absolute_files(const std::string& list) {
  std::string text;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find_first_of(", \t\n", at), list.size());
    const std::string word = list.substr(at, end - at);
    text += word.starts_with('^') ? '^' + absolute(word.substr(1)) : word;
    if (end < list.size()) text += list[end];
    at = end + 1;
  }
  return text;
}

}  // namespace

bool is_only_here(const session::SessionSpec& session) {
  return std::ranges::all_of(session.hosts,
                             [](const hosts::Host& host) { return host.kind == hosts::HostKind::local; });
}

std::vector<supervisor::Variable> variables_of_podrun(const hosts::Probe& probe) {
  std::vector<supervisor::Variable> variables;
  const auto add = [&](const std::string& name, const auto& change) {
    std::optional<std::string> value = probe.env(name);
    if (value) variables.push_back({name, change(*value), true});
    return value.has_value();
  };
  const auto unchanged = [](const std::string& value) { return value; };
  add("PODRUN_HOSTS", with_absolute_files);
  for (const char* name : kPaths) add(name, absolute);
  for (const char* name : kDirectories) add(name, unchanged);
  for (const char* name : kOthers) add(name, unchanged);
  for (std::size_t group = 0; add(fmt::format("SLURM_JOB_NODELIST_HET_GROUP_{}", group), unchanged);) ++group;
  return variables;
}

std::string own_program() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : program.string();
}

std::string own_directory() { return std::filesystem::path(own_program()).parent_path(); }

std::string append_to_path(const std::string& directory) {
  if (directory.empty() || directory.find_first_of(":\n") != std::string::npos) return "";
  return fmt::format("PATH=$PATH:{}; export PATH; ", shell_quote(directory));
}

}  // namespace podrun::cli
