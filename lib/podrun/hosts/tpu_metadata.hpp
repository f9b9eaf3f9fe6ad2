// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/probe.hpp"
#include "podrun/hosts/sources.hpp"

namespace podrun::hosts {

/// Whether this machine is in Google's cloud, according to its firmware.
bool is_google_machine(const Probe& probe);

/// Asks the metadata server of Google Cloud for the hosts, for 1 s in all: on a Google machine, or when
/// GCE_METADATA_HOST or GCE_METADATA_IP names the server. Throws UsageError if its answer is wrong.
std::optional<HostListing> ask_metadata(const Probe& probe, std::vector<TriedSource>& tried);

/// Reads `worker-network-endpoints`: `name:id:address`, or just an address or name, separated by commas.
/// Throws UsageError.
std::vector<Host> parse_endpoints(std::string_view text, std::string_view where);

/// Reads `tpu-env`: lines `KEY: 'value'` or `TPU_KEY: 'value'`; the result has KEY for both.
std::map<std::string, std::string> parse_tpu_env(std::string_view text);

/// A note for the user if MEGASCALE_NUM_SLICES (of the environment or tpu-env) says that this slice is one of
/// several.
std::optional<std::string> multislice_note(std::string_view slices, std::string_view where);

}  // namespace podrun::hosts
