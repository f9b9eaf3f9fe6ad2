// SPDX-License-Identifier: Apache-2.0
// Names of resources of kubectl and gcloud, where the name of a host is expected.
#include <string_view>

#include <fmt/format.h>

#include "podrun/hosts/foreign_list.hpp"
#include "podrun/hosts/host_name.hpp"

namespace podrun::hosts {

void refuse_resource(std::string_view name, const HostEntry& entry) {
  const std::size_t slash = name.find('/');
  if (slash == name.npos || is_address(name.substr(0, slash)) || name.find("://") != name.npos) return;
  const std::string_view kind = name.substr(0, slash);
  const std::string_view last = name.substr(name.rfind('/') + 1);
  const auto pods_by = [&](std::string_view label) {
    entry.refuse("host", name, fmt::format("its pods: kubectl get pods -l {}={} -o name", label, last));
  };
  if (kind == "projects")
    entry.refuse("host", name,
                 "its addresses: --format json of gcloud's describe, or one column: "
                 "value(networkEndpoints[].ipAddress)");
  if (kind == "node" || kind == "nodes")
    entry.refuse("host", name,
                 "its address: kubectl get nodes -o "
                 "jsonpath='{.items[*].status.addresses[?(@.type==\"InternalIP\")].address}'");
  if (kind == "job" || kind == "job.batch") pods_by("job-name");
  if (kind.starts_with("jobset.")) pods_by("jobset.sigs.k8s.io/jobset-name");
  if (kind.starts_with("leaderworkerset.")) pods_by("leaderworkerset.sigs.k8s.io/name");
  if (kind.find('.') != name.npos)
    entry.refuse("host", name, "its pods: kubectl get pods -l LABEL=VALUE -o name");
}

}  // namespace podrun::hosts
