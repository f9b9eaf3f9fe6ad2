// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podrun/check/check_report.hpp"

// The parts of compare_hosts(). Pure.
namespace podrun::check {

/// Compares hosts whose facts are complete: kernel, memory, accelerators, limits, versions, commit. An item
/// that no host has is left out.
std::vector<CheckItem> compare_items(const std::vector<CheckedHost>& hosts);

/// Drivers' daemons and monitors open every GPU without using it.
bool is_daemon(const DeviceHolder& holder);

/// `4 TPU v4`, `8 NVIDIA A100-SXM4-40GB`, `no accelerator`.
std::string describe_accelerators(const HostFacts& facts);

/// `512 MiB`, `3.2 GiB`, `391 GiB`.
std::string format_size(std::uint64_t bytes);
/// The first in the unit of the second, and without it: `0.3`.
std::string format_size_like(std::uint64_t bytes, std::uint64_t other);

}  // namespace podrun::check
