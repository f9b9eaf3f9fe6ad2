// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/top/frames.hpp"
#include "podrun/top/top_pod.hpp"

// Pods whose hosts say what top.sh would print.
namespace podrun::top {

struct FakeGpu {
  std::string busy = "98";
  std::string watts = "655.00";
  std::uint64_t used = 71'680;  ///< MiB of 81,559
  int celsius = 64;
  int mhz = 1980;
  std::string ecc = "0";
  unsigned slowed_by = 4;
  bool is_lost = false;
};

/// A process with an accelerator.
struct FakeHolder {
  std::uint64_t pid = 41'874;
  std::uint64_t uid = 1000;
  std::string user = "ubuntu";
  std::string name = "python";
  std::string mark = "0e5a3b6d9c1f4e7a.job-0-train.";
  std::vector<std::string> devices = {"/dev/nvidia0"};
};

/// A host, and its counters so far.
struct FakeHost {
  bool answers = true;
  std::vector<FakeGpu> gpus = std::vector<FakeGpu>(8);
  std::size_t nvidia = 8;
  std::size_t pci = 8;
  std::size_t tpus = 0;
  std::optional<std::size_t> pci_tpus = {};  ///< on the bus; none: as many as there are
  std::string gpu_name = "NVIDIA H100 80GB HBM3";
  std::string tpu_id = "0x0062";
  double cpu = 22;    ///< percent
  double ram = 44;    ///< percent
  double net = 41e9;  ///< bytes a second, each way
  double disk = 0.2e9;
  double root = 34;  ///< percent
  double pressure = 0;
  double swap = 0;   ///< GiB
  double ahead = 0;  ///< of the clock
  int oom_kills = 0;
  std::string links = "Lmlx5_0,ACTIVE,400 Neth0,up,25000";
  std::string root_mode = "rw";
  std::vector<FakeHolder> holders = {FakeHolder{}};
  std::string extra = {};  ///< lines before the frame

  double uptime = 100'000;
  double idle = 1e7;
  double sent = 1e12;
  double written = 1e10;

  std::string introduce() const {
    std::string text = fmt::format("s cores=224 user=1000 tpus={} nvidia={}", tpus, nvidia);
    for (std::size_t gpu = 0; gpu < pci; ++gpu) text += " gpu=0x2330";
    for (std::size_t tpu = 0; tpu < pci_tpus.value_or(tpus); ++tpu) text += " tpu=" + tpu_id;
    if (nvidia > 0) text += "\nn " + gpu_name;
    return text + "\nm 0 ext4 /\n";
  }

  std::string list_holders() const {
    std::string text = fmt::format("h {0} begin\nh {0} uid 1000\nh {0} sees_all\n", uptime);
    for (const FakeHolder& each : holders) {
      text += fmt::format("h {} process {} 3456 {} 90 S {}\n", uptime, each.pid, each.uid, each.name);
      text += fmt::format("h {} user {} {}\n", uptime, each.pid, each.user);
      if (!each.mark.empty()) text += fmt::format("h {} mark {} {}\n", uptime, each.pid, each.mark);
      for (const std::string& device : each.devices)
        text += fmt::format("h {} holds {} {}\n", uptime, each.pid, device);
    }
    return text + fmt::format("h {} end\n", uptime);
  }

  std::string ask_gpus() const {
    std::string text;
    for (std::size_t index = 0; index < gpus.size(); ++index) {
      const FakeGpu& gpu = gpus[index];
      if (gpu.is_lost) {
        text += fmt::format("g {} {}, {}\n", uptime, index,
                            fmt::join(std::vector<std::string>(9, "[GPU is lost]"), ", "));
        continue;
      }
      text += fmt::format("g {} {}, {}, {}, 81559, {}, {}, {}, 1980, {}, 0x{:016x}\n", uptime, index,
                          gpu.busy, gpu.used, gpu.watts, gpu.celsius, gpu.mhz, gpu.ecc, gpu.slowed_by);
    }
    return text;
  }

  std::string tell_root() const {
    constexpr double kBlocks = 2e9;
    const auto used = static_cast<std::uint64_t>(kBlocks * root / 100);
    return fmt::format("d {} 0 {} /dev/nvme0n1p1 2100000000 {} {} {:.0f}% /\n", uptime, root_mode, used,
                       static_cast<std::uint64_t>(kBlocks) - used, root);
  }

  std::string frame() const {
    constexpr double kTotal = 2'112'000'000;  // KiB
    const auto count = [](double value) { return static_cast<std::uint64_t>(value); };
    return fmt::format(
        "f u{:.2f} i{:.2f} l51.20 t2210 M{} A{} S8388604 F{} pc0.40 pm{:.2f} pi0.00 n{},{} d0,{} "
        "c{},0,{},{},0,0,0,0 o{} {}\n",
        uptime, idle, count(kTotal), count(kTotal * (1 - ram / 100)), count(8'388'604 - swap * 1024 * 1024),
        pressure, count(sent), count(sent), count(written / 512), count(uptime * 0.8 * cpu),
        count(uptime * 0.2 * cpu), count(uptime * (100 - cpu)), oom_kills, links);
  }

  void pass(double seconds) {
    uptime += seconds;
    idle += seconds * 224 * (1 - cpu / 100);
    sent += seconds * net;
    written += seconds * disk;
  }
};

/// N hosts that all answer every two seconds.
class FakePod {
 public:
  explicit FakePod(std::size_t count, const FakeHost& like = {}, bool is_once = false,
                   const std::string& prefix = "gpu")
      : hosts(count, like), pod(make_hosts(count, prefix), is_once) {
    for (std::size_t host = 0; host < count; ++host) {
      readers_.push_back(std::make_unique<FrameReader>(pod.report(host)));
      is_connected_.push_back(false);
    }
  }

