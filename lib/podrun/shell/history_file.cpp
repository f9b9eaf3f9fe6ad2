// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/history_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/file_system.hpp"

namespace podrun::shell {
namespace {

constexpr off_t kMostBytes = 4 * 1024 * 1024;

/// Negative: it failed.
int open_for_user_alone(const std::string& file, int flags) {
  const int descriptor = ::open(file.c_str(), flags | O_RDWR | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor >= 0) ::fchmod(descriptor, S_IRUSR | S_IWUSR);  // an older file may be readable for others
  return descriptor;
}

}  // namespace

std::string history_file(const hosts::Probe& probe) {
  const std::optional<std::string> directory = hosts::state_directory(probe);
  return directory ? *directory + "/shell_history" : "";
}

std::string read_history(const std::string& file) {
  if (!is_file(file)) return {};
  const Descriptor opened(open_for_user_alone(file, 0));
  if (!opened.is_open()) return {};
  const off_t skipped = std::max<off_t>(::lseek(opened.get(), 0, SEEK_END) - kMostBytes, 0);
  ::lseek(opened.get(), skipped, SEEK_SET);
  std::string text = read_whole(opened.get(), 2 * kMostBytes).value_or("");
  std::size_t begin = text.size();
  for (int lines = 0; lines <= kMostHistoryEntries && begin != 0 && begin != std::string::npos; ++lines)
    begin = text.rfind('\n', begin - 1);
  const bool has_all = begin == 0 || begin == std::string::npos;
  if (has_all && skipped == 0) return text;
  text.erase(0, (has_all ? text.find('\n') : begin) + 1);
  replace_file(file, text);
  return text;
}

void add_to_history(const std::string& file, const std::string& line) {
  make_private_directory(std::filesystem::path(file).parent_path());
  const Descriptor opened(open_for_user_alone(file, O_CREAT));
  if (opened.is_open()) write_whole(opened.get(), line + '\n');
}

}  // namespace podrun::shell
