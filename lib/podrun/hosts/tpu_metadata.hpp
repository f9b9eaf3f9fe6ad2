// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/probe.hpp"
#include "podrun/hosts/sources.hpp"

namespace podrun {

/// The hosts that the metadata server of Google Cloud names. It is asked only on a Google machine or when
/// GCE_METADATA_HOST or GCE_METADATA_IP names it, and for 1 s in all. Throws UsageError when it answers
/// nonsense.
std::optional<Listing> ask_metadata(const Probe& probe, std::vector<Attempt>& tried);

/// `worker-network-endpoints`: `name:id:address` or just an address or name, with commas between. Throws
/// UsageError.
std::vector<Host> parse_endpoints(std::string_view text, std::string_view where);

/// `tpu-env`: lines `KEY: 'value'`, of which there are two spellings, KEY and TPU_KEY; here it is KEY.
std::map<std::string, std::string> parse_tpu_env(std::string_view text);

/// What to know where MEGASCALE_NUM_SLICES (of the environment or tpu-env) says that this slice is one of
/// several.
std::optional<std::string> multislice_note(std::string_view slices, std::string_view where);

}  // namespace podrun
