// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podrun/output/cell_width.hpp"
#include "podrun/top/screen.hpp"

#include "unit/top/pods.hpp"

namespace podrun::top {

inline ScreenFacts facts_of(const FakePod& pod) {
  return {.now = pod.now, .clock = "14:02:31", .same_hosts = {.options = "-H 'gpu[0-255]' "}};
}

/// A line without colours.
inline std::string without_styles(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const std::size_t begin = std::min(line.find("\x1b["), line.size());
    text += line.substr(0, begin);
    line.remove_prefix(begin);
    if (!line.empty()) line.remove_prefix(line.find('m') + 1);
  }
  return text;
}
inline std::vector<std::string> without_styles(std::vector<std::string> lines) {
  for (std::string& line : lines) line = without_styles(line);
  return lines;
}

inline std::vector<std::string> screen(const FakePod& pod, ScreenState& state, output::ScreenSize size,
                                       output::Charset charset = output::Charset::utf8) {
  return without_styles(draw(pod.pod, state, facts_of(pod), size, {.charset = charset}));
}

/// Mock-up C and D: 2,304 hosts with four TPU chips each.
inline FakePod mock_up_c() {
  FakePod pod(2304, {.gpus = {}, .nvidia = 0, .pci = 0, .tpus = 4, .links = "Neth0,up,100000"}, false,
              "t1v-n-4f2a-w-");
  for (std::size_t host = 0; host < pod.hosts.size(); ++host) {
    FakeHost& each = pod.hosts[host];
    each.cpu = 14 + static_cast<double>(host % 3);
    each.net = 11.4e9 + 1e6 * static_cast<double>(host % 97);
    each.holders.front() = {.mark = "0e5a3b6d9c1f4e7a.job-0-pretrain-7.",
                            .devices = {"/dev/accel0", "/dev/accel1", "/dev/accel2", "/dev/accel3"}};
  }
  pod.hosts[112].holders.clear();
  pod.hosts[112].cpu = 1;
  pod.hosts[112].net = 0;
  pod.hosts[640].cpu = pod.hosts[641].cpu = 98;
  pod.hosts[640].net = pod.hosts[641].net = 4e8;
  pod.hosts[17].extra = "m 1 tmpfs /tmp\n";
  pod.hosts[38].holders.push_back({.pid = 991,
                                   .uid = 1007,
                                   .user = "alice",
                                   .name = "jax_debug",
                                   .mark = "",
                                   .devices = {"/dev/accel0"}});
  pod.hosts[1200].pressure = 34;
  pod.hosts[1200].ram = 97;
  pod.hosts[1733].tpus = 3;
  pod.hosts[2100].ahead = 3.1;
  pod.steps(4);
  pod.hosts[17].extra = fmt::format("d {} 1 rw tmpfs 1000000 1000000 0 100% /tmp\n", pod.hosts[17].uptime);
  pod.lose(1140);
  pod.lose(1141);
  pod.steps(8);
  for (std::size_t host : {77UL, 78UL, 79UL}) pod.hosts[host].answers = false;
  pod.steps(5);
  return pod;
}

/// Mock-up E: 8 hosts, one without a process.
inline FakePod mock_up_e() {
  FakePod pod(8, {.gpus = std::vector<FakeGpu>(4), .nvidia = 4, .pci = 4}, false, "node-");
  for (std::size_t host = 0; host < 8; ++host) pod.hosts[host].cpu = 11 + static_cast<double>(host);
  pod.steps(40);
  pod.hosts[5].holders.clear();
  pod.hosts[5].oom_kills = 1;
  pod.hosts[5].cpu = 2;
  pod.hosts[5].ram = 6;
  pod.hosts[5].net = 0;
  for (FakeGpu& gpu : pod.hosts[5].gpus) gpu = {.busy = "0", .watts = "71.00", .used = 4, .celsius = 34};
  pod.steps(12);
  return pod;
}

}  // namespace podrun::top
