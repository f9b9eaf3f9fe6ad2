// SPDX-License-Identifier: Apache-2.0
// The few messages of the metrics service, and how long podrun waits for it.
#include "podrun/top/tpu_metrics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include "podrun/top/scripts.hpp"
#include "podrun/top/top_failures.hpp"

namespace podrun::top {
namespace {

constexpr std::string_view kMethod = "/tpu.monitoring.runtime.RuntimeMetricService/GetRuntimeMetric";
constexpr std::array<std::string_view, 3> kMetrics = {"tpu.runtime.hbm.memory.usage.bytes",
                                                      "tpu.runtime.hbm.memory.total.bytes",
                                                      "tpu.runtime.tensorcore.dutycycle.percent"};
constexpr std::chrono::milliseconds kPatience{1'500};
constexpr std::chrono::seconds kLeaveAlone{30};
constexpr std::size_t kMostDevices = 256;
constexpr double kMostValue = 1e18;  ///< bytes: more is no memory, and no number of 64 bits

/// The fields of a message, one after the other. protobuf.dev/programming-guides/encoding
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  /// False at the end, or where the bytes are broken.
  bool next() {
    const std::optional<std::uint64_t> tag = varint();
    if (!tag) return false;
    number_ = *tag >> 3U;
    value_ = 0;
    bytes_ = {};
    switch (*tag & 7U) {
      case 0:
        return take(varint());
      case 1:
        return take(fixed(8));
      case 2:
        return take_bytes();
      case 5:
        return take(fixed(4));
      default:
        return false;
    }
  }
  std::uint64_t number() const { return number_; }
  std::uint64_t value() const { return value_; }
  std::string_view bytes() const { return bytes_; }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    return std::nullopt;
  }
  std::optional<std::uint64_t> fixed(std::size_t size) {
    if (rest_.size() < size) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = size; i > 0; --i) value = value << 8U | static_cast<unsigned char>(rest_[i - 1]);
    rest_.remove_prefix(size);
    return value;
  }
  bool take(std::optional<std::uint64_t> value) {
    value_ = value.value_or(0);
    return value.has_value();
  }
  bool take_bytes() {
    const std::optional<std::uint64_t> size = varint();
    if (!size || *size > rest_.size()) return false;
    bytes_ = rest_.substr(0, static_cast<std::size_t>(*size));
    rest_.remove_prefix(bytes_.size());
    return true;
  }

  std::string_view rest_;
  std::uint64_t number_ = 0;
  std::uint64_t value_ = 0;
  std::string_view bytes_;
};

/// The field with this number; empty: there is none.
std::string_view message_in(std::string_view message, std::uint64_t number) {
  Fields fields(message);
  while (fields.next()) {
    if (fields.number() == number) return fields.bytes();
  }
  return {};
}

/// Attribute: key = 1, AttrValue value = 2, whose int_attr = 3.
std::int64_t device_of(std::string_view attribute) {
  Fields value(message_in(attribute, 2));
  while (value.next()) {
    if (value.number() == 3) return static_cast<std::int64_t>(value.value());
  }
  return 0;
}

/// Gauge: as_double = 1, as_int = 2.
std::optional<double> gauge_of(std::string_view gauge) {
  Fields fields(gauge);
  while (fields.next()) {
    const double value = fields.number() == 1
                             ? std::bit_cast<double>(fields.value())
                             : static_cast<double>(static_cast<std::int64_t>(fields.value()));
    if (fields.number() <= 2 && std::isfinite(value) && value >= 0 && value < kMostValue) return value;
  }
  return std::nullopt;
}

/// The values in the order of their devices.
void append(std::vector<double>& all, const std::map<std::int64_t, double>& values) {
  for (const auto& [device, value] : values) all.push_back(value);
}

/// The value of a chip where each has one or several (cores) of them.
std::optional<double> of_chip(const std::vector<double>& values, std::size_t chips, std::size_t chip) {
  if (chips == 0 || values.empty() || values.size() % chips != 0) return std::nullopt;
  const std::size_t cores = values.size() / chips;
  double sum = 0;
  for (std::size_t core = 0; core < cores; ++core) sum += values[chip * cores + core];
  if (sum > kMostValue) return std::nullopt;
  return sum;
}

}  // namespace

std::string encode_metric_request(std::string_view metric) {
  std::string bytes = "\x0a";
  bytes += static_cast<char>(metric.size());
  bytes += metric;
  return bytes;
}

/// MetricResponse: TPUMetric metric = 1, whose metrics = 3 each have attribute = 1 and gauge = 3.
std::map<std::int64_t, double> decode_metric_response(std::string_view bytes) {
  std::map<std::int64_t, double> values;
  Fields metrics(message_in(bytes, 1));
  while (metrics.next() && values.size() < kMostDevices) {
    if (metrics.number() != 3) continue;
    if (const auto value = gauge_of(message_in(metrics.bytes(), 3)))
      values[device_of(message_in(metrics.bytes(), 1))] = *value;
  }
  return values;
}