  /// What a host sends besides; returns whether there was a frame.
  bool feed(std::size_t host, const std::string& text) {
    const bool is_frame = readers_[host]->feed(text);
    if (is_frame) pod.add_frame(host, now, wall);
    return is_frame;
  }

  /// Everything that the hosts say after so many seconds, judged.
  void step(double seconds = 2) {
    pass(seconds);
    for (std::size_t host = 0; host < hosts.size(); ++host) answer(host);
    judge();
  }
  void steps(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) step();
  }
  void pass(double seconds) {
    now += std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
    wall += seconds;
    for (FakeHost& host : hosts) host.pass(seconds);
  }
  void answer(std::size_t index) {
    FakeHost& host = hosts[index];
    if (!host.answers) return;
    if (!is_connected_[index]) feed(index, host.introduce());
    is_connected_[index] = true;
    feed(index, host.ask_gpus() + host.tell_root() + (lists_holders ? host.list_holders() : "") +
                    fmt::format("c {} {:.3f}\n", host.uptime, wall + host.ahead) + host.extra + host.frame());
  }
  void judge() { pod.judge(now, std::chrono::seconds(2)); }

  void lose(std::size_t host, std::size_t attempt = 3) {
    hosts[host].answers = false;
    is_connected_[host] = false;
    pod.lose(host,
             {.failure = {.stage = link::Stage::connection,
                          .cause = link::Cause::no_answer,
                          .retry = link::Retry::may_help,
                          .after = std::chrono::seconds(60)},
              .attempt = attempt,
              .retry_at = now + std::chrono::seconds(8)},
             now);
  }
  /// A new connection.
  void reconnect(std::size_t host) {
    hosts[host].answers = true;
    readers_[host] = std::make_unique<FrameReader>(pod.report(host));
  }

  /// The reasons of a host, with "; " between.
  std::string odd(std::size_t host) const {
    std::string text;
    for (const Odd& each : pod.rows()[host].odd) {
      if (!each.until) text += (text.empty() ? "" : "; ") + each.text;
    }
    return text;
  }
  /// Also one whose cause has gone.
  const Odd* find(std::size_t host, const std::string& what) const {
    for (const Odd& each : pod.rows()[host].odd) {
      if (each.what == what) return &each;
    }
    return nullptr;
  }

  std::vector<FakeHost> hosts;
  Pod pod;
  TimePoint now{std::chrono::seconds(50'000)};
  double wall = 1'790'000'000;
  bool lists_holders = true;

 private:
  static std::vector<hosts::Host> make_hosts(std::size_t count, const std::string& prefix) {
    std::vector<hosts::Host> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back({.worker = i, .name = prefix + std::to_string(i)});
    return all;
  }

  std::vector<std::unique_ptr<FrameReader>> readers_;
  std::vector<bool> is_connected_;
};

/// Mock-up A: 256 hosts, seven of them odd, two without a connection.
inline FakePod mock_up_a(bool is_once = false) {
  FakePod pod(256, {}, is_once);
  for (std::size_t host = 0; host < 256; ++host) {
    FakeHost& each = pod.hosts[host];
    each.net = 40e9 + 1e7 * static_cast<double>(host % 97);
    for (std::size_t gpu = 0; gpu < 8; ++gpu) {
      each.gpus[gpu].busy = std::to_string(host % 11 == 3 ? 88 + gpu % 3 : 97 + (host + gpu) % 3);
      each.gpus[gpu].watts = fmt::format("{}.50", 645 + (host * 7 + gpu * 3) % 25);
      each.gpus[gpu].celsius = static_cast<int>(58 + (host + gpu) % 9);
    }
    each.holders.front().devices = {"/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia2", "/dev/nvidia3",
                                    "/dev/nvidia4", "/dev/nvidia5", "/dev/nvidia6", "/dev/nvidia7"};
  }
  pod.hosts[17].gpus[3] = {.watts = "402.00", .celsius = 88, .mhz = 1110, .slowed_by = 0x40};
  pod.hosts[38].root = 99.4;
  pod.hosts[38].holders.push_back(
      {.pid = 991, .uid = 1007, .user = "alice", .mark = "", .devices = {"/dev/nvidia0"}});
  pod.hosts[77].ahead = 2.4;
  pod.hosts[112].holders.clear();
  pod.hosts[112].cpu = 3;
  pod.hosts[112].ram = 18;
  pod.hosts[112].net = 1e8;
  for (FakeGpu& gpu : pod.hosts[112].gpus) gpu = {.busy = "0", .watts = "71.00", .used = 1631, .celsius = 34};
  pod.hosts[200].ram = 97;
  pod.hosts[200].net = 4e8;
  pod.hosts[200].pressure = 34;
  pod.hosts[200].swap = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    pod.step();
    pod.hosts[200].swap += 0.2;
  }
  pod.lose(140);
  pod.lose(141);
  if (is_once) {
    pod.judge();
    return pod;
  }
  for (std::size_t i = 0; i < 7; ++i) pod.step();
  pod.hosts[77].answers = false;
  for (std::size_t i = 0; i < 5; ++i) {
    pod.step();
    pod.hosts[200].swap += 0.2;
  }
  return pod;
}

}  // namespace podrun::top
