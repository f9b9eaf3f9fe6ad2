// SPDX-License-Identifier: Apache-2.0
// The output of a run, on two threads. The main thread limits how much each host may have waiting; the other
// one splits output into lines, feeds the sinks, paints the status line and writes.
#include "podrun/output/output.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <asio/post.hpp>

#include "podrun/base/thread.hpp"
#include "podrun/output/full_screen.hpp"

namespace podrun::output {
namespace {

constexpr std::size_t kHostCredit = 256 * 1024;
constexpr std::size_t kAllHosts = 16 * 1024 * 1024;

/// The cost after which a report is made even though more waits.
constexpr std::size_t kReportEvery = 256 * 1024;

/// The cost above which output no longer waits for the sake of the status line.
constexpr std::size_t kFlood = 16 * 1024;

/// The number of bytes at the end of an unfinished line to search for a progress bar.
constexpr std::size_t kLongestBar = 4 * 1024;

}  // namespace

OutputThread::OutputThread(std::size_t hosts, std::vector<std::shared_ptr<Sink>> sinks,
                           std::shared_ptr<Terminal> terminal, std::function<void()> notify)
    : terminal_(std::move(terminal)),
      sinks_(std::move(sinks)),
      sink_failed_(sinks_.size()),
      notify_(std::move(notify)) {
  for (const auto& sink : sinks_) splits_ = splits_ || sink->feed() == Feed::lines;
  const LineSplitter splitter(line_limit(hosts));
  hosts_.assign(hosts, HostStreams{{splitter, splitter}});
}

void OutputThread::run() {
  Batch batch;
  while (take(batch)) {
    const Sink::TimePoint now = Sink::Clock::now();
    for (const auto& sink : sinks_) sink->tick(now - terminal_->time_in_flush());
    if (batch.typed_lines > 0) terminal_->lines_typed(batch.typed_lines);
    if (batch.status) show(std::move(*batch.status));
    done_.items += batch.statuses;
    for (Given& item : batch.items) {
      std::visit([this](auto& given) { process(given); }, item);
      ++done_.items;
      if (done_cost_ >= kReportEvery) report();
    }
    batch.clear();
    if (done_cost_ >= kFlood || !terminal_->holds_back(now)) report();
    terminal_->paint_status(Sink::Clock::now());
  }
  terminal_->say_status({}, std::nullopt);
  terminal_->show(FullScreen::kLeave, false);
  report();
}

/// Waits for work. False: closed, and nothing is left.
bool OutputThread::take(Batch& batch) {
  Sink::TimePoint next = Sink::TimePoint::max();
  for (const auto& sink : sinks_) next = std::min(next, sink->next_tick());
  if (next != Sink::TimePoint::max()) next += terminal_->time_in_flush();
  next = std::min(next, terminal_->due());
  std::unique_lock lock(mutex_);
  given_.wait_until(lock, next, [this] { return closed_ || !queue_.empty(); });
  std::swap(batch, queue_);
  return !closed_ || !batch.empty();
}

void OutputThread::process(GivenBytes& given) {
  for (const auto& sink : sinks_) {
    if (sink->feed() == Feed::chunks)
      sink->line({given.host, given.stream, given.bytes.bytes(), LineEnd::piece});
  }
  if (splits_) split(given);
  done_cost_ += cost_of(given.bytes);
  done_.bytes.push_back(std::move(given));
}

void OutputThread::split(const GivenBytes& given) {
  std::string_view bytes = given.bytes.bytes();
  LineSplitter& splitter = hosts_[given.host].splitters[index_of(given.stream)];
  while (const auto line = splitter.next(bytes)) {
    process(Line{given.host, given.stream, line->text, line->end});
  }
}

void OutputThread::process(const Line& line) {
  for (const auto& sink : sinks_) {
    if (sink->feed() == Feed::lines) sink->line(line);
  }
}

void OutputThread::process(const GivenNames& given) {
  for (const auto& sink : sinks_) sink->host_named(given.host, given.names);
}

void OutputThread::process(const GivenStart& /*given*/) {
  for (const auto& sink : sinks_) sink->started();
}

void OutputThread::process(const GivenEnd& given) {
  HostStreams& host = hosts_[given.host];
  if (std::exchange(host.ended, true)) return;
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    const auto last = host.splitters[index_of(stream)].end();
    if (last) process(Line{given.host, stream, last->text, last->end});
  }
  for (const auto& sink : sinks_) sink->host_ended(given.host);
}

void OutputThread::process(const GivenText& given) {
  if (given.stream == StreamId::err) {
    terminal_->say(given.line);
  } else {
    terminal_->append(given.stream, {given.line, "\n"});
  }
}

void OutputThread::process(const GivenScreen& given) { terminal_->show(given.bytes, given.keeps_messages); }

void OutputThread::process(const GivenFinish& /*given*/) {
  for (std::size_t host = 0; host < hosts_.size(); ++host) process(GivenEnd{host});
  for (const auto& sink : sinks_) sink->finish();
}

void OutputThread::show(GivenStatus status) {
  std::optional<Bar> bar = find_bar(status.workers);
  terminal_->say_status(std::move(status.text), std::move(bar), status.list);
}

std::optional<Bar> OutputThread::find_bar(const std::vector<std::size_t>& workers) const {
  for (std::size_t host = 0; host < std::min(workers.size(), hosts_.size()); ++host) {
    for (const LineSplitter& splitter : hosts_[host].splitters) {
      const std::string_view line = splitter.unfinished();
      std::string state = bar_state(line.substr(line.size() - std::min(line.size(), kLongestBar)));
      if (!state.empty()) return Bar{workers[host], std::move(state)};
    }
  }
  return std::nullopt;
}

