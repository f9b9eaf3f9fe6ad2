// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/worker_numbers.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"

namespace podrun {
namespace {

constexpr std::size_t kMaxWorker = 999'999;

[[noreturn]] void bad_workers(std::string_view part) {
  throw UsageError(fmt::format("bad worker number \"{}\" (expected numbers and ranges such as 0,3-7)", part));
}

std::size_t parse_worker(std::string_view digits, std::string_view part) {
  std::size_t worker = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), worker);
  if (error != std::errc{} || rest != digits.data() + digits.size() || worker > kMaxWorker) bad_workers(part);
  return worker;
}

}  // namespace

std::string fold_workers(std::vector<std::size_t> workers) {
  std::sort(workers.begin(), workers.end());
  workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
  std::string text;
  for (std::size_t first = 0; first < workers.size();) {
    std::size_t last = first;
    while (last + 1 < workers.size() && workers[last + 1] == workers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(workers[first]);
    if (last > first) text += fmt::format("{}{}", last == first + 1 ? ',' : '-', workers[last]);
    first = last + 1;
  }
  return text;
}

std::vector<std::size_t> parse_workers(std::string_view text) {
  std::vector<std::size_t> workers;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const std::size_t first = parse_worker(part.substr(0, dash), part);
    const std::size_t last =
        dash == std::string_view::npos ? first : parse_worker(part.substr(dash + 1), part);
    if (last < first || workers.size() + (last - first) > kMaxWorker) bad_workers(part);
    for (std::size_t worker = first; worker <= last; ++worker) workers.push_back(worker);
  }
  return workers;
}

}  // namespace podrun
