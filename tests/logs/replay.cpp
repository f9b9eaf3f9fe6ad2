// SPDX-License-Identifier: Apache-2.0
// Replays the writes of several hosts through the sink of `--dedup`, with the clock of the log, so that it
// takes no time. Prints what the sink shows, and when.
//
// Input: `d`, `log` or `numbers`; a line `host LISTED NAME...` for each host, with the names and addresses
// that it has for itself; then, by time, `TIME HOST out|err SIZE` and SIZE bytes with a newline after them,
// or `TIME HOST end`. Output: `TIME out|err LINE`. Times are in microseconds.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/output/dedup/dedup_sink.hpp"
#include "podrun/output/line_splitter.hpp"

namespace podrun {
namespace {

using output::LineSplitter;
using output::Same;
using output::Sink;
using TimePoint = Sink::TimePoint;

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "replay: " << what << '\n';
  std::exit(2);
}

/// A file in memory, for what a stream of the terminal shows.
class Screen {
 public:
  int fd() const { return fd_; }

  /// Prints the whole lines that are new.
  void print_new(TimePoint now, const char* name) {
    std::array<char, 65536> bytes{};
    for (ssize_t size = 0; (size = ::pread(fd_, bytes.data(), bytes.size(), read_)) > 0; read_ += size)
      line_.append(bytes.data(), static_cast<std::size_t>(size));
    const auto time = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
    for (std::size_t end = 0; (end = line_.find('\n')) != line_.npos; line_.erase(0, end + 1))
      std::cout << time << ' ' << name << ' ' << line_.substr(0, end) << '\n';
  }

 private:
  const int fd_ = ::memfd_create("screen", 0);
  off_t read_ = 0;
  std::string line_;  ///< what is printed next
};

struct NamedHosts {
  std::vector<hosts::Host> hosts;
  std::vector<std::vector<std::string>> names;  ///< that each has for itself
};

class Replay {
 public:
  Replay(const NamedHosts& named, Same same) {
    const auto& [hosts, names] = named;
    output::View view;
    if (same != Same::bytes) view.bars.fill(output::Bars::fold);
    sink_ = output::make_dedup_sink(hosts, view, {.same = same}, {}, terminal_);
    const LineSplitter splitter(output::line_limit(hosts.size()));
    hosts_.assign(hosts.size(), {splitter, splitter});
    sink_->tick(now_);
    for (std::size_t host = 0; host < hosts.size(); ++host) sink_->host_named(host, names[host]);
    sink_->started();
  }

  /// Shows what is due before `time`, then goes on to it.
  void wait_until(TimePoint time) {
    for (TimePoint next = sink_->next_tick(); next < time; next = sink_->next_tick()) tick(next);
    tick(time);
  }
  void write(std::size_t host, StreamId stream, std::string_view bytes) {
    while (const auto line = hosts_.at(host)[index_of(stream)].next(bytes))
      sink_->line({host, stream, line->text, line->end});
    print_new();
  }
  void end(std::size_t host) {
    for (const StreamId stream : {StreamId::out, StreamId::err}) {
      if (const auto line = hosts_.at(host)[index_of(stream)].end())
        sink_->line({host, stream, line->text, line->end});
    }
    sink_->host_ended(host);
    print_new();
  }
  void finish() {
    sink_->finish();
    print_new();
  }

 private:
  void tick(TimePoint time) {
    now_ = std::max(now_, time);
    sink_->tick(now_);
    print_new();
  }
  void print_new() {
    terminal_.flush();
    out_.print_new(now_, "out");
    err_.print_new(now_, "err");
  }

  Screen out_;
  Screen err_;
  output::Terminal terminal_{out_.fd(), err_.fd()};
  std::unique_ptr<Sink> sink_;
  std::vector<std::array<LineSplitter, kStreams>> hosts_;
  TimePoint now_{};
};

Same read_mode(std::istream& in) {
  const std::map<std::string, Same> modes{
      {"d", Same::bytes}, {"log", Same::log_line}, {"numbers", Same::numbers}};
  std::string line;
  std::getline(in, line);
  const auto mode = modes.find(line);
  if (mode == modes.end()) fail("no mode: " + line);
  return mode->second;
}

NamedHosts read_hosts(std::istream& in) {
  NamedHosts named;
  for (std::string line; in.peek() == 'h' && std::getline(in, line);) {
    std::istringstream words(line);
    std::string host;
    std::string listed;
    words >> host >> listed;
    named.hosts.push_back({.worker = named.hosts.size(), .name = listed});
    named.names.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return named;
}

void read_event(const std::string& line, std::istream& in, Replay& replay) {
  std::istringstream words(line);
  long long time = 0;
  std::size_t host = 0;
  std::size_t size = 0;
  std::string what;
  if (!(words >> time >> host >> what) || (what != "end" && !(words >> size))) fail("no event: " + line);
  replay.wait_until(TimePoint(std::chrono::microseconds(time)));
  if (what == "end") return replay.end(host);
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  if (in.get() != '\n') fail("cut off after: " + line);
  replay.write(host, what == "err" ? StreamId::err : StreamId::out, bytes);
}

}  // namespace
}  // namespace podrun

int main() {
  std::ios::sync_with_stdio(false);
  const podrun::Same same = podrun::read_mode(std::cin);
  podrun::Replay replay(podrun::read_hosts(std::cin), same);
  for (std::string line; std::getline(std::cin, line);) podrun::read_event(line, std::cin, replay);
  replay.finish();
}
