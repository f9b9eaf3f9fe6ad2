// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/base/secret.hpp"

namespace podrun::transfer {

/// A new private key (P-256) and a certificate that it has signed itself, in PEM. It is valid at any time,
/// since clocks of hosts may be wrong. Throws std::runtime_error. RFC 5280, RFC 7468
Secret make_one_time_key();

}  // namespace podrun::transfer
