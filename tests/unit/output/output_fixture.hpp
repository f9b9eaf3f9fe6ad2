// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <gtest/gtest.h>

#include "podrun/output/make_sinks.hpp"
#include "podrun/output/output.hpp"

#include "unit/output/pipe.hpp"

namespace podrun::test {

inline std::vector<hosts::Host> some_hosts(std::size_t count) {
  std::vector<hosts::Host> hosts(count);
  for (std::size_t i = 0; i < count; ++i) hosts[i].worker = i;
  return hosts;
}

/// A line that fills a chunk.
inline Chunk full_chunk() { return Chunk(std::string(Chunk::kMaxSize - 1, 'x') + '\n'); }

class OutputTest : public testing::Test {
 protected:
  OutputTest() { std::signal(SIGPIPE, SIG_IGN); }

  output::Output& start(std::size_t hosts, output::Label label = output::Label::worker) {
    return start(hosts, output::make_stream_sink(some_hosts(hosts), {label}, *terminal_));
  }
  output::Output& start(std::size_t hosts, std::shared_ptr<output::Sink> sink) {
    return start(hosts, std::vector{std::move(sink)});
  }
  output::Output& start(std::size_t hosts, std::vector<std::shared_ptr<output::Sink>> sinks) {
    output_.emplace(main_.get_executor(), hosts, std::move(sinks), terminal_,
                    [this](const output::WriteError& error) {
                      errors_.push_back(error.what + (error.broken_pipe ? " (broken pipe)" : ""));
                    });
    return *output_;
  }

  void spawn(asio::awaitable<void> work) {
    asio::co_spawn(main_, std::move(work), [](const std::exception_ptr& error) {
      if (error) std::rethrow_exception(error);
    });
  }
  /// Runs until every coroutine has ended.
  void run() {
    main_.restart();
    main_.run();
  }
  void run(asio::awaitable<void> work) {
    spawn(std::move(work));
    run();
  }

  void read_both() {
    out_text_ = std::async(std::launch::async, [this] { return out_.read_to_end(); });
    err_text_ = std::async(std::launch::async, [this] { return err_.read_to_end(); });
  }
  /// All that was written, once the Output has ended.
  std::string out() { return text(out_text_); }
  std::string err() { return text(err_text_); }

  void fill(output::Output& output, std::size_t host) {
    while (output.has_room(host)) output.write(host, StreamId::out, full_chunk());
  }

  asio::io_context main_{1};
  Pipe out_;
  Pipe err_;
  std::shared_ptr<output::Terminal> terminal_ =
      std::make_shared<output::Terminal>(out_.write_fd(), err_.write_fd());
  std::vector<std::string> errors_;
  std::optional<output::Output> output_;

 private:
  std::string text(std::future<std::string>& reader) {
    output_.reset();
    out_.close_write();
    err_.close_write();
    return reader.get();
  }

  std::future<std::string> out_text_;
  std::future<std::string> err_text_;
};

}  // namespace podrun::test
