// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "podrun/base/chunk.hpp"
#include "podrun/base/event.hpp"
#include "podrun/base/expect.hpp"
#include "podrun/output/line_splitter.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/status_line.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun::output {

// Items for the output thread, which handles them in order.
struct GivenBytes {
  std::size_t host = 0;
  StreamId stream = StreamId::out;
  Chunk bytes;
};
struct GivenNames {
  std::size_t host = 0;
  std::vector<std::string> names;
};
struct GivenStart {};
struct GivenEnd {
  std::size_t host = 0;
};
struct GivenText {
  StreamId stream = StreamId::err;
  std::string line;
};
struct GivenScreen {
  std::string bytes;
  bool keeps_messages = false;
};
struct GivenFinish {};
using Given = std::variant<GivenBytes, GivenNames, GivenStart, GivenEnd, GivenText, GivenScreen, GivenFinish>;

/// The text of the status line, and the label of each host for its progress bar.
struct GivenStatus {
  StatusText text;
  std::vector<std::size_t> workers;
  std::vector<std::string> list;  ///< what Enter prints, see Terminal::keep_status()
};

/// A failed write; later output there is discarded.
struct WriteError {
  std::string what;          ///< `standard output: No space left on device`
  bool broken_pipe = false;  ///< the reader has gone
  bool is_side = false;      ///< only a sink's own file, not stdout or stderr
};

/// The bytes that a waiting chunk counts as: its own and a share of queue and heap, since tiny chunks take
/// memory too.
inline std::size_t cost_of(const Chunk& chunk) { return chunk.size() + 128; }

/// Items and states of the status line written, or discarded after an error, since the last report.
struct OutputReport {
  std::size_t items = 0;
  std::vector<GivenBytes> bytes;   ///< returned, so that they are freed where they were made
  std::vector<WriteError> errors;  ///< the first one of each stream and sink, in one report only
};

/// The body of the output thread: passes items through splitters and sinks to the terminal.
class OutputThread {
 public:
  /// `notify` is called on the output thread when a report waits, and again only after it was taken.
  OutputThread(std::size_t hosts, std::vector<std::shared_ptr<Sink>> sinks,
               std::shared_ptr<Terminal> terminal, std::function<void()> notify);

  /// Runs until close() was called and everything given before it is written.
  void run();

  // May be called from any thread; none of them blocks:
  std::chrono::steady_clock::duration time_of_reader() const { return terminal_->time_in_flush(); }
  void enqueue(Given item);
  /// Replaces a status that is not shown yet.
  void say_status(GivenStatus status);
  void lines_typed(std::size_t lines);
  void close();
  /// Like close(), but drops waiting items and no longer calls `notify`.
  void abandon();
  OutputReport take_report();

 private:
  struct HostStreams {
    std::array<LineSplitter, kStreams> splitters;
    bool ended = false;
  };

  /// Items that are taken together.
  struct Batch {
    std::vector<Given> items;
    std::unique_ptr<GivenStatus> status;
    std::size_t statuses = 0;  ///< given: the last one counts, but each is an item that is done
    std::size_t typed_lines = 0;

    bool empty() const { return items.empty() && !status && typed_lines == 0; }
    void clear() {
      items.clear();
      status.reset();
      statuses = 0;
      typed_lines = 0;
    }
  };

  bool take(Batch& batch);
  void process(GivenBytes& bytes);
  void process(const Line& line);
  void process(const GivenNames& given);
  void process(const GivenStart& start);
  void process(const GivenEnd& end);
  void process(const GivenText& text);
  void process(const GivenScreen& screen);
  void process(const GivenFinish& finish);
  void split(const GivenBytes& bytes);
  void show(GivenStatus status);
  std::optional<Bar> find_bar(const std::vector<std::size_t>& workers) const;
  void report();
  void find_errors();

