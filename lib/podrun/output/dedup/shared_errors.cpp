// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/dedup/shared_errors.hpp"

#include <utility>

namespace podrun::output {

SharedErrors::SharedErrors(std::size_t hosts, std::chrono::milliseconds window, OtherLines others, Show show)
    : others_(others),
      show_(std::move(show)),
      hosts_(hosts),
      errors_(hosts, limits(window), [this](const DedupedLine& error) { show_error(error); }) {}

DedupLimits SharedErrors::limits(std::chrono::milliseconds window) {
  DedupLimits limits;
  limits.window = window;
  limits.late = std::chrono::milliseconds(-1);  // what was shown is forgotten, so no line is left out
  return limits;
}

void SharedErrors::line(TimePoint now, const Line& line) {
  constexpr std::size_t kMostHeld = std::size_t{64} << 10U;  // bytes of a host; more is too much to wait
  HostLines& lines = hosts_[line.host];
  if (line.stream == StreamId::err) {
    ++lines.given;
    errors_.line(now, line.host, {line.text, line.end}, {.key = line.text});
  } else if (others_ == OtherLines::pass || lines.given == lines.shown) {
    show_({&line.host, 1}, line);
  } else {
    lines.held.push_back({std::string(line.text), line.end, lines.given});
    lines.held_bytes += line.text.size() + sizeof(Held);
    if (lines.held_bytes > kMostHeld) errors_.show_all_of(line.host);
  }
}

void SharedErrors::show_error(const DedupedLine& error) {
  show_(error.hosts, Line{error.hosts.front(), StreamId::err, error.text, error.end});
  for (const std::size_t host : error.hosts) {
    ++hosts_[host].shown;
    release(host);
  }
}

/// Shows the lines that have waited for the errors before them.
void SharedErrors::release(std::size_t host) {
  HostLines& lines = hosts_[host];
  while (!lines.held.empty() && lines.held.front().after <= lines.shown) {
    const Held& first = lines.held.front();
    show_({&host, 1}, Line{host, StreamId::out, first.text, first.end});
    lines.held_bytes -= first.text.size() + sizeof(Held);
    lines.held.pop_front();
  }
}

}  // namespace podrun::output
