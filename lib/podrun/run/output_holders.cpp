// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/output_holders.hpp"

#include <chrono>
#include <vector>

#include <asio/steady_timer.hpp>

#include "podrun/output/escape.hpp"

namespace podrun {
namespace {

constexpr std::chrono::seconds kPatience{5};

/// Of what a command printed no more can be on its way: in the windows of SSH (2 MiB), pipes and sockets.
constexpr std::uint64_t kMostOnItsWay = 4 << 20;
/// Where this comes from look to look, the network is the slow one, and not who prints.
constexpr std::uint64_t kMuch = 16 << 10;

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + escape_controls(text);
  return all;
}

/// Stops both when a host has had its time to name what holds the output, or somebody is in a hurry.
class Patience {
 public:
  Patience(const asio::any_io_executor& executor, Link& link, Supervised& supervised, const bool& hurried)
      : link_(link), supervised_(supervised), hurried_(hurried), timer_(executor) {
    wait();
  }

 private:
  void wait() {
    timer_.expires_after(kPatience);
    timer_.async_wait([this](const std::error_code& error) {
      if (error) return;
      if (!supervised_.helper_started() && !hurried_) return wait();  // keep-alives tell whether it is lost
      link_.stop({"", "let go"});
      supervised_.stop({"", "let go"});
    });
  }

  Link& link_;
  Supervised& supervised_;
  const bool& hurried_;
  asio::steady_timer timer_;
};

}  // namespace

bool LateOutput::is_of_command(bool something_holds_it) const {
  const std::uint64_t unseen = all_ - seen_;
  return all_ <= kMostOnItsWay && (unseen >= kMuch || (unseen > 0 && !something_holds_it));
}

asio::awaitable<std::optional<std::string>> name_output_holders(asio::any_io_executor executor, Link& link,
                                                                Supervised& supervised, const bool& hurried) {
  const Patience patience(executor, link, supervised, hurried);
  try {
    co_return joined(co_await supervised.output_holders());
  } catch (const HostError&) {
    co_return std::nullopt;
  }
}

}  // namespace podrun
