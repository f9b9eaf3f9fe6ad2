// SPDX-License-Identifier: Apache-2.0
// HTTP for the metadata server, with libevent's client.
#include <event2/buffer.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/http.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "podrun/hosts/probe.hpp"

namespace podrun::hosts {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kMaxHeaders = 64 * 1024;
constexpr std::size_t kMaxBody = 1024 * 1024;

template <auto function>
struct Free {
  template <typename Type>
  void operator()(Type* object) const {
    function(object);
  }
};
struct FreeNames {
  void operator()(evdns_base* names) const { evdns_base_free(names, 0); }
};
using Base = std::unique_ptr<event_base, Free<event_base_free>>;
using Names = std::unique_ptr<evdns_base, FreeNames>;
using Connection = std::unique_ptr<evhttp_connection, Free<evhttp_connection_free>>;
using Url = std::unique_ptr<evhttp_uri, Free<evhttp_uri_free>>;

timeval duration(milliseconds time) {
  return {static_cast<time_t>(time.count() / 1000), static_cast<suseconds_t>(time.count() % 1000 * 1000)};
}

/// Waits for one answer.
struct Waiting {
  event_base* base;
  HttpAnswer answer = {};
  std::optional<evhttp_request_error> error = std::nullopt;
};

void take_answer(evhttp_request* request, void* argument) {
  auto& waiting = *static_cast<Waiting*>(argument);
  const int error = errno;
  const int status = request ? evhttp_request_get_response_code(request) : 0;
  if (status == 0) {
    waiting.answer.error = waiting.error ? "no HTTP answer" : std::strerror(error);
  } else {
    waiting.answer.status = status;
    evbuffer* const body = evhttp_request_get_input_buffer(request);
    waiting.answer.body.resize(evbuffer_get_length(body));
    evbuffer_copyout(body, waiting.answer.body.data(), waiting.answer.body.size());
    const evkeyvalq* const headers = evhttp_request_get_input_headers(request);
    if (const char* flavor = evhttp_find_header(headers, "Metadata-Flavor")) waiting.answer.flavor = flavor;
  }
  event_base_loopbreak(waiting.base);
}

/// Sends requests one after the other, all to the server of the first.
class Client {
 public:
  Client() : base_(event_base_new()) {}

  /// If the time ran out without an answer, `error` is empty.
  HttpAnswer get(const std::string& url, milliseconds within) {
    const Url parsed(evhttp_uri_parse(url.c_str()));
    const char* const host = parsed ? evhttp_uri_get_host(parsed.get()) : nullptr;
    if (!base_ || !host) return {.error = "bad URL"};
    if (!connection_) connect(host, evhttp_uri_get_port(parsed.get()));
    if (!connection_) return {.error = "out of memory"};
    Waiting waiting{base_.get()};
    evhttp_request* const request = evhttp_request_new(take_answer, &waiting);  // the connection frees it
    evhttp_request_set_error_cb(request, [](evhttp_request_error error, void* argument) {
      static_cast<Waiting*>(argument)->error = error;
    });
    evkeyvalq* const headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Host", host);
    evhttp_add_header(headers, "Metadata-Flavor", "Google");
    const std::string target = target_of(*parsed);
    if (evhttp_make_request(connection_.get(), request, EVHTTP_REQ_GET, target.c_str()) != 0)
      return {.error = std::strerror(errno)};
    const timeval time = duration(within);
    event_base_loopexit(base_.get(), &time);
    event_base_dispatch(base_.get());
    return std::move(waiting.answer);
  }

 private:
  void connect(const char* host, int port) {
    constexpr int kHttpPort = 80;
    names_.reset(evdns_base_new(base_.get(), EVDNS_BASE_INITIALIZE_NAMESERVERS));  // does not block
    connection_.reset(evhttp_connection_base_new(base_.get(), names_.get(), host,
                                                 static_cast<unsigned short>(port < 0 ? kHttpPort : port)));
    if (!connection_) return;
    evhttp_connection_set_max_headers_size(connection_.get(), kMaxHeaders);
    evhttp_connection_set_max_body_size(connection_.get(), kMaxBody);
  }

  static std::string target_of(const evhttp_uri& url) {
    const char* const path = evhttp_uri_get_path(&url);
    const char* const query = evhttp_uri_get_query(&url);
    return fmt::format("{}{}{}", path && *path ? path : "/", query ? "?" : "", query ? query : "");
  }

  Base base_;
  Names names_;
  Connection connection_;
};

}  // namespace

std::vector<HttpAnswer> http_get(const std::vector<std::string>& urls, milliseconds within) {
  const Clock::time_point deadline = Clock::now() + within;
  Client client;
  std::vector<HttpAnswer> answers;
  while (answers.size() < urls.size()) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    HttpAnswer answer = left > milliseconds(0) ? client.get(urls[answers.size()], left) : HttpAnswer{};
    if (answer.status == 0 && answer.error.empty())
      answer.error = fmt::format("no answer within {} ms", within.count());
    answers.resize(answer.status == 0 ? urls.size() : answers.size() + 1, answer);
  }
  return answers;
}

}  // namespace podrun::hosts
