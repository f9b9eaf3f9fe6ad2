// SPDX-License-Identifier: Apache-2.0
#include "podrun/restarts/try_offsets.hpp"

#include <fcntl.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/file_system.hpp"

namespace podrun::restarts {

std::string describe_offsets(const std::string& outdir, const report::TryNumber& number,
                             const std::string& run_id, output::WallTime now) {
  namespace fs = std::filesystem;
  if (outdir.empty()) return {};
  nlohmann::json offsets = nlohmann::json::object();  // by name
  std::error_code error;
  for (fs::directory_iterator each(outdir, error), last; !error && each != last; each.increment(error)) {
    const std::string name = each->path().filename();
    std::error_code unreadable;
    const auto size = fs::file_size(each->path(), unreadable);
    if ((name.ends_with(".out") || name.ends_with(".err")) && !unreadable) offsets[name] = size;
  }
  const nlohmann::ordered_json line{{"restart", number.restart},
                                    {"job_id", number.job_id},
                                    {"run_id", run_id},
                                    {"time", output::format_utc(now)},
                                    {"offsets", std::move(offsets)}};
  return line.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

void append_offsets(const std::string& outdir, const std::string& line) {
  if (line.empty()) return;
  const std::string path = outdir + "/tries.jsonl";
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file.is_open()) write_whole(file.get(), line);
}

}  // namespace podrun::restarts
