// SPDX-License-Identifier: Apache-2.0
#include "podrun/session/silence_watch.hpp"

#include <chrono>
#include <system_error>
#include <utility>

#include "podrun/hosts/probe.hpp"
#include "podrun/hosts/remembered.hpp"
#include "podrun/report/silence.hpp"

namespace podrun::session {

SilenceWatch::SilenceWatch(std::shared_ptr<asio::io_context> context, std::function<run::Status()> status)
    : status_(std::move(status)), timer_(*context), writer_(std::move(context), 1) {}

void SilenceWatch::arm(std::chrono::seconds pause) {
  timer_.expires_after(pause);
  timer_.async_wait([this](const std::error_code& cancelled) {
    if (cancelled) return;
    look();
    arm(kBetween);
  });
}

void SilenceWatch::look() {
  const run::Status status = status_();
  const run::TimePoint now = std::chrono::steady_clock::now();
  std::vector<const hosts::Host*> running;
  std::vector<std::optional<report::Silence>> silences;
  for (const run::HostStatus& host : status.hosts) {
    if (host.state != run::RunPolicy::State::running || host.reading_paused) continue;
    running.push_back(host.host);
    silences.emplace_back(now - host.since);
  }
  if (running.empty() || is_writing_) return;
  std::vector<hosts::Host> silent;
  for (const std::size_t place : report::silent_ones(silences)) silent.push_back(*running[place]);
  const bool is_known = silent == written_ && now - written_at_ < kAgain;
  const bool says_nothing = silent.empty() && written_.empty();
  if (is_known || (says_nothing && (now - begin_ < kAgain || written_at_ != run::TimePoint{}))) return;
  written_ = silent;
  written_at_ = now;
  is_writing_ = true;
  try {
    writer_.run([silent] { hosts::remember_silent_now(silent, *hosts::make_system_probe()); },
                [this] { is_writing_ = false; });
  } catch (const std::system_error&) {  // no thread can be started
    is_writing_ = false;
  }
}

}  // namespace podrun::session
