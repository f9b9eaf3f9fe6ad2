// SPDX-License-Identifier: Apache-2.0
// The page of one host: each chip with its holder, the figures beside those of the pod, disks and links.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "podrun/base/long_duration.hpp"
#include "podrun/base/text.hpp"
#include "podrun/devices/watchers.hpp"
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

/// Why the clock of a chip is below its most: the first of these that is true.
std::string reason(const Chip& chip) {
  using namespace clock_reason;
  constexpr std::array<std::pair<std::uint64_t, std::string_view>, 5> kNames{{{hw_slowdown, "HW SLOWDOWN"},
                                                                              {sw_thermal, "SW THERMAL"},
                                                                              {hw_thermal, "HW THERMAL"},
                                                                              {power_brake, "POWER BRAKE"},
                                                                              {power_cap, "power cap"}}};
  for (const auto& [bit, name] : kNames) {
    if (chip.slowed_by && (*chip.slowed_by & bit) != 0) return std::string(name);
  }
  return "";
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
    add_odd();
    add_chips();
    add_figures();
    add_disks();
    add_links();
    lines_.push_back("");
    add("",
        command_text("all its processes: ", fmt::format("ssh {} top", pod_.hosts()[host_].worker), facts_,
                     columns_),
        Style::dim);
    return std::move(lines_);
  }

 private:
  void add(std::string_view name, std::string_view text, Style style = Style::plain) {
    StyledLine line(display_, columns_);
    line.add(name, Style::bold);
    if (!name.empty()) line.add(" ").pad_to(6);
    lines_.push_back(line.add(safe(text), style).bytes());
  }

  void add_odd() {
    for (const Odd& odd : row_.odd)
      add("odd", odd.text,
          odd.until                         ? Style::dim
          : odd.severity == Severity::fault ? Style::fault
                                            : Style::warning);
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
      const std::string busy = chip.busy ? real(chip.busy) : "·";
      StyledLine line(display_, columns_);
      line.add(fmt::format("{:>3}", chip.index), Style::bold);
      for (const auto& [text, width] : {std::pair{busy, std::size_t{4}},
                                        {real(chip.watts), 5},
                                        {gib(chip.memory_used) + "/" + gib(chip.memory_total), 11},
                                        {real(chip.celsius), 5},
                                        {real(chip.mhz), 6}}) {
        const std::size_t cells = text == "·" ? 1 : text.size();
        line.pad_to(line.width() + width - std::min(width, cells)).add(text);
      }
      constexpr std::uint64_t kUsual =
          clock_reason::idle | clock_reason::application_clocks | clock_reason::power_cap;
      const bool is_slowed = (chip.slowed_by.value_or(0) & ~kUsual) != 0;
      line.add("  ").add(fmt::format("{:12}", reason(chip)), is_slowed ? Style::warning : Style::plain);
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
    std::string text;
    for (const Mount& mount : report_.mounts) {
      const std::optional<double> used = mount.percent_used();
      if (!used && !mount.is_silent) continue;
      text += fmt::format("{}{} {}{}", text.empty() ? "" : "   ", mount.path,
                          mount.is_silent
                              ? fmt::format("no answer for {:.0f} s", report_.now->at - mount.asked_at)
                              : fmt::format("{:.0f} %", *used),
                          mount.is_read_only ? " read-only" : "");
    }
    if (!text.empty()) add("full", text);
  }

  void add_links() {
    std::string text;
    if (!report_.slow) return;
    for (const NetworkLink& link : report_.slow->links)
      text += fmt::format("{}{} {}", text.empty() ? "" : "   ", link.name, link.state);
    if (!text.empty()) add("links", text);
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
