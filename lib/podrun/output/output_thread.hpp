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
#include "podrun/base/stream_id.hpp"
#include "podrun/output/line_splitter.hpp"
#include "podrun/output/sink.hpp"
#include "podrun/output/terminal.hpp"

namespace podrun {

/// What the output thread is given, in order.
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

/// What the status line is to say; the label of each host, for a progress bar of one.
struct GivenStatus {
  StatusText text;
  std::vector<std::size_t> labels;
};

/// What could not be written; from then on it is discarded.
struct WriteError {
  std::string what;          ///< `standard output: No space left on device`
  bool broken_pipe = false;  ///< a reader that has gone
  bool is_side = false;      ///< what only a sink writes, beside our own streams
};

/// Bytes that a waiting chunk takes: its own and a share of queue and heap, or tiny chunks would be free.
inline std::size_t cost_of(const Chunk& chunk) { return chunk.size() + 128; }

/// What was written, or discarded after an error, since the report before.
struct OutputReport {
  std::size_t items = 0;
  std::vector<GivenBytes> bytes;   ///< given back, to be freed where they were made
  std::vector<WriteError> errors;  ///< the first of each stream and sink, in one report only
};

/// The body of the output thread: what it is given goes through splitters and sinks to the terminal.
class OutputThread {
 public:
  /// `notify` is called on the output thread when a report waits, and not again until it was taken.
  OutputThread(std::size_t hosts, std::vector<std::shared_ptr<Sink>> sinks,
               std::shared_ptr<Terminal> terminal, std::function<void()> notify);

  /// Runs until close(), and until everything given before it is written.
  void run();

  // From any thread, none of them blocks:
  std::chrono::steady_clock::duration time_of_reader() const { return terminal_->time_in_flush(); }
  void give(Given item);
  void say_status(GivenStatus status);  ///< instead of what was given before and is not shown yet
  void lines_typed(std::size_t lines);
  void close();
  void abandon();  ///< close(), what waits is dropped, and `notify` is called no more
  OutputReport take_report();

 private:
  struct HostStreams {
    std::array<LineSplitter, kStreams> splitters;
    bool ended = false;
  };

  /// What it is given at once.
  struct Batch {
    std::vector<Given> items;
    std::unique_ptr<GivenStatus> status;
    std::size_t typed_lines = 0;

    bool empty() const { return items.empty() && !status && typed_lines == 0; }
    void clear() {
      items.clear();
      status.reset();
      typed_lines = 0;
    }
  };

  bool take(Batch& batch);
  void deliver(GivenBytes& bytes);
  void deliver(const Line& line);
  void deliver(const GivenStart& start);
  void deliver(const GivenEnd& end);
  void deliver(const GivenText& text);
  void deliver(const GivenFinish& finish);
  void split(const GivenBytes& bytes);
  void show(GivenStatus status);
  std::optional<Bar> find_bar(const std::vector<std::size_t>& labels) const;
  void report();
  void find_errors();

  // The output thread's own.
  const std::shared_ptr<Terminal> terminal_;  // outlives the sink
  const std::vector<std::shared_ptr<Sink>> sinks_;
  bool splits_ = false;  ///< some sink wants lines
  std::array<bool, kStreams> stream_failed_{};
  std::vector<bool> sink_failed_;
  std::vector<HostStreams> hosts_;
  OutputReport done_;          ///< since the last report
  std::size_t done_cost_ = 0;  ///< bytes, of done_.bytes

  std::mutex mutex_;  // guards what follows
  std::condition_variable given_;
  Batch queue_;
  bool closed_ = false;
  OutputReport report_;
  bool notified_ = false;  ///< and report_ was not taken since
  std::function<void()> notify_;
};

}  // namespace podrun
