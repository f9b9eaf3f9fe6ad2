// SPDX-License-Identifier: Apache-2.0
#include "podrun/devices/watchers.hpp"

#include <algorithm>
#include <array>

namespace podrun::devices {
namespace {

/// The server of MPS has the GPUs open for its clients, which are listed themselves.
constexpr std::array<std::string_view, 41> kWatchers = {"nvidia-persistenced",
                                                        "nv-fabricmanager",
                                                        "nvidia-device-plugin",
                                                        "nvidia-cuda-mps-server",
                                                        "nvidia-cuda-mps-control",
                                                        "nvidia-powerd",
                                                        "nvidia-topologyd",
                                                        "nv-hostengine",
                                                        "dcgm-exporter",
                                                        "dcgmi",
                                                        "nvidia-dcgm",
                                                        "nvidia-smi",
                                                        "nvidia-settings",
                                                        "nvidia_gpu_exporter",
                                                        "nvidia-gpu-exporter",
                                                        "gpu-feature-discovery",
                                                        "nvtop",
                                                        "nvitop",
                                                        "nvitop-exporter",
                                                        "btop",
                                                        "bpytop",
                                                        "btm",
                                                        "gpustat",
                                                        "all-smi",
                                                        "glances",
                                                        "netdata",
                                                        "go.d.plugin",
                                                        "telegraf",
                                                        "collectd",
                                                        "datadog-agent",
                                                        "node_exporter",
                                                        "otelcol",
                                                        "otelcol-contrib",
                                                        "zabbix_agentd",
                                                        "amd-smi",
                                                        "rocm-smi",
                                                        "amdgpu_top",
                                                        "radeontop",
                                                        "amd_smi_exporter",
                                                        "Xorg",
                                                        "Xwayland"};

}  // namespace

bool is_watcher(std::string_view name) {
  constexpr std::size_t kMostOfName = 15;
  return std::ranges::any_of(
      kWatchers, [&](std::string_view watcher) { return watcher.substr(0, kMostOfName) == name; });
}

}  // namespace podrun::devices
