// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "podrun/base/chunk.hpp"
#include "podrun/base/event.hpp"
#include "podrun/output/output_thread.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/status_line.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun::output {

/// The most bytes that one of `hosts` hosts may have waiting: 256 KiB, or less to keep all below 16 MiB. Each
/// host has its own share, so that none can starve another.
std::size_t output_credit(std::size_t hosts);

/// Passes the hosts' output to the terminal on its own thread, so that a slow reader does not block the main
/// thread. Wait for room before reading more from a host; one chunk may exceed the limit. For the main thread
/// only. The executor's context must outlive it, and it must outlive the coroutines that wait for it.
class Output {
 public:
  /// Called on the main executor, once for each stream and sink; later output there is discarded.
  using OnWriteError = std::function<void(const WriteError&)>;

  Output(asio::any_io_executor main, std::size_t hosts, std::vector<std::shared_ptr<Sink>> sinks,
         std::shared_ptr<Terminal> terminal, OnWriteError on_write_error);

  /// Finishes, and blocks until all is written. If the reader may have stopped reading, call abandon() first.
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Never blocks, and takes the bytes even if there is no room.
  void write(std::size_t host, StreamId stream, Chunk bytes);

  /// Once false, it stays false until half of the host's credit is free again.
  bool has_room(std::size_t host) const { return !hosts_[host].full; }
  asio::awaitable<void> wait_for_room(std::size_t host);
  /// The total time so far that the thread waited for the reader of its output.
  std::chrono::steady_clock::duration time_of_reader() const { return body_->time_of_reader(); }

  /// Call when a command starts; only the first call counts.
  void start();

  /// Call when the host's streams are complete: passes on their unfinished last lines.
  void end(std::size_t host);

  /// Writes a line of podrun itself after everything given before: say() a message on stderr, print() data on
  /// stdout.
  void say(std::string line);
  void print(std::string line);

  /// Sets the text of the status line, with all hosts' worker numbers if it shows their progress bars. Empty
  /// text removes the line before anything given later is written.
  void say_status(StatusText text, std::vector<std::size_t> workers = {});
  /// The user has typed this many lines on the terminal, below the status line.
  void lines_typed(std::size_t lines);

  /// Ends the remaining hosts, and makes the sinks write the lines they keep. Only say() and print() may
  /// follow.
  void finish();

  /// Completes when everything given so far is written, or discarded after an error.
  asio::awaitable<void> drain();

  /// Leaves a write that may block forever to the thread, drops all other output, and erases the status line
  /// if that does not block. For an exit by _exit; only the destructor may follow.
  void abandon();

 private:
  struct HostRoom {
    Event freed;
    std::size_t waiting = 0;  ///< bytes, as cost_of() counts them
    bool full = false;
  };

  void enqueue(Given item);
  void apply_report();

  const std::size_t credit_;
  std::vector<HostRoom> hosts_;
  std::size_t items_given_ = 0;
  std::size_t items_done_ = 0;
  Event progress_;
  bool started_ = false;
  bool finished_ = false;
  OnWriteError on_write_error_;
  std::shared_ptr<Output*> self_;  ///< null for a report that arrives after the destructor
  std::shared_ptr<OutputThread> body_;
  std::thread thread_;
};

}  // namespace podrun::output
