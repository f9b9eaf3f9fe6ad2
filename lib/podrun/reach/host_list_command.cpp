// SPDX-License-Identifier: Apache-2.0
// Runs the user's command that lists the hosts, and caches its output for the next runs.
#include "podrun/reach/host_list_command.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/local/spawn.hpp"

namespace podrun::reach {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLimit{60};
constexpr std::size_t kMost = 16 * 1024 * 1024;  ///< bytes of output: gcloud describes 2,000 hosts in 1 MB

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

/// Where podrun keeps the output of a command.
struct CacheFile {
  std::string directory;
  std::string name;
};

/// None if no directory is known. The file begins with the command, because two commands may share a
/// digest.
std::optional<CacheFile> cache_file(const std::string& command, const hosts::Probe& probe) {
  const std::optional<std::string> directory = hosts::cache_directory(probe);
  if (!directory) return std::nullopt;
  return CacheFile{*directory, "hosts." + short_digest(command)};
}

/// True if only this user can have made or changed it: a cached list chooses the hosts that get the command.
bool is_private(const struct stat& status, mode_t type) {
  return (status.st_mode & S_IFMT) == type && status.st_uid == ::geteuid() && (status.st_mode & kOthers) == 0;
}

int open_directory(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

std::optional<std::string> cached(const CacheFile& file, const std::string& command,
                                  std::chrono::seconds longest) {
  struct stat status {};
  const Descriptor directory(open_directory(file.directory));
  if (!directory.is_open() || ::fstat(directory.get(), &status) != 0 || !is_private(status, S_IFDIR))
    return std::nullopt;
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const Descriptor descriptor(::openat(directory.get(), file.name.c_str(), kFlags));
  if (!descriptor.is_open() || ::fstat(descriptor.get(), &status) != 0 || !is_private(status, S_IFREG))
    return std::nullopt;
  const std::chrono::seconds age{std::time(nullptr) - status.st_mtim.tv_sec};
  if (age < std::chrono::seconds(0) || age > longest) return std::nullopt;
  const std::optional<std::string> text = read_whole(descriptor.get(), kMost + command.size() + 1);
  const std::string head = command + '\0';
  if (!text || !text->starts_with(head)) return std::nullopt;
  return text->substr(head.size());
}

/// Writes the cache file in a directory for the user alone. After a failure the next run runs the command.
void write_cache(const CacheFile& file, const std::string& command, const std::string& output) {
  std::error_code ignored;
  fs::create_directories(fs::path(file.directory).parent_path(), ignored);
  ::mkdir(file.directory.c_str(), S_IRWXU);
  const Descriptor directory(open_directory(file.directory));
  // The directory of an older podrun was open to others. Only its owner can close it.
  if (!directory.is_open() || ::fchmod(directory.get(), S_IRWXU) != 0) return;
  const std::string temporary = fmt::format("{}.{}", file.name, ::getpid());
  ::unlinkat(directory.get(), temporary.c_str(), 0);  // of a killed podrun
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const Descriptor descriptor(::openat(directory.get(), temporary.c_str(), kFlags, S_IRUSR | S_IWUSR));
  if (!descriptor.is_open()) return;
  if (!write_whole(descriptor.get(), command + '\0' + output) ||
      ::renameat(directory.get(), temporary.c_str(), directory.get(), file.name.c_str()) != 0)
    ::unlinkat(directory.get(), temporary.c_str(), 0);
}

std::string run(const std::string& command) {
  const local::CommandOutput ended = local::read_shell_command("/bin/sh", command, kLimit, kMost);
  const std::string_view said = trim_space(last_line(ended.error));
  const auto fail = [&](const std::string& what) {
    throw UsageError(
        fmt::format("--hosts-command: {}{}{} ({})", what, said.empty() ? "" : ": ", said, command));
  };
  if (ended.fate == local::CommandOutput::Fate::timed_out) fail("no end after " + format_duration(kLimit));
  if (ended.fate == local::CommandOutput::Fate::too_long) fail("its output does not end");
  if (!ended.status) fail("it did not end by itself");
  if (*ended.status != 0) fail(fmt::format("exit {}", *ended.status));
  return ended.output;
}

}  // namespace

std::string read_hosts_command(const std::string& command, std::optional<std::chrono::seconds> cache,
                               const hosts::Probe& probe) {
  const std::optional<CacheFile> file = cache ? cache_file(command, probe) : std::nullopt;
  if (file) {
    if (auto known = cached(*file, command, *cache)) return *std::move(known);
  }
  std::string output = run(command);
  if (file) write_cache(*file, command, output);
  return output;
}

}  // namespace podrun::reach
