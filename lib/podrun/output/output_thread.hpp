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
#include <system_error>
#include <variant>
#include <vector>

#include "podrun/base/chunk.hpp"
#include "podrun/output/line_splitter.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun::output {

// Items for the output thread, which handles them in order.
struct GivenBytes {
  std::size_t host = 0;
  StreamId stream = StreamId::out;
  Chunk bytes;
};
struct GivenStart {};
struct GivenEnd {
  std::size_t host = 0;
};
struct GivenText {
  StreamId stream = StreamId::err;
  std::string line;
};
struct GivenFinish {};
using Given = std::variant<GivenBytes, GivenStart, GivenEnd, GivenText, GivenFinish>;

/// The text of the status line, and the label of each host for its progress bar.
struct GivenStatus {
  StatusText text;
  std::vector<std::size_t> workers;
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
  void process(const GivenStart& start);
  void process(const GivenEnd& end);
  void process(const GivenText& text);
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

}  // namespace podrun::output