  // Used only on the output thread.
  const std::shared_ptr<Terminal> terminal_;  // outlives the sinks
  const std::vector<std::shared_ptr<Sink>> sinks_;
  bool splits_ = false;  ///< some sink wants lines
  std::array<bool, kStreams> stream_failed_{};
  std::vector<bool> sink_failed_;
  std::vector<HostStreams> hosts_;
  OutputReport done_;          ///< since the last report
  std::size_t done_cost_ = 0;  ///< the cost_of() of done_.bytes

  std::mutex mutex_;  // guards the members below
  std::condition_variable given_;
  Batch queue_;
  bool closed_ = false;
  OutputReport report_;
  bool notified_ = false;  ///< `notify` was called and report_ not taken since
  std::function<void()> notify_;
};

/// The most bytes that one of `hosts` hosts may have waiting: 256 KiB, or less to keep all below 16 MiB. Each
/// host has its own share, so that none can starve another.
std::size_t output_credit(std::size_t hosts);

/// Passes the hosts' output to the terminal on its own thread, so that a slow reader does not block the main
/// thread. Wait for room before reading more from a host; one chunk may exceed the limit. For the main thread
/// only. The executor's context must outlive it.
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

  /// Whether say_names() is wanted.
  bool wants_names() const { return wants_names_; }
  /// The host calls itself so: call before its first bytes.
  void say_names(std::size_t host, std::vector<std::string> names) {
    enqueue(GivenNames{host, std::move(names)});
  }

  /// Call when a command starts; only the first call counts.
  void start();

  /// Call when the host's streams are complete: passes on their unfinished last lines.
  void end(std::size_t host) { enqueue(GivenEnd{host}); }

  /// Writes a line of podrun itself after everything given before: say() a message on stderr, print() data on
  /// stdout.
  void say(std::string line) { enqueue(GivenText{StreamId::err, std::move(line)}); }
  void print(std::string line) { enqueue(GivenText{StreamId::out, std::move(line)}); }

  /// Writes bytes for a full screen to the terminal at standard output. While `keeps_messages`, lines of
  /// say() wait, and no status line is painted; bytes without it leave the screen, and the lines follow. A
  /// screen that is still shown at the end is left.
  void show(std::string bytes, bool keeps_messages);
  bool shows_screen() const { return shows_screen_; }

  /// Sets the text of the status line, with all hosts' worker numbers if it shows their progress bars. Empty
  /// text removes the line before anything given later is written.
  void say_status(StatusText text, std::vector<std::size_t> workers = {}, std::vector<std::string> list = {});
  /// The user has typed this many lines on the terminal, below the status line.
  void lines_typed(std::size_t lines) { body_->lines_typed(lines); }

  /// Ends the remaining hosts, and makes the sinks write the lines they keep. Only say() and print() may
  /// follow.
  void finish();

  /// Completes when everything given so far is written, or discarded after an error.
  asio::awaitable<void> drain();
  /// Whether that is so already: a screen that waits for a slow terminal need not be painted again.
  bool is_written() const { return items_done_ == items_given_; }

  /// Leaves a write that may block forever to the thread, drops all other output, erases the status line and
  /// leaves a full screen if that does not block. For an exit by _exit; only what leaves the screen, without
  /// effect, and the destructor may follow.
  void abandon();

 private:
  struct HostRoom {
    Event freed;
    std::size_t waiting = 0;  ///< bytes, as cost_of() counts them
    bool full = false;
  };

  void enqueue(Given item);
  void apply_report();

  const Lender lender_{"an Output outlives the coroutines that wait for it"};
  const OneThread main_;
  const std::size_t credit_;
  const bool wants_names_;
  std::vector<HostRoom> hosts_;
  std::size_t items_given_ = 0;
  std::size_t items_done_ = 0;
  Event progress_;
  bool started_ = false;
  bool finished_ = false;
  bool shows_screen_ = false;
  OnWriteError on_write_error_;
  std::shared_ptr<Output*> self_;  ///< null for a report that arrives after the destructor
  std::shared_ptr<OutputThread> body_;
  std::thread thread_;
};

}  // namespace podrun::output
