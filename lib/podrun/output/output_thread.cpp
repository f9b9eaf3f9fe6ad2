// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/output_thread.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace podrun {
namespace {

/// Bytes of cost after which a report is made even though more waits.
constexpr std::size_t kReportEvery = 256 * 1024;

}  // namespace

OutputThread::OutputThread(std::size_t hosts, std::unique_ptr<Sink> sink, std::shared_ptr<Terminal> terminal,
                           std::function<void()> notify)
    : terminal_(std::move(terminal)), sink_(std::move(sink)), notify_(std::move(notify)) {
  const LineSplitter splitter(line_limit(hosts));
  hosts_.assign(hosts, HostStreams{{splitter, splitter}});
}

void OutputThread::run() {
  std::vector<Given> batch;
  while (take(batch)) {
    sink_->tick(Sink::Clock::now());
    for (Given& item : batch) {
      std::visit([this](auto& given) { deliver(given); }, item);
      ++done_.items;
      if (done_cost_ >= kReportEvery) report();
    }
    batch.clear();
    report();
  }
}

/// Waits for something to do. False: closed, and nothing is left.
bool OutputThread::take(std::vector<Given>& batch) {
  std::unique_lock lock(mutex_);
  given_.wait_until(lock, sink_->next_tick(), [this] { return closed_ || !queue_.empty(); });
  batch.swap(queue_);
  return !closed_ || !batch.empty();
}

void OutputThread::deliver(GivenBytes& given) {
  std::string_view bytes = given.bytes.bytes();
  if (sink_->feed() == Feed::chunks) {
    sink_->line({given.host, given.stream, bytes, LineEnd::piece});
  } else {
    LineSplitter& splitter = hosts_[given.host].splitters[index_of(given.stream)];
    while (const auto line = splitter.next(bytes)) {
      sink_->line({given.host, given.stream, line->text, line->end});
    }
  }
  done_cost_ += cost_of(given.bytes);
  done_.bytes.push_back(std::move(given));
}

void OutputThread::deliver(const GivenEnd& given) {
  HostStreams& host = hosts_[given.host];
  if (std::exchange(host.ended, true)) return;
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    const auto last = host.splitters[index_of(stream)].end();
    if (last) sink_->line({given.host, stream, last->text, last->end});
  }
  sink_->host_ended(given.host);
}

void OutputThread::deliver(const GivenMessage& given) {
  terminal_->append(StreamId::err, {given.line, "\n"});
}

void OutputThread::deliver(const GivenFinish& /*given*/) {
  for (std::size_t host = 0; host < hosts_.size(); ++host) deliver(GivenEnd{host});
  sink_->finish();
}

void OutputThread::report() {
  terminal_->flush();
  done_cost_ = 0;
  const std::scoped_lock lock(mutex_);
  report_.items += std::exchange(done_.items, 0);
  std::move(done_.bytes.begin(), done_.bytes.end(), std::back_inserter(report_.bytes));
  done_.bytes.clear();
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    const std::size_t i = index_of(stream);
    if (done_.errors[i] || !terminal_->error(stream)) continue;
    report_.errors[i] = done_.errors[i] = terminal_->error(stream);
  }
  if (notify_ && !std::exchange(notified_, true)) notify_();
}

void OutputThread::give(Given item) {
  const std::scoped_lock lock(mutex_);
  queue_.push_back(std::move(item));
  if (queue_.size() == 1) given_.notify_one();
}

void OutputThread::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  given_.notify_one();
}

void OutputThread::abandon() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  queue_.clear();
  notify_ = nullptr;
  given_.notify_one();
}

OutputReport OutputThread::take_report() {
  const std::scoped_lock lock(mutex_);
  notified_ = false;
  return std::exchange(report_, {});
}

}  // namespace podrun
