// SPDX-License-Identifier: Apache-2.0
#include "podrun/files/send_while.hpp"

#include <exception>
#include <string_view>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/this_coro.hpp>

#include "podrun/base/event.hpp"

namespace podrun::files {
namespace {

struct Sending {
  Sending(const asio::any_io_executor& executor, std::shared_ptr<link::Stream> to, std::string its_text)
      : stream(std::move(to)), text(std::move(its_text)), changed(executor) {}

  const std::shared_ptr<link::Stream> stream;
  const std::string text;
  Event changed;
  bool ended = false;
};

asio::awaitable<void> send(std::shared_ptr<Sending> sending) {
  bool open = true;
  for (std::string_view rest = sending->text; open && !rest.empty();) {
    Chunk chunk(
        std::string(rest.substr(0, Chunk::kMaxSize)));  // named: g++ 12 destroys a temporary here twice
    rest.remove_prefix(chunk.size());
    open = co_await sending->stream->write(std::move(chunk));
  }
  sending->stream->close_write();
  sending->ended = true;
  sending->changed.notify();
}

}  // namespace

asio::awaitable<void> send_while(std::shared_ptr<link::Stream> stream, std::string text,
                                 asio::awaitable<void> reading) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto sending = std::make_shared<Sending>(executor, stream, std::move(text));
  asio::co_spawn(executor, send(sending), [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);  // out of memory: nothing else is thrown
  });
  std::exception_ptr error;
  try {
    co_await std::move(reading);
  } catch (...) {
    error = std::current_exception();
  }
  stream->stop({.cause = link::Cause::abandoned});
  while (!sending->ended) co_await sending->changed.wait();
  if (error) std::rethrow_exception(error);
}

}  // namespace podrun::files
