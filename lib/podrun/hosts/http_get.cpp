// SPDX-License-Identifier: Apache-2.0
// HTTP for the metadata server, with libcurl. It is loaded at the first request, because linking it would
// cost every start 2.6 ms.
#include "podrun/hosts/http_get.hpp"

#define CURL_DISABLE_DEPRECATION  // CURLOPT_PROTOCOLS, for a libcurl before 7.85
#include <curl/curl.h>
#include <dlfcn.h>
#include <strings.h>

#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/text.hpp"

namespace podrun::hosts {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* kLibrary = "libcurl.so.4";  // its ABI since 2006
constexpr std::size_t kMaxBody = 1024 * 1024;

/// The functions of libcurl that podrun uses; converts to false if libcurl could not be loaded.
class Curl {
 public:
  Curl() : library_(::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL)) {
    is_loaded_ = library_ && find(easy_init, "curl_easy_init") && find(easy_setopt, "curl_easy_setopt") &&
                 find(easy_perform, "curl_easy_perform") && find(easy_getinfo, "curl_easy_getinfo") &&
                 find(easy_strerror, "curl_easy_strerror") && find(easy_cleanup, "curl_easy_cleanup") &&
                 find(slist_append, "curl_slist_append") && find(slist_free_all, "curl_slist_free_all");
  }
  explicit operator bool() const { return is_loaded_; }

  decltype(&::curl_easy_init) easy_init = nullptr;
  CURLcode (*easy_setopt)(CURL*, CURLoption, ...) = nullptr;
  decltype(&::curl_easy_perform) easy_perform = nullptr;
  CURLcode (*easy_getinfo)(CURL*, CURLINFO, ...) = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;

 private:
  template <typename Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    return function != nullptr;
  }

  void* library_;  ///< never closed: it has threads
  bool is_loaded_ = false;
};

std::size_t append(char* bytes, std::size_t, std::size_t count, void* body) {
  auto& text = *static_cast<std::string*>(body);
  if (count > kMaxBody - text.size()) return 0;  // libcurl treats this as an error
  text.append(bytes, count);
  return count;
}

/// Called with each header line of the answer, line end included.
std::size_t take_header(char* bytes, std::size_t, std::size_t count, void* flavor) {
  constexpr std::string_view kName = "Metadata-Flavor:";
  const std::string_view line(bytes, count);
  if (line.size() >= kName.size() && ::strncasecmp(bytes, kName.data(), kName.size()) == 0)
    *static_cast<std::string*>(flavor) = trim_space(line.substr(kName.size()));
  return count;
}

/// Sends requests one after the other; libcurl keeps the connection.
class Client {
 public:
  explicit Client(const Curl& curl)
      : curl_(curl),
        handle_(curl.easy_init(), curl.easy_cleanup),
        headers_(curl.slist_append(nullptr, "Metadata-Flavor: Google"), curl.slist_free_all) {
    set(CURLOPT_HTTPHEADER, headers_.get());
    set(CURLOPT_PROXY, "");  // ignores http_proxy too
    if (set(CURLOPT_PROTOCOLS_STR, "http") != CURLE_OK)
      set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP));
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_QUICK_EXIT, 1L);  // never waits for a name server
    set(CURLOPT_WRITEFUNCTION, append);
    set(CURLOPT_HEADERFUNCTION, take_header);
  }

  /// If the time ran out without an answer, `error` is empty.
  HttpAnswer get(const std::string& url, milliseconds within) {
    HttpAnswer answer;
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(within.count()));
    set(CURLOPT_WRITEDATA, static_cast<void*>(&answer.body));
    set(CURLOPT_HEADERDATA, static_cast<void*>(&answer.flavor));
    const CURLcode result = curl_.easy_perform(handle_.get());
    if (result == CURLE_OPERATION_TIMEDOUT) return {};
    if (result != CURLE_OK) return {.error = curl_.easy_strerror(result)};
    long status = 0;
    curl_.easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
    answer.status = static_cast<int>(status);
    return answer;
  }

 private:
  template <typename Value>
  CURLcode set(CURLoption option, Value value) {
    return curl_.easy_setopt(handle_.get(), option, value);
  }

  const Curl& curl_;
  std::unique_ptr<CURL, decltype(Curl::easy_cleanup)> handle_;
  std::unique_ptr<curl_slist, decltype(Curl::slist_free_all)> headers_;
};

}  // namespace

std::vector<HttpAnswer> http_get(const std::vector<std::string>& urls, milliseconds within) {
  const Clock::time_point deadline = Clock::now() + within;
  const Curl curl;
  if (!curl) {
    const HttpAnswer none{.error = fmt::format("no {} (it is in Debian's package libcurl4)", kLibrary)};
    return std::vector<HttpAnswer>(urls.size(), none);
  }
  Client client(curl);
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
