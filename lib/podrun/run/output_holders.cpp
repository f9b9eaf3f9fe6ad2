// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/output_holders.hpp"

#include <chrono>
#include <vector>

#include <asio/steady_timer.hpp>

#include "podrun/output/escape.hpp"

namespace podrun {
namespace {

constexpr std::chrono::seconds kPatience{5};

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + escape_controls(text);
  return all;
}

}  // namespace

asio::awaitable<std::string> name_output_holders(asio::any_io_executor executor, Link& link,
                                                 Supervised& supervised) {
  asio::steady_timer patience(executor, kPatience);
  patience.async_wait([&link, &supervised](const std::error_code& error) {
    if (error) return;
    link.stop({"", "let go"});
    supervised.stop({"", "let go"});
  });
  std::string names;
  try {
    names = joined(co_await supervised.output_holders());
  } catch (const HostError&) {
    // then without names
  }
  co_return names.empty() ? "something" : "pid " + names;
}

}  // namespace podrun
