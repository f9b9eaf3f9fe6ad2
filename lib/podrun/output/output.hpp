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
#include "podrun/base/stream_id.hpp"
#include "podrun/output/output_thread.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/status_line.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun {

/// Bytes that one host of so many may have waiting: 256 KiB, less where all together would pass 16 MiB. Each
/// host has its own share, so that none can starve another.
std::size_t output_credit(std::size_t hosts);

/// Takes the hosts' output to the terminal on a thread of its own, so that a slow reader blocks nobody here.
/// Ask for room before reading more from a host: that holds it back; one chunk may exceed its credit.
/// For the main thread alone. The executor's context must outlive it, and it the coroutines that wait for it.
class Output {
 public:
  /// Called on the main executor, once for each stream and sink; what follows there is discarded.
  using OnWriteError = std::function<void(const WriteError&)>;

  Output(asio::any_io_executor main, std::size_t hosts, std::vector<std::shared_ptr<Sink>> sinks,
         std::shared_ptr<Terminal> terminal, OnWriteError on_write_error);

  /// Finishes, and blocks until all is written: where the reader may have stopped reading, abandon() first.
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Never blocks, and takes the bytes even without room.
  void write(std::size_t host, StreamId stream, Chunk bytes);

  /// Once false, stays so until half of the host's credit is free again.
  bool has_room(std::size_t host) const { return !hosts_[host].full; }
  asio::awaitable<void> wait_for_room(std::size_t host);
  /// All together, up to now: how long the thread waited for the reader of what it writes.
  std::chrono::steady_clock::duration time_of_reader() const { return body_->time_of_reader(); }

  /// A command starts; only the first call counts.
  void start();

  /// The host's streams are complete: its unfinished last lines are delivered.
  void end(std::size_t host);

  /// A line of podrun itself behind everything given before: a message on stderr, data on stdout.
  void say(std::string line);
  void print(std::string line);

  /// What the status line is to say. `labels` of all hosts, if progress bars of theirs are to be shown in it.
  /// No text: it is gone before anything that is given from now on is written.
  void say_status(StatusText text, std::vector<std::size_t> labels = {});
  /// The user has typed so many lines on the terminal, which shows them below the status line.
  void lines_typed(std::size_t lines);

  /// Ends the hosts that have not ended and lets the sinks deliver what they held back. Only say() and
  /// print() may follow.
  void finish();

  /// Completes when everything given so far is written, or discarded after an error.
  asio::awaitable<void> drain();

  /// Leaves the thread to itself with a write that may block for ever; the rest is dropped, and the status
  /// line erased if that is possible at once. For leaving by _exit at once; nothing but the destructor may
  /// follow.
  void abandon();

 private:
  struct HostRoom {
    Event freed;
    std::size_t waiting = 0;  ///< bytes of cost
    bool full = false;
  };

  void give(Given item);
  void settle();

  const std::size_t credit_;
  std::vector<HostRoom> hosts_;
  std::size_t items_given_ = 0;
  std::size_t items_done_ = 0;
  Event progress_;
  bool started_ = false;
  bool finished_ = false;
  OnWriteError on_write_error_;
  std::shared_ptr<Output*> self_;  ///< null for a report that arrives after the end
  std::shared_ptr<OutputThread> body_;
  std::thread thread_;
};

}  // namespace podrun
