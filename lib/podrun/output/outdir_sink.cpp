// SPDX-License-Identifier: Apache-2.0
// The Sink of `--outdir`: a file for each stream of each host. Nothing in the directory changes before a
// command starts, so a run that never starts keeps the output of the previous run.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/output/json_sink.hpp"
#include "podrun/output/make_sinks.hpp"

namespace podrun::output {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMaxBuffer = 256 * kKiB;
constexpr std::size_t kAllBuffers = 16 * kKiB * kKiB;
constexpr std::chrono::seconds kMaxDelay{1};
constexpr mode_t kMode = 0666;                       // minus the umask
constexpr std::string_view kReleased = ".released";  ///< see release_outdir()

[[noreturn]] void refuse(const std::string& path, const std::error_code& error) {
  throw UsageError(fmt::format("--outdir: cannot create {:?}: {}", path, error.message()));
}

std::error_code errno_code() { return {errno, std::generic_category()}; }

/// Whether a file of this name may be output of a run: `3-tpu-3.out`, with any host name.
bool is_of_output(std::string_view name) {
  const std::size_t digits = name.find_first_not_of("0123456789");
  return digits != 0 && digits != std::string_view::npos && name[digits] == '-' &&
         (name.ends_with(".out") || name.ends_with(".err") || name.ends_with(".out.times") ||
          name.ends_with(".err.times"));
}

/// The files with output of earlier runs, of any hosts.
std::vector<std::filesystem::path> earlier_output(const std::filesystem::path& directory,
                                                  std::error_code& error) {
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto type = entry->symlink_status(error).type();
    if (error) break;
    if (type != std::filesystem::file_type::directory && is_of_output(entry->path().filename().native()))
      files.push_back(entry->path());
  }
  return files;
}

/// The error that opening the file would give. --force removes an existing file, so that is not an error.
std::error_code why_not(const std::filesystem::path& path, EarlierOutput earlier) {
  std::error_code error;
  const auto type = std::filesystem::symlink_status(path, error).type();
  if (type == std::filesystem::file_type::not_found) return {};
  if (error) return error;
  if (type == std::filesystem::file_type::directory) return make_error_code(std::errc::is_a_directory);
  if (type != std::filesystem::file_type::regular && earlier != EarlierOutput::replace)
    return make_error_code(std::errc::file_exists);
  return {};
}

int open_to_append(const std::string& path, int how = 0) {
  return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | how,
                kMode);
}

