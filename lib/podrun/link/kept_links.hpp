// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "podrun/base/expect.hpp"
#include "podrun/link/link.hpp"

namespace podrun::link {

/// Keeps connections open between the runs of one process. A link that is stopped or destroyed leaves its
/// connection to the next link to the same host, unless open() or exec() was still waiting for an answer, or
/// the host did not answer in time.
class KeptLinks final : public Connector {
 public:
  /// `connector` must outlive it.
  explicit KeptLinks(Connector& connector) : connector_(connector) {}
  KeptLinks(const KeptLinks&) = delete;
  KeptLinks& operator=(const KeptLinks&) = delete;

  std::unique_ptr<Link> link(const hosts::Host& host) override;

 private:
  class KeptLink;
  struct Idle {
    hosts::Host host;
    std::unique_ptr<Link> link;
  };

  void keep(const hosts::Host& host, std::unique_ptr<Link> link);
  std::unique_ptr<Link> take(const hosts::Host& host);

  const Lender lender_{"KeptLinks outlive their links"};
  Connector& connector_;
  std::vector<Idle> idle_;
};

}  // namespace podrun::link
