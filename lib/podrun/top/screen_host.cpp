// SPDX-License-Identifier: Apache-2.0
// The page of one host: each chip with its holder, the figures beside those of the pod, disks and links.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "podrun/base/long_duration.hpp"
#include "podrun/base/text.hpp"
#include "podrun/devices/watchers.hpp"
#include "podrun/output/cell_width.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/supervisor/mark.hpp"
#include "podrun/top/folding.hpp"
#include "podrun/top/oddness.hpp"
#include "podrun/top/screen_parts.hpp"

namespace podrun::top {
namespace {

using devices::DeviceHolder;

constexpr double kGib = 1024.0 * 1024 * 1024;

std::string safe(std::string_view text) { return output::escape_controls(text); }

std::string gib(std::optional<std::uint64_t> bytes) {
  return bytes ? fmt::format("{:.1f}", static_cast<double>(*bytes) / kGib) : "·";
}

std::string real(const std::optional<double>& value) { return value ? fmt::format("{:.0f}", *value) : "·"; }

/// `HW THERMAL`, `power cap`: capitals are a warning.
std::string words_of(const ClockReason& reason) {
  if (reason.warning.empty() && reason.name != "power_cap") return "";
  std::string text(reason.name);
  for (char& c : text) {
    if (c == '_')
      c = ' ';
    else if (!reason.warning.empty())
      c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

class HostPage {
 public:
  HostPage(const Pod& pod, const ScreenState& state, const ScreenFacts& facts, std::size_t columns,
           const Display& display)
      : host_(state.cursor),
        row_(pod.rows()[host_]),
        report_(row_.report),
        pod_(pod),
        facts_(facts),
        columns_(columns),
        display_(display) {}

  std::string title() const {
    const hosts::Host& host = pod_.hosts()[host_];
    StyledLine line(display_, columns_);
    line.add("podrun top", Style::title)
        .add(fmt::format("   worker {}  ", host.worker))
        .add(safe(host.name), Style::bold);
    if (report_.now)
      line.add(fmt::format("   up {}", long_duration(std::chrono::seconds(std::llround(report_.now->at)))));
    if (row_.frame_at)
      line.add(fmt::format("   frame {:.1f} s old",
                           std::chrono::duration<double>(facts_.now - *row_.frame_at).count()));
    line.add_right(facts_.clock, Style::dim);
    return line.bytes();
  }

  std::vector<std::string> body() {
    if (row_.state == Presence::lost || row_.state == Presence::waiting) {
      add("", describe_trouble(row_, facts_.now), Style::fault);
      return std::move(lines_);
    }
    for (const Odd& odd : row_.odd) add("odd", odd.text, style_of(odd));
    add_chips();
    add_figures();
    add_disks();
    add_links();
    add_command();
    return std::move(lines_);
  }

 private:
  /// The command that lists all processes of the host, if podrun ssh reaches it.
  void add_command() {
    const hosts::Host& host = pod_.hosts()[host_];
    if (host.kind == hosts::HostKind::local || !facts_.same_hosts.has_ssh) return;
    constexpr std::string_view kBefore = "all its processes: ";
    const std::string command = command_line(fmt::format("ssh {} -t top", host.worker), facts_,
                                             columns_ - std::min(columns_, kBefore.size()));
    const bool fits = output::cell_width(command) + kBefore.size() <= columns_;
    lines_.push_back("");
    add("", fmt::format("{}{}", fits ? kBefore : "", command), Style::dim);
  }
  void add(std::string_view name, std::string_view text, Style style = Style::plain) {
    StyledLine line(display_, columns_);
    line.add(name, Style::bold);
    if (!name.empty()) line.add(" ").pad_to(6);
    lines_.push_back(line.add(safe(text), style).bytes());
  }

  std::string holder_of(std::size_t chip) const {
    if (!report_.holders) return "";
    for (const DeviceHolder& holder : report_.holders->holders) {
      if (devices::is_watcher(holder.name)) continue;
      for (const std::string& device : holder.devices) {
        if (devices::device_number(device) != chip) continue;
        const std::string job = supervisor::job_of(holder.mark);
        return fmt::format("{} {} {}{}", holder.user, holder.name, holder.pid,
                           job.empty() ? "" : " job " + job);
      }
    }
    if (!report_.holders->sees_all) return "no own process";
    // A container hides the processes of others.
    constexpr double kUsed = 5;  // percent
    const auto known = std::ranges::find(fresh_chips(report_), chip, &Chip::index);
    const bool is_used =
        known != fresh_chips(report_).end() &&
        (known->busy.value_or(0) > 0 || kind_of(Figure::hbm).of_chip(*known).value_or(0) > kUsed);
    return is_used ? "no process to be seen" : "free";
  }

  void add_chips() {
    const std::span<const Chip> chips = fresh_chips(report_);
    if (!chips.empty()) {
      StyledLine header(display_, columns_);
      lines_.push_back(
          header.add("GPU   %    W   HBM GiB    °C   MHz  reasons       holder", Style::dim).bytes());
    }
    for (const Chip& chip : chips) {
      StyledLine line(display_, columns_);
      line.add(fmt::format("{:>3}", chip.index), Style::bold);
      line.add(fmt::format("{:>4}{:>5}{:>11}{:>5}{:>6}", real(chip.busy), real(chip.watts),
                           gib(chip.memory_used) + "/" + gib(chip.memory_total), real(chip.celsius),
                           real(chip.mhz)));
      const ClockReason* const reason = chip.reason();
      const bool is_warning = reason && !reason->warning.empty();
      line.add(fmt::format("  {:12}", reason ? words_of(*reason) : ""),
               is_warning ? Style::warning : Style::plain);
      lines_.push_back(line.add("  " + safe(holder_of(chip.index))).bytes());
    }
    if (!chips.empty()) return;
    for (std::size_t chip = 0; chip < std::max(report_.tpus, report_.gpus); ++chip)
      add(fmt::format("{} {}", report_.tpus > 0 ? "TPU" : "GPU", chip), holder_of(chip));
  }

  void add_figures() {
    std::vector<TableRow> rows;
    for (const FigureKind& kind : figure_kinds()) {
      const std::optional<double>& here = at(row_.figures, kind.figure);
      const std::optional<Extremes>& all = pod_.extremes(kind.figure);
      if (!all) continue;
      rows.push_back(
          {name_of(pod_, kind.figure),
           fmt::format("{:>7}{:>8}", here ? short_value(kind, *here) : "·", short_value(kind, all->median))});
    }
    const std::string header = fmt::format("{:7}{:>7}{:>8}", "", "here", "median");
    for (std::string& line : in_blocks(header, rows, header.size(), columns_, display_))
      lines_.push_back(std::move(line));
  }

  void add_disks() {
    std::vector<std::string> words;
    for (const Mount& mount : report_.mounts) {
      const std::optional<double> used = mount.percent_used();
      const std::string state = mount.is_silent
                                    ? fmt::format("no answer for {:.0f} s", report_.now->at - mount.asked_at)
                                : used ? fmt::format("{:.0f} %", *used)
                                       : "";
      if (!state.empty())
        words.push_back(fmt::format("{} {}{}", mount.path, state, mount.is_read_only ? " read-only" : ""));
    }
    if (!words.empty()) add("full", join(words, "   "));
  }

  void add_links() {
    std::vector<std::string> words;
    if (!report_.slow) return;
    for (const NetworkLink& link : report_.slow->links) words.push_back(link.name + " " + link.state);
    if (!words.empty()) add("links", join(words, "   "));
  }

  const std::size_t host_;
  const HostRow& row_;
  const HostReport& report_;
  const Pod& pod_;
  const ScreenFacts& facts_;
  const std::size_t columns_;
  const Display& display_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> draw_host(const Pod& pod, ScreenState& state, const ScreenFacts& facts,
                                   output::ScreenSize size, const Display& display) {
  HostPage page(pod, state, facts, size.columns, display);
  std::vector<std::string> lines = {page.title()};
  if (size.rows < 2) return lines;
  for (std::string& line : scrolled(page.body(), size.rows - 2, state)) lines.push_back(std::move(line));
  lines.resize(size.rows - 1);
  StyledLine keys(display, size.columns);
  const std::string message = message_text(pod, state, facts, size.columns);
  if (message.empty())
    keys.add("Esc back  n p next odd host  j k scroll  K how to kill  q quit", Style::dim);
  else
    keys.add(message);
  lines.push_back(keys.bytes());
  return lines;
}

}  // namespace podrun::top
