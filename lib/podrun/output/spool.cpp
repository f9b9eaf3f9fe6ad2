// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/spool.hpp"

#include <fcntl.h>
#include <stdlib.h>  // mkostemp
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace podrun {
namespace {

/// Read and written by us alone.
int open_unnamed(const std::string& directory) {
  const int unnamed = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  // Not every file system has files without a name.
  std::string name = directory + "/podrun.XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

/// Fills `block`; false also at the end of the file.
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

/// In blocks, since one large string would take twice its size while it grows.
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

/// All that is in memory goes to the file.
bool Spool::spill() {
  if (!file_) {
    file_.emplace(open_unnamed(space_.directory));
    if (!file_->is_open()) return fail();
  }
  for (Kept& kept : streams_) {
    if (!spill(kept)) return false;
  }
  return true;
}

/// A stream whose bytes do not all get there keeps them in memory.
bool Spool::spill(Kept& kept) {
  Extent extent{file_size_, 0};
  for (const std::string& block : kept.in_memory) {
    if (!file_->write(block)) return fail();
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
      if (!read_all(file_->descriptor(), extent.offset + done, block_)) return fail();
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
    error_ =
        fmt::format("a temporary file in {}: {}", space_.directory, std::generic_category().message(errno));
  }
  return false;
}

}  // namespace podrun