void OutputThread::report() {
  terminal_->flush();
  done_cost_ = 0;
  find_errors();
  if (done_.items == 0 && done_.errors.empty()) return;  // such a report would be empty
  const std::scoped_lock lock(mutex_);
  report_.items += std::exchange(done_.items, 0);
  std::move(done_.bytes.begin(), done_.bytes.end(), std::back_inserter(report_.bytes));
  std::move(done_.errors.begin(), done_.errors.end(), std::back_inserter(report_.errors));
  done_.bytes.clear();
  done_.errors.clear();
  if (notify_ && !std::exchange(notified_, true)) notify_();
}

void OutputThread::find_errors() {
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    const std::error_code error = terminal_->error(stream);
    if (!error || std::exchange(stream_failed_[index_of(stream)], true)) continue;
    const char* const name = stream == StreamId::out ? "standard output: " : "standard error: ";
    done_.errors.push_back({name + error.message(), error == std::errc::broken_pipe});
  }
  for (std::size_t i = 0; i < sinks_.size(); ++i) {
    const std::string* error = sinks_[i]->error();
    if (!error || sink_failed_[i]) continue;
    sink_failed_[i] = true;
    done_.errors.push_back({.what = *error, .is_side = true});
  }
}

void OutputThread::enqueue(Given item) {
  const std::scoped_lock lock(mutex_);
  const bool first = queue_.empty();
  queue_.items.push_back(std::move(item));
  if (first) given_.notify_one();
}

void OutputThread::say_status(GivenStatus status) {
  const std::scoped_lock lock(mutex_);
  queue_.status = std::make_unique<GivenStatus>(std::move(status));
  ++queue_.statuses;
  given_.notify_one();
}

void OutputThread::lines_typed(std::size_t lines) {
  const std::scoped_lock lock(mutex_);
  queue_.typed_lines += lines;
  given_.notify_one();
}

void OutputThread::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  given_.notify_one();
}

void OutputThread::abandon() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    queue_.clear();
    notify_ = nullptr;
    given_.notify_one();
  }
  terminal_->wipe();
}

OutputReport OutputThread::take_report() {
  const std::scoped_lock lock(mutex_);
  notified_ = false;
  return std::exchange(report_, {});
}

std::size_t output_credit(std::size_t hosts) {
  return std::min(kHostCredit, kAllHosts / std::max<std::size_t>(hosts, 1));
}

Output::Output(asio::any_io_executor main, std::size_t hosts, std::vector<std::shared_ptr<Sink>> sinks,
               std::shared_ptr<Terminal> terminal, OnWriteError on_write_error)
    : credit_(output_credit(hosts)),
      wants_names_(std::ranges::any_of(sinks, &Sink::wants_names)),
      progress_(main),
      on_write_error_(std::move(on_write_error)),
      self_(std::make_shared<Output*>(this)) {
  hosts_.reserve(hosts);
  for (std::size_t host = 0; host < hosts; ++host) hosts_.push_back({Event(main)});
  auto notify = [main, self = self_] {
    asio::post(main, [self] {
      if (*self != nullptr) (*self)->apply_report();
    });
  };
  body_ = std::make_shared<OutputThread>(hosts, std::move(sinks), std::move(terminal), std::move(notify));
  thread_ = start_thread([body = body_] { body->run(); });
}

Output::~Output() {
  *self_ = nullptr;
  if (!thread_.joinable()) return;
  finish();
  body_->close();
  thread_.join();
}

void Output::write(std::size_t host, StreamId stream, Chunk bytes) {
  expect(!finished_, "hosts print nothing after Output::finish()");
  expect(host < hosts_.size(), "output is of a host of the run");
  HostRoom& room = hosts_[host];
  room.waiting += cost_of(bytes);
  room.full = room.full || room.waiting >= credit_;
  enqueue(GivenBytes{host, stream, std::move(bytes)});
}

asio::awaitable<void> Output::wait_for_room(std::size_t host) {
  const Borrowed self(lender_);
  while (!has_room(host)) co_await hosts_[host].freed.wait();
}

void Output::start() {
  if (!std::exchange(started_, true)) enqueue(GivenStart{});
}

void Output::show(std::string bytes, bool keeps_messages) {
  shows_screen_ = keeps_messages;
  enqueue(GivenScreen{std::move(bytes), keeps_messages});
}

void Output::say_status(StatusText text, std::vector<std::size_t> workers, std::vector<std::string> list) {
  ++items_given_;
  body_->say_status({std::move(text), std::move(workers), std::move(list)});
}

void Output::finish() {
  if (!std::exchange(finished_, true)) enqueue(GivenFinish{});
}

/// Two may wait at a time: each progress wakes both.
asio::awaitable<void> Output::drain() {
  const Borrowed self(lender_);
  const std::size_t goal = items_given_;
  while (items_done_ < goal) co_await progress_.wait();
}

void Output::abandon() {
  body_->abandon();
  thread_.detach();
}

void Output::enqueue(Given item) {
  main_.check("Output is for the main thread");
  ++items_given_;
  body_->enqueue(std::move(item));
}

void Output::apply_report() {
  const OutputReport report = body_->take_report();
  for (const GivenBytes& given : report.bytes) {
    HostRoom& room = hosts_[given.host];
    room.waiting -= cost_of(given.bytes);
    if (!room.full || room.waiting > credit_ / 2) continue;
    room.full = false;
    room.freed.notify();
  }
  items_done_ += report.items;
  progress_.notify();
  for (const WriteError& error : report.errors) on_write_error_(error);
}

}  // namespace podrun::output
