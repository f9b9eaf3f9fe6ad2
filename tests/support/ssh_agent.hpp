// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/post.hpp>

#include "podrun/base/event.hpp"

#include "support/child.hpp"
#include "support/run_coroutine.hpp"
#include "support/run_shell.hpp"
#include "support/temp_directory.hpp"

namespace podrun::test {

/// A real ssh-agent with a socket of its own.
class SshAgent {
 public:
  SshAgent() : process_({"ssh-agent", "-D", "-a", socket()}) {
    if (!eventually([this] { return directory_.has("socket"); })) throw std::runtime_error("no ssh-agent");
  }

  std::string socket() const { return directory_.path("socket"); }
  const Child& process() const { return process_; }
  /// With its certificate, if there is one.
  void add(const std::string& private_file) const {
    const ShellRun run = run_words({"ssh-add", "-q", private_file}, {}, {"SSH_AUTH_SOCK=" + socket()});
    if (run.exit_status != 0) throw std::runtime_error("ssh-add: " + run.output);
  }

 private:
  TempDirectory directory_;
  Child process_;
};

/// Runs `work`, which may block, on a thread of its own while the executor runs all else.
inline asio::awaitable<void> on_thread(asio::any_io_executor executor, std::function<void()> work) {
  Event finished(executor);
  std::thread thread([&] {
    work();
    asio::post(executor, [&] { finished.notify(); });
  });
  co_await finished.wait();
  thread.join();
}

}  // namespace podrun::test
