// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/push_talk.hpp"

#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {

using link::Cause;
using link::HostError;

asio::awaitable<std::string> PushTalk::read() {
  const std::optional<Chunk> output = co_await reader_.read();
  if (!output) throw HostError({kCopying, Cause::ended_early, reader_.describe_end()});
  co_return std::string(output->bytes());
}

asio::awaitable<void> PushTalk::read(ScanReply& reply) {
  const std::string already = std::exchange(text_, {});
  reply.feed(already);
  while (!reply.is_complete()) {
    const std::string output = co_await read();
    reply.feed(output);
  }
  text_ = reply.take_rest();
}

asio::awaitable<std::string> PushTalk::answer() {
  for (;;) {
    std::optional<std::string> line = take_answer(text_);
    if (line) co_return std::move(*line);
    text_ += co_await read();
  }
}

asio::awaitable<std::string> PushTalk::bytes(std::size_t size) {
  while (text_.size() < size) text_ += co_await read();
  std::string taken = text_.substr(0, size);
  text_.erase(0, size);
  co_return taken;
}

asio::awaitable<bool> PushTalk::write_archive(Archive& archive, DigestKind digest, std::string trailer,
                                              std::uint64_t& sent, Wait wait) {
  bool is_read = true;
  for (std::uint64_t offset = 0; is_read && offset < archive.size();) {
    if (!archive.prepare(offset)) {
      is_read = co_await wait();
      continue;
    }
    Chunk block = archive.read(offset, digest);
    offset += block.size();
    sent += block.size();
    is_read = co_await write(std::move(block));
  }
  if (is_read) is_read = co_await write(std::move(trailer));
  close_write();
  co_return is_read;
}

}  // namespace podrun::transfer
