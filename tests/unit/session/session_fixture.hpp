// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podrun/session/ask_hosts.hpp"
#include "podrun/session/command_mode.hpp"
#include "podrun/session/session.hpp"

#include "support/fake_connector.hpp"
#include "support/fake_probe.hpp"
#include "support/pod.hpp"
#include "unit/output/pipe.hpp"

namespace podrun::test {

/// A session over hosts in memory, in a process that is not its own: set up hosts_ and spec_, then session().
class SessionTest : public testing::Test {
 protected:
  using Connections = session::Session::Connections;

  SessionTest() {
    std::signal(SIGPIPE, SIG_IGN);
    ::fcntl(out_.write_fd(), F_SETPIPE_SZ, 1 << 20);  // nobody reads before the end
    ::fcntl(err_.write_fd(), F_SETPIPE_SZ, 1 << 20);
  }

  void set_up(std::size_t count) {
    hosts_.resize(count);
    for (FakeHost& host : hosts_) {
      host.answers["go"] = {link::Exited{0}, link::Closed{}};
      host.answers["end of input"] = {link::Signaled{SIGTERM}, link::Closed{}};
    }
    spec_.hosts = pod(count);
    spec_.limits.retries = 0;
    spec_.terminal = std::make_shared<output::Terminal>(out_.write_fd(), err_.write_fd());
    spec_.owns_process = false;
    spec_.make_connector = [this](const asio::any_io_executor& executor) {
      return std::make_unique<FakeConnector>(executor, hosts_);
    };
  }
  void refuse(std::size_t host) { hosts_[host].refuses = {link::Stage::connecting, link::Cause::refused}; }
  /// The host's command prints this and exits.
  void prints(std::size_t host, const std::string& text, int status = 0) {
    hosts_[host].answers["go"] = {out(text), link::Exited{status}, link::Closed{}};
  }

  session::Session& session(Connections connections = Connections::closed) {
    return session_.emplace(spec_, probe_, connections);
  }
  session::RunSpec command() const { return session::users_command(spec_, {supervisor::ShellText{"date"}}); }

  /// The bytes on stdout or stderr so far; call once.
  static std::string all_of(Pipe& pipe) {
    pipe.close_write();
    return pipe.read_to_end();
  }

  Pipe out_;
  Pipe err_;
  FakeProbe probe_;
  std::vector<FakeHost> hosts_;
  session::SessionSpec spec_;
  std::optional<session::Session> session_;
};

}  // namespace podrun::test
