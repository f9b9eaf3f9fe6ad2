// SPDX-License-Identifier: Apache-2.0
// Keeps bytes in memory up to a limit, and the rest in a temporary file (0600, without a name).
#include "podrun/output/spool.hpp"

#include <fcntl.h>
#include <stdlib.h>  // mkostemp
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"

namespace podrun::output {
namespace {

/// Opens a file that only podrun reads and writes.
int open_unnamed(const std::string& directory) {
  const int unnamed = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  // Not every file system supports O_TMPFILE.
  std::string name = directory + "/podrun.XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

/// Fills `block`. False with errno on failure or at the end of the file.
bool read_all(int descriptor, std::uint64_t offset, std::string& block) {
  for (std::size_t done = 0; done < block.size();) {
    const ssize_t count =
        ::pread(descriptor, block.data() + done, block.size() - done, static_cast<off_t>(offset + done));
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      if (count == 0) errno = EIO;
      return false;
    }
  }
  return true;
}

}  // namespace

Spool::Spool(std::size_t streams, SpoolSpace space) : space_(std::move(space)), streams_(streams) {}

bool Spool::append(std::size_t stream, std::string_view bytes) {
  if (error_ || (in_memory_ + bytes.size() > space_.memory && !spill())) return false;
  keep(streams_[stream].in_memory, bytes);
  in_memory_ += bytes.size();
  return true;
}

/// In blocks, because one large string would take twice its size while it grows.
void Spool::keep(std::vector<std::string>& blocks, std::string_view bytes) {
  while (!bytes.empty()) {
    if (blocks.empty() || blocks.back().size() == kBlock) blocks.emplace_back();
    std::string& block = blocks.back();
    const std::string_view part = bytes.substr(0, kBlock - block.size());
    const std::size_t size = block.size() + part.size();
    if (size > block.capacity()) block.reserve(std::min(kBlock, std::max(size, 2 * block.capacity())));
    block += part;
    bytes.remove_prefix(part.size());
  }
}

/// Moves everything in memory to the file.
bool Spool::spill() {
  if (!file_.is_open()) file_.reset(open_unnamed(space_.directory));
  if (!file_.is_open()) return fail();
  for (Kept& kept : streams_) {
    if (!spill(kept)) return false;
  }
  return true;
}

/// On failure the stream keeps its bytes in memory.
bool Spool::spill(Kept& kept) {
  Extent extent{file_size_, 0};
  for (const std::string& block : kept.in_memory) {
    if (!write_whole(file_.get(), block)) return fail();
    extent.size += block.size();
  }
  if (extent.size == 0) return true;
  kept.in_file.push_back(extent);
  file_size_ += extent.size;
  in_memory_ -= extent.size;
  kept.in_memory = {};
  return true;
}

bool Spool::read(std::size_t stream, const std::function<bool(std::string_view)>& take) {
  const Kept& kept = streams_[stream];
  for (const Extent& extent : kept.in_file) {
    for (std::size_t done = 0; done < extent.size; done += block_.size()) {
      block_.resize(std::min(kBlock, extent.size - done));
      if (!read_all(file_.get(), extent.offset + done, block_)) return fail();
      if (!take(block_)) return true;
    }
  }
  for (const std::string& block : kept.in_memory) {
    if (!take(block)) return true;
  }
  return true;
}

bool Spool::fail() {
  if (!error_) {
    error_ = fmt::format("a temporary file in {}: {}", space_.directory, errno_text());
  }
  return false;
}

}  // namespace podrun::output