std::vector<Chip> chips_of_replies(const std::vector<TpuReply>& replies, std::size_t chips) {
  std::vector<double> used;
  std::vector<double> total;
  std::vector<double> busy;
  for (const TpuReply& reply : replies) {
    append(used, reply.memory_used);
    append(total, reply.memory_total);
    append(busy, reply.busy);
  }
  // A process that uses only some of the chips tells of these.
  const std::size_t told = busy.empty() ? std::min(chips, total.size()) : busy.size();
  std::vector<Chip> all;
  for (std::size_t i = 0; i < std::min(told, kMostDevices); ++i) {
    Chip chip{.index = i};
    constexpr double kMostPercent = 100;
    if (i < busy.size()) chip.busy = std::min(busy[i], kMostPercent);
    if (const auto value = of_chip(used, told, i)) chip.memory_used = static_cast<std::uint64_t>(*value);
    if (const auto value = of_chip(total, told, i)) chip.memory_total = static_cast<std::uint64_t>(*value);
    all.push_back(chip);
  }
  return all;
}

void TpuMetrics::ask(supervisor::Supervised& supervised, HostReport& report, std::function<void()> done) {
  if (is_stopped_ || std::exchange(is_asking_, true)) return;
  asio::co_spawn(executor_, ask_all(shared_from_this(), supervised, report, std::move(done)),
                 [](const std::exception_ptr& error) {
                   if (error) std::rethrow_exception(error);
                 });
}

asio::awaitable<void> TpuMetrics::wait(std::chrono::milliseconds longest) {
  if (!is_asking_) co_return;
  answered_.expires_after(longest);
  std::error_code cancelled;
  co_await answered_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

/// `self` keeps this alive.
asio::awaitable<void> TpuMetrics::ask_all(std::shared_ptr<TpuMetrics> /*self*/,
                                          supervisor::Supervised& supervised, HostReport& report,
                                          std::function<void()> done) {
  std::vector<TpuReply> replies;
  const std::vector<std::uint16_t> numbers = report.metric_ports;
  std::erase_if(ports_,
                [&](const auto& port) { return std::ranges::find(numbers, port.first) == numbers.end(); });
  const Clock::time_point begun = Clock::now();
  for (const std::uint16_t number : numbers) {
    if (is_stopped_ || Clock::now() - begun > kPatience) break;  // the others hang too
    std::optional<TpuReply> reply = co_await ask_port(supervised, number);
    if (reply) replies.push_back(std::move(*reply));
  }
  is_asking_ = false;
  answered_.cancel();
  if (is_stopped_) co_return;
  std::vector<Chip> chips = chips_of_replies(replies, report.tpus);
  if (chips.empty() || !report.now) co_return;
  report.chips = std::move(chips);
  report.chips_at = report.now->at;
  done();
}

asio::awaitable<std::optional<TpuReply>> TpuMetrics::ask_port(supervisor::Supervised& supervised,
                                                              std::uint16_t number) {
  Port& port = ports_[number];
  if (is_stopped_ || Clock::now() < port.next) co_return std::nullopt;
  asio::steady_timer limit(executor_);
  std::vector<std::optional<std::string>> replies;
  try {
    if (!port.connection) co_await connect(supervised, number, port);
    limit.expires_after(kPatience);
    // The handler may be on its way when the reply is here.
    limit.async_wait([late = std::weak_ptr(port.connection)](const std::error_code& error) {
      if (const auto connection = late.lock(); connection && !error) connection->stop();
    });
    std::vector<std::string> requests;
    for (const std::string_view metric : kMetrics) requests.push_back(encode_metric_request(metric));
    std::string method(kMethod);
    replies = co_await port.connection->call(std::move(method), std::move(requests));
  } catch (const link::HostError&) {
    port.connection.reset();
    port.next = Clock::now() + kLeaveAlone;
    co_return std::nullopt;
  }
  limit.cancel();
  TpuReply reply;
  if (replies[0]) reply.memory_used = decode_metric_response(*replies[0]);
  if (replies[1]) reply.memory_total = decode_metric_response(*replies[1]);
  if (replies[2]) reply.busy = decode_metric_response(*replies[2]);
  co_return reply;
}

asio::awaitable<void> TpuMetrics::connect(supervisor::Supervised& supervised, std::uint16_t number,
                                          Port& port) {
  std::shared_ptr<link::Stream> stream;
  try {
    stream = co_await supervised.forward(number);
  } catch (const link::HostError&) {
    stream = nullptr;  // the server forwards nothing, or the transport is not SSH
  }
  if (is_stopped_) throw link::HostError({kSampling, link::Cause::abandoned});
  if (!stream) {
    static const Chunk script{std::string(kForwardScript)};
    std::vector<std::string> words = ForwardWords{.port = std::to_string(number)}.list();
    supervisor::StartedProgram program = co_await supervised.start_program(script, std::move(words));
    stream = std::move(program.stream);
  }
  port.connection = std::make_shared<GrpcConnection>(std::move(stream));
}

void TpuMetrics::stop() {
  is_stopped_ = true;
  answered_.cancel();
  for (auto& [number, port] : ports_) {
    if (port.connection) port.connection->stop();
  }
}

}  // namespace podrun::top
