// SPDX-License-Identifier: Apache-2.0
// Puts a file of the command on its host, by way of feeder.sh.
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/link/link.hpp"
#include "podrun/supervisor/scripts.hpp"
#include "podrun/supervisor/supervised.hpp"

namespace podrun::supervisor {

asio::awaitable<void> Supervised::put(const RemoteFile& file) {
  std::string said;  // an error may come before the hello, which is on the other stream
  const auto collect = [&said](link::Received noise) -> asio::awaitable<void> {
    if (noise.stream == StreamId::err && said.size() < kMaxSaid) said += noise.bytes.bytes();
    co_return;
  };
  std::vector<std::string> arguments = FeederWords{.path = directory_ + "/" + file.name}.list();
  const StartedProgram feeder = co_await start_helper(feeder_script(), std::move(arguments), collect);
  const std::shared_ptr<link::Stream>& stream = feeder.stream;
  for (Chunk& chunk : to_chunks(file.content)) {
    if (!co_await stream->write(std::move(chunk))) break;  // the end of the stream tells why
  }
  stream->close_write();
  link::StreamEvent end = link::Closed{};
  for (;;) {
    link::StreamEvent event = co_await stream->next();
    if (auto* output = std::get_if<link::Received>(&event)) {
      if (said.size() < kMaxSaid) said += output->bytes.bytes();
    } else if (auto* failure = std::get_if<link::Failure>(&event)) {
      throw link::HostError(std::move(*failure));
    } else if (std::holds_alternative<link::Closed>(event)) {
      break;
    } else {
      end = event;  // the text of its error may still come
    }
  }
  const auto* exited = std::get_if<link::Exited>(&end);
  if (!exited || exited->status != 0) {
    throw link::HostError({link::Stage::sending_file, link::Cause::file_not_stored,
                           fmt::format("{}: {} ({})", file.name, last_line(said), describe_end(end))});
  }
}

}  // namespace podrun::supervisor
