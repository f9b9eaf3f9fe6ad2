// SPDX-License-Identifier: Apache-2.0
// The main thread's side of the output: how much each host may have waiting, and the waits for room.
#include "podrun/output/output.hpp"

#include <algorithm>
#include <utility>

#include <asio/post.hpp>

#include "podrun/base/thread.hpp"

namespace podrun::output {
namespace {

constexpr std::size_t kHostCredit = 256 * 1024;
constexpr std::size_t kAllHosts = 16 * 1024 * 1024;

}  // namespace

std::size_t output_credit(std::size_t hosts) {
  return std::min(kHostCredit, kAllHosts / std::max<std::size_t>(hosts, 1));
}

Output::Output(asio::any_io_executor main, std::size_t hosts, std::vector<std::shared_ptr<Sink>> sinks,
               std::shared_ptr<Terminal> terminal, OnWriteError on_write_error)
    : credit_(output_credit(hosts)),
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
  HostRoom& room = hosts_[host];
  room.waiting += cost_of(bytes);
  room.full = room.full || room.waiting >= credit_;
  enqueue(GivenBytes{host, stream, std::move(bytes)});
}

asio::awaitable<void> Output::wait_for_room(std::size_t host) {
  while (!has_room(host)) co_await hosts_[host].freed.wait();
}

void Output::start() {
  if (!std::exchange(started_, true)) enqueue(GivenStart{});
}

void Output::end(std::size_t host) { enqueue(GivenEnd{host}); }

void Output::say(std::string line) { enqueue(GivenText{StreamId::err, std::move(line)}); }

void Output::print(std::string line) { enqueue(GivenText{StreamId::out, std::move(line)}); }

void Output::say_status(StatusText text, std::vector<std::size_t> workers) {
  ++items_given_;
  body_->say_status({std::move(text), std::move(workers)});
}

void Output::lines_typed(std::size_t lines) { body_->lines_typed(lines); }

void Output::finish() {
  if (!std::exchange(finished_, true)) enqueue(GivenFinish{});
}

asio::awaitable<void> Output::drain() {
  const std::size_t goal = items_given_;
  while (items_done_ < goal) co_await progress_.wait();
}

void Output::abandon() {
  body_->abandon();
  thread_.detach();
}

void Output::enqueue(Given item) {
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
