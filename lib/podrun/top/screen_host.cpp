// SPDX-License-Identifier: Apache-2.0
// The page of one host: each chip with its holder, memory, disks, network, processes.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "podrun/base/long_duration.hpp"
#include "podrun/base/text.hpp"
#include "podrun/devices/watchers.hpp"
#include "podrun/output/cell_width.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/supervisor/mark.hpp"
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

std::string rate(double bytes) { return long_value(kind_of(Figure::net), bytes); }

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
           const Look& look)
      : host_(state.cursor),
        row_(pod.rows()[host_]),
        report_(row_.report),
        pod_(pod),
        facts_(facts),
        columns_(columns),
        look_(look) {}

  std::string title() const {
    const hosts::Host& host = pod_.hosts()[host_];
    StyledLine line(look_, columns_);
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
    if (row_.state == HostState::lost || row_.state == HostState::waiting) {
      add("", describe_trouble(row_, facts_.now), Style::fault);
      return std::move(lines_);
    }
    add_odd();
    add_chips();
    add_cpu();
    add_memory();
    add_disks();
    add_network();
    add_processes();
    return std::move(lines_);
  }

 private:
  void add(std::string_view name, std::string_view text, Style style = Style::plain) {
    StyledLine line(look_, columns_);
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
      StyledLine header(look_, columns_);
      lines_.push_back(
          header.add("GPU   %    W   HBM GiB    °C   MHz  reasons       holder", Style::dim).bytes());
    }
    for (const Chip& chip : chips) {
      const std::string busy = chip.busy ? real(chip.busy) : "·";
      StyledLine line(look_, columns_);
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

  void add_cpu() {
    std::string text = fmt::format("{:>3} %", real(at(row_.figures, Figure::cpu)));
    if (const auto times = cpu_times(report_))
      text += fmt::format("  user {:.0f} sys {:.0f} wait {:.0f} steal {:.0f}", times->user, times->system,
                          times->wait, times->steal);
    if (report_.cores > 0) text += fmt::format("  {} cores", report_.cores);
    if (report_.now->load)
      text += fmt::format("  load {:.{}f}", *report_.now->load, *report_.now->load < 10 ? 1 : 0);
    if (report_.now->cpu_pressure) text += fmt::format("  pressure {:.1f} %", *report_.now->cpu_pressure);
    add("CPU", text);
  }

  void add_memory() {
    const Counters& now = *report_.now;
    if (!now.memory_total || !now.memory_available) return;
    const std::uint64_t used = *now.memory_total - std::min(*now.memory_total, *now.memory_available);
    std::string text = fmt::format("{:>3} %   {} of {} GiB", real(at(row_.figures, Figure::ram)), gib(used),
                                   gib(now.memory_total));
    if (const auto swap = now.swap_used()) text += fmt::format("   swap {} GiB", gib(swap));
    if (now.memory_pressure) text += fmt::format("   pressure {:.1f} %", *now.memory_pressure);
    if (report_.slow && report_.slow->oom_kills) text += fmt::format("   OOM {}", *report_.slow->oom_kills);
    add("RAM", text);
  }

  void add_disks() {
    if (const auto rates = disk_rates(report_))
      add("disk", fmt::format("read {}   write {}", rate(rates->in), rate(rates->out)));
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

  void add_network() {
    std::string text;
    if (const auto rates = net_rates(report_))
      text = fmt::format("in {}   out {}", rate(rates->in), rate(rates->out));
    if (report_.slow) {
      for (const NetworkLink& link : report_.slow->links)
        text += fmt::format("{}{} {}", text.empty() ? "" : "   ", link.name, link.state);
    }
    if (row_.clock_offset) text += fmt::format("   clock {:+.2f} s", *row_.clock_offset);
    if (!text.empty()) add("net", text);
  }

  void add_processes() {
    if (!facts_.detail || facts_.detail->host != host_ || facts_.detail->at <= 0) {
      add("", "reading the processes", Style::dim);
      return;
    }
    StyledLine header(look_, columns_);
    lines_.push_back(header.add("    PID USER       S  CPU%  RSS GiB       AGE  NAME", Style::dim).bytes());
    for (const HostProcess& process : facts_.detail->processes) {
      StyledLine line(look_, columns_);
      line.add(fmt::format("{:>7} ", process.pid)).add(output::cut_to_cells(safe(process.user), 10));
      line.pad_to(18);
      line.add(fmt::format(" {} {:>5} {:>8.1f} {:>9}  ", process.state,
                           process.cpu ? fmt::format("{:.0f}", *process.cpu) : "-",
                           static_cast<double>(process.memory) / kGib,
                           long_duration(std::chrono::seconds(std::llround(process.age)))));
      lines_.push_back(line.add(safe(process.name)).bytes());
    }
  }

  const std::size_t host_;
  const HostRow& row_;
  const HostReport& report_;
  const Pod& pod_;
  const ScreenFacts& facts_;
  const std::size_t columns_;
  const Look& look_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> draw_host(const Pod& pod, ScreenState& state, const ScreenFacts& facts,
                                   output::ScreenSize size, const Look& look) {
  HostPage page(pod, state, facts, size.columns, look);
  std::vector<std::string> lines = {page.title()};
  const std::vector<std::string> body = page.body();
  if (size.rows < 2) return lines;
  const std::size_t room = size.rows - 2;
  state.first_line = std::min(state.first_line, body.size() > room ? body.size() - room : 0);
  for (std::size_t i = state.first_line; i < std::min(body.size(), state.first_line + room); ++i)
    lines.push_back(body[i]);
  lines.resize(size.rows - 1);
  StyledLine keys(look, size.columns);
  if (!state.message.empty() && state.message != "K") {
    keys.add(safe(state.message));
  } else if (state.message == "K") {
    keys.add(kill_text(pod, state, facts, size.columns));
  } else {
    keys.add("Esc back  n p next odd host  j k scroll  K how to kill  q quit", Style::dim);
  }
  lines.push_back(keys.bytes());
  return lines;
}

}  // namespace podrun::top
