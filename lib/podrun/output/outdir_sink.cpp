// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/outdir_sink.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/output/file.hpp"

namespace podrun {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMaxBuffer = 256 * kKiB;
constexpr std::size_t kAllBuffers = 16 * kKiB * kKiB;
constexpr std::chrono::seconds kMaxDelay{1};
constexpr mode_t kMode = 0666;  // less the umask, as any program's

[[noreturn]] void refuse(const std::string& path, const std::error_code& error) {
  throw UsageError(fmt::format("--outdir: cannot create {:?}: {}", path, error.message()));
}

std::error_code errno_code() { return {errno, std::generic_category()}; }

/// `3-tpu-3.out`; whatever the name, it is one of a file in the directory.
std::string file_name(const Host& host, StreamId stream) {
  std::string name = fmt::format("{}-{}.{}", host.label, host.name, stream == StreamId::out ? "out" : "err");
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

int open_to_append(const std::string& path, int how) {
  return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | how,
                kMode);
}

/// No file is held open, since there may be more of them than a process may have.
class OutdirSink final : public Sink {
 public:
  OutdirSink(const std::vector<Host>& hosts, const std::filesystem::path& directory)
      : buffer_size_(std::min(kMaxBuffer, kAllBuffers / (std::max<std::size_t>(hosts.size(), 1) * kStreams))),
        files_(hosts.size() * kStreams) {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) refuse(directory, error);
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      for (const StreamId stream : {StreamId::out, StreamId::err}) {
        std::string& path = file_of(host, stream).path;
        path = directory / file_name(hosts[host], stream);
        const File file(open_to_append(path, O_TRUNC));
        if (!file.is_open()) refuse(path, errno_code());
      }
    }
  }

  Feed feed() const override { return Feed::chunks; }

  void line(const Line& line) override {
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
    bool failed = false;  ///< what follows is dropped
  };

  Buffered& file_of(std::size_t host, StreamId stream) { return files_[host * kStreams + index_of(stream)]; }

  /// What waits, and `more`.
  void write(Buffered& file, std::string_view more = {}) {
    if (file.failed || (file.waiting.empty() && more.empty())) return;
    File opened(open_to_append(file.path, 0));
    file.failed = !(opened.is_open() && opened.write(file.waiting) && opened.write(more) && opened.close());
    if (file.failed && !error_) error_ = fmt::format("{}: {}", file.path, errno_code().message());
    file.waiting.clear();
  }

  const std::size_t buffer_size_;
  std::vector<Buffered> files_;
  TimePoint now_{};
  TimePoint due_ = TimePoint::max();  ///< when all that waits is written
  std::optional<std::string> error_;
};

}  // namespace

std::unique_ptr<Sink> make_outdir_sink(const std::vector<Host>& hosts, const std::string& directory) {
  return std::make_unique<OutdirSink>(hosts, directory);
}

}  // namespace podrun
