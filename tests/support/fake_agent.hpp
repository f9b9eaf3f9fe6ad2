// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include "podrun/ssh/auth/agent.hpp"
#include "podrun/ssh/host_keys/key_blob.hpp"

#include "support/temp_directory.hpp"

namespace podrun::test {

inline const std::string kListRequest = "\x0b";
inline const std::string kRefused = "\x05";
inline const std::string kSigned =
    "\x0e" + ssh::wire_string(ssh::wire_string("ssh-ed25519") + ssh::wire_string("by me"));

/// An agent in the hand of the test: gives the next connection the next of its answers, as raw bytes.
class FakeAgent {
 public:
  enum class Pieces { whole, bytes };

  explicit FakeAgent(const asio::any_io_executor& executor)
      : acceptor_(executor, asio::local::stream_protocol::endpoint(socket())) {
    asio::co_spawn(executor, accept(), asio::detached);
  }

  std::string socket() const { return directory_.path("socket"); }
  /// Sets the framed answer to the next connection. An empty text: never an answer.
  void will_say(const std::string& message) { answers_.push_back(ssh::wire_string(message)); }
  void will_say_bytes(const std::string& bytes) { answers_.push_back(bytes); }
  void will_say_nothing() { answers_.emplace_back(); }

  Pieces pieces = Pieces::whole;
  std::vector<std::string> requests;
  std::size_t left() const { return *left_; }  ///< connections that the other side has ended

  /// Lets go of all, so that nothing is pending.
  void end() {
    std::error_code ignored;
    acceptor_.close(ignored);
  }

 private:
  using Socket = asio::local::stream_protocol::socket;

  asio::awaitable<void> accept() {
    for (;;) {
      Socket socket = co_await acceptor_.async_accept(asio::use_awaitable);
      asio::co_spawn(acceptor_.get_executor(), serve(std::move(socket)), asio::detached);
    }
  }
  asio::awaitable<void> serve(Socket socket) {
    std::array<char, 4> header{};
    co_await asio::async_read(socket, asio::buffer(header), asio::use_awaitable);
    std::string request(ssh::WireReader({header.data(), header.size()}).number(), '\0');
    co_await asio::async_read(socket, asio::buffer(request), asio::use_awaitable);
    requests.push_back(request);
    std::string answer = std::move(answers_.front());
    answers_.pop_front();
    if (answer.empty()) {
      std::error_code ended;
      const std::shared_ptr<std::size_t> count = left_;  // this may be gone by then
      co_await asio::async_read(socket, asio::buffer(header),
                                asio::redirect_error(asio::use_awaitable, ended));
      ++*count;
      co_return;
    }
    const std::size_t step = pieces == Pieces::whole ? answer.size() : 1;
    for (std::size_t start = 0; start < answer.size(); start += step) {
      const std::string piece = answer.substr(start, step);
      co_await asio::async_write(socket, asio::buffer(piece), asio::use_awaitable);
    }
  }

  TempDirectory directory_;
  asio::local::stream_protocol::acceptor acceptor_;
  std::deque<std::string> answers_;
  std::shared_ptr<std::size_t> left_ = std::make_shared<std::size_t>(0);
};

}  // namespace podrun::test