/// Keeps no file open, because there may be more files than a process may have open.
class OutdirSink final : public Sink {
 public:
  OutdirSink(const std::vector<hosts::Host>& hosts, const std::filesystem::path& directory,
             EarlierOutput earlier, SpoolSpace space, TimeIndex index)
      : directory_(directory),
        earlier_(earlier),
        index_(index),
        buffer_size_(std::min(kMaxBuffer, kAllBuffers / (std::max<std::size_t>(hosts.size(), 1) * kStreams))),
        files_(hosts.size() * kStreams),
        before_start_(std::in_place, files_.size(), std::move(space)) {
    check_current_directory("--outdir", directory.native());
    std::error_code error;
    const bool is_new = std::filesystem::create_directories(directory, error);
    if (error) refuse(directory, error);
    if (is_new) keep_out_of_git();
    if (was_released()) earlier_ = EarlierOutput::replace;
    const bool is_used = !earlier_output(directory_, error).empty();
    if (error) refuse(directory_, error);
    if (is_used && earlier_ == EarlierOutput::refuse) {
      throw UsageError(
          fmt::format("--outdir: {:?} holds the output of an earlier run (add to it with --append, "
                      "replace it with --force, or give another directory)",
                      directory_.native()));
    }
    if (::access(directory_.c_str(), W_OK | X_OK) != 0) refuse(directory_, errno_code());
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      for (const StreamId stream : {StreamId::out, StreamId::err}) {
        std::string& path = file_of(host, stream).path;
        path =
            directory_ / (hosts::host_file_name(hosts[host]) + (stream == StreamId::out ? ".out" : ".err"));
        if (const std::error_code why = why_not(path, earlier_)) refuse(path, why);
      }
    }
  }

  Feed feed() const override { return Feed::chunks; }

  void started() override {
    if (earlier_ == EarlierOutput::replace) remove_earlier_output();
    std::error_code error;  // ignored: there is none, or it was just read
    std::filesystem::remove(directory_ / kReleased, error);
    // Only --append writes to an existing file: another run may have made one since the check above.
    const int how = earlier_ == EarlierOutput::append ? 0 : O_EXCL;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      Buffered& file = files_[i];
      const Descriptor opened(open_to_append(file.path, how));
      if (!opened.is_open()) fail(file);
      before_start_->read(i, [&](std::string_view bytes) {
        write(file, bytes);
        return true;
      });
    }
    if (before_start_->error()) fail_with(*before_start_->error());
    before_start_.reset();
  }

  void line(const Line& line) override {
    if (before_start_) {
      before_start_->append(line.host * kStreams + index_of(line.stream), line.text);
      return;
    }
    Buffered& file = file_of(line.host, line.stream);
    if (file.failed) return;
    if (file.waiting.size() + line.text.size() > buffer_size_) {
      write(file, line.text);
      return;
    }
    file.waiting.reserve(buffer_size_);
    file.waiting += line.text;
    if (due_ == TimePoint::max()) due_ = now_ + kMaxDelay;
  }

  void host_ended(std::size_t host) override {
    for (const StreamId stream : {StreamId::out, StreamId::err}) write(file_of(host, stream));
  }

  void finish() override {
    for (Buffered& file : files_) write(file);
    due_ = TimePoint::max();
  }

  void tick(TimePoint now) override {
    now_ = now;
    if (now_ >= due_) finish();
  }
  TimePoint next_tick() const override { return due_; }

  const std::string* error() const override { return error_ ? &*error_ : nullptr; }

 private:
  struct Buffered {
    std::string path;
    std::string waiting;
    bool failed = false;  ///< later output is dropped
  };

  Buffered& file_of(std::size_t host, StreamId stream) { return files_[host * kStreams + index_of(stream)]; }

  /// A push of the directory around it, and git, leave it out.
  void keep_out_of_git() const {
    const Descriptor opened(open_to_append(directory_ / ".gitignore"));
    if (!opened.is_open() || !write_whole(opened.get(), "*\n")) refuse(directory_, errno_code());
  }

  /// Whether the run before this one says that its output may be replaced.
  bool was_released() const {
    std::error_code error;
    return earlier_ == EarlierOutput::refuse && std::filesystem::exists(directory_ / kReleased, error);
  }

  /// Writes the waiting bytes and `more`.
  void write(Buffered& file, std::string_view more = {}) {
    if (file.failed || (file.waiting.empty() && more.empty())) return;
    Descriptor opened(open_to_append(file.path));
    bool is_written =
        opened.is_open() && write_whole(opened.get(), file.waiting) && write_whole(opened.get(), more);
    const off_t size = is_written ? ::lseek(opened.get(), 0, SEEK_END) : 0;
    is_written =
        is_written && ::close(opened.release()) == 0;  // some file systems only now say that they are full
    if (!is_written) fail(file);
    if (is_written && index_ == TimeIndex::yes) note_time(file, size);
    file.waiting.clear();
  }

  void note_time(Buffered& file, off_t size) {
    const std::string line = fmt::format("{} {}\n", format_utc(std::chrono::system_clock::now()), size);
    const Descriptor opened(open_to_append(file.path + ".times"));
    if (!opened.is_open() || !write_whole(opened.get(), line)) fail(file);
  }

  void remove_earlier_output() {
    std::error_code error;  // ignored: the directory was readable before
    for (const std::filesystem::path& path : earlier_output(directory_, error)) {
      if (!std::filesystem::remove(path, error) && error)
        fail_with(fmt::format("{}: {}", path.native(), error.message()));
    }
  }

  /// Reports errno.
  void fail(Buffered& file) {
    file.failed = true;
    fail_with(fmt::format("{}: {}", file.path, errno_code().message()));
  }

  void fail_with(std::string what) {
    if (!error_) error_ = std::move(what);
  }

  const std::filesystem::path directory_;
  EarlierOutput earlier_;
  const TimeIndex index_;
  const std::size_t buffer_size_;
  std::vector<Buffered> files_;
  std::optional<Spool> before_start_;  ///< output from before the first command started
  TimePoint now_{};
  TimePoint due_ = TimePoint::max();  ///< when all waiting bytes are written
  std::optional<std::string> error_;
};

}  // namespace

std::unique_ptr<Sink> make_outdir_sink(const std::vector<hosts::Host>& hosts, const std::string& directory,
                                       EarlierOutput earlier, SpoolSpace space, TimeIndex index) {
  return std::make_unique<OutdirSink>(hosts, directory, earlier, std::move(space), index);
}

void release_outdir(const std::string& directory) {
  const Descriptor opened(open_to_append((std::filesystem::path(directory) / kReleased).native()));
}

}  // namespace podrun::output
