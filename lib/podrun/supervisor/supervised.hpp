// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/event.hpp"
#include "podrun/base/expect.hpp"
#include "podrun/supervisor/command.hpp"
#include "podrun/supervisor/program_reader.hpp"
#include "podrun/supervisor/protocol.hpp"

namespace podrun::supervisor {

/// One command under supervision on one host, over any Link: prepare, then go, then next until Closed or
/// Failure. Destroying it ends the command there, without waiting. The link must outlive it.
class Supervised {
 public:
  Supervised(const asio::any_io_executor& executor, link::Link& link, Supervision supervision);
  Supervised(const Supervised&) = delete;
  Supervised& operator=(const Supervised&) = delete;
  ~Supervised();

  /// Starts the supervisor, waits for its hello and puts the files there. Throws HostError. With a text the
  /// command starts at once, see go_of_host(); then there is no go(), and there are no files.
  asio::awaitable<Hello> prepare(const std::vector<RemoteFile>& files, Noise noise, std::string text = {});

  /// After prepare() has failed: whether the command may run nevertheless, since it was to start at once.
  bool may_have_started() const { return may_have_started_; }

  /// After prepare(): starts another program, whose text begins with helper.sh. It is stopped with the
  /// command. Throws HostError.
  asio::awaitable<StartedProgram> start_program(Chunk script, std::vector<std::string> arguments);
  /// After prepare(): connects to a port of the host, see Link::forward(). It ends with the command. Throws
  /// HostError.
  asio::awaitable<std::shared_ptr<link::Stream>> forward(std::uint16_t port);
  /// The run's directory on the host, after prepare(); empty: there is none.
  const std::string& directory() const { return directory_; }
  /// See Link::host_address().
  std::string host_address() const { return link_.host_address(); }

  /// After prepare(): starts the command with these two, see go_of_host() and go_of_all().
  void go(std::string_view of_host, const Chunk& of_all);
  /// The command's output and end. Throws nothing of its own.
  asio::awaitable<link::StreamEvent> next();

  void heartbeat();                            ///< tells the supervisor that podrun is there
  void suspend();                              ///< podrun is suspended: it is not missed until its next line
  void signal(std::string_view name);          ///< INT, TERM, …: to the command's whole process group
  void set_grace(std::chrono::seconds grace);  ///< of the stop that follows
  void stop_command();                         ///< TERM, grace, KILL to everything the command started

  /// After the command has ended: from now on signal() and stop_command() are for the processes that it left,
  /// and Closed comes when they have ended. It ends with the run. `noise` takes output of the host about it.
  asio::awaitable<void> supervise_rest(Noise noise);
  void stop(const link::Failure& failure);  ///< abandons it: next() is this failure

  /// Opens the command's standard input (StandardInput::fed): a stream to write to. Throws HostError.
  asio::awaitable<std::shared_ptr<link::Stream>> open_input();
  /// The processes that may have the output open after the command has ended. `started` becomes true when the
  /// host runs the program that answers. Throws HostError.
  asio::awaitable<Holders> output_holders(bool& started);

 private:
  class Control;
  /// The most output of a helper program on a host that is kept, in bytes.
  static constexpr std::size_t kMaxSaid = 64 * 1024;

  Control& listener();
  asio::awaitable<void> keep_rest(Noise noise);
  asio::awaitable<void> run_rest(Noise noise);
  asio::awaitable<std::shared_ptr<link::Stream>> start(link::Program program);
  asio::awaitable<StartedProgram> start_helper(Chunk script, std::vector<std::string> arguments, Noise noise);
  asio::awaitable<void> put(const RemoteFile& file);
  asio::awaitable<link::StreamEvent> next_of_stream();
  std::optional<link::StreamEvent> without_exit_line(link::StreamEvent event);

  Once preparing_;
  Once going_;
  Once keeping_rest_;
  asio::any_io_executor executor_;
  link::Link& link_;
  Supervision supervision_;
  std::shared_ptr<Control> control_;
  std::shared_ptr<Control> rest_;
  Event rest_over_;
  std::vector<std::weak_ptr<link::Stream>> helpers_;
  std::weak_ptr<link::Stream> holders_;
  std::weak_ptr<link::Stream> rest_stream_;
  bool may_have_started_ = false;
  bool greeted_ = false;  // nothing may be written before
  std::string directory_;
  Chunk early_;                                 // output that came in one piece with the hello
  std::optional<ExitLineReader> exit_line_;     // ExitStatus::in_output
  std::optional<link::StreamEvent> following_;  // next() returns it before it reads on
  bool end_told_ = false;
};

/// 128 random bits, in hex. getrandom(2)
std::string random_id();

}  // namespace podrun::supervisor
