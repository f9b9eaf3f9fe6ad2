// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <asio/awaitable.hpp>

#include "podrun/base/chunk.hpp"
#include "podrun/supervisor/program_reader.hpp"
#include "podrun/transfer/archive.hpp"
#include "podrun/transfer/scan_reply.hpp"

namespace podrun::transfer {

/// Talks with the program on the host.
class PushTalk {
 public:
  PushTalk(supervisor::StartedProgram program, std::string own_name)
      : name(std::move(own_name)), reader_(std::move(program)) {}

  /// The next output of the program. Throws HostError at its end.
  asio::awaitable<std::string> read();
  asio::awaitable<void> read(ScanReply& reply);
  /// The next line. Throws HostError for "error …".
  asio::awaitable<std::string> answer();
  /// The next `size` bytes. Throws HostError at the end.
  asio::awaitable<std::string> bytes(std::size_t size);
  /// The next output; none at its end.
  asio::awaitable<std::optional<Chunk>> read_to_end() { return reader_.read(); }

  asio::awaitable<bool> write(Chunk chunk) { return reader_.stream()->write(std::move(chunk)); }
  asio::awaitable<bool> write(std::string text) { return reader_.stream()->write(Chunk(std::move(text))); }
  /// Waits until more of the archive may be here; false if it is not needed any more.
  using Wait = std::function<asio::awaitable<bool>()>;
  /// Writes all of the archive, the trailer and the end of standard input; false if the program stops
  /// reading. `sent`: counts the bytes of the archive.
  asio::awaitable<bool> write_archive(Archive& archive, DigestKind digest, std::string trailer,
                                      std::uint64_t& sent, Wait wait);
  void close_write() { reader_.stream()->close_write(); }
  const std::shared_ptr<link::Stream>& stream() const { return reader_.stream(); }

  const std::string name;  ///< the end of the staging directory's name

 private:
  supervisor::ProgramReader reader_;
  std::string text_;  ///< output that was not read yet
};

}  // namespace podrun::transfer
