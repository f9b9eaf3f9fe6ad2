// SPDX-License-Identifier: Apache-2.0
// Searches the commands, the options and the pages. A part of a page is what stands between two blank lines,
// an item of a list, a row of a table or a line of an example.
#include "cli/help_search.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/report/line_words.hpp"

#include "cli/books.hpp"
#include "cli/help.hpp"

namespace podrun::cli {
namespace {

constexpr std::size_t kMost = 5;
constexpr std::size_t kLines = 2;  ///< of the text, below the line that says where it stands
constexpr std::size_t kIndent = 4;
constexpr std::string_view kCut = " ...";

struct Found {
  int score = 0;
  std::string where;  ///< `podrun help jobs`
  std::string subject;
  std::string text;
};

/// Words that people type for what podrun calls otherwise.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kAlso = {{
    {"stuck", "hang"},
    {"freeze", "hang"},
    {"zombie", "kill"},
    {"nohup", "start"},
    {"screen", "tmux"},
    {"wifi", "laptop"},
    {"disconnect", "laptop"},
    {"preempt", "spot"},
    {"resume", "restart"},
    {"bastion", "jump"},
    {"conda", "venv"},
    {"virtualenv", "venv"},
}};

bool is_of_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); }  // of lower case

/// How well the text answers to one word: a whole word counts more than the beginning of one. Both are in
/// lower case.
int count(std::string_view lower, std::string_view word) {
  constexpr int kWhole = 3;
  constexpr int kBeginning = 2;
  constexpr int kMostOfText = 9;
  int score = 0;
  for (std::size_t at = lower.find(word); at != npos; at = lower.find(word, at + 1)) {
    if (at > 0 && is_of_word(lower[at - 1])) continue;
    const std::size_t end = at + word.size();
    score += end == lower.size() || !is_of_word(lower[end]) ? kWhole : kBeginning;
  }
  return std::min(score, kMostOfText);
}

/// 0: a word is missing, in the text and in what stands above it.
int score_of(const std::vector<std::string>& words, std::string_view text, std::string_view heading) {
  constexpr int kHeading = 3;
  const std::string lower_text = lower_case(text);
  const std::string lower_heading = lower_case(heading);
  int sum = 0;
  for (const std::string& word : words) {
    int best = count(lower_text, word) + kHeading * count(lower_heading, word);
    for (const auto& [typed, meant] : kAlso) {
      if (word == typed) best = std::max(best, count(lower_text, meant) + count(lower_heading, meant));
    }
    if (best == 0) return 0;
    sum += best;
  }
  return sum;
}

/// How much the parts of a page count: most in those that users read, least in those about podrun itself.
int weight_of(std::string_view page) {
  constexpr std::array<std::string_view, 6> kFirst = {"tutorial", "recipes",  "run",
                                                      "jobs",     "restarts", "launchers"};
  constexpr std::array<std::string_view, 4> kLast = {"architecture", "comparison", "json", "security"};
  if (std::ranges::find(kFirst, page) != kFirst.end()) return 3;
  return std::ranges::find(kLast, page) != kLast.end() ? 1 : 2;
}

bool begins_part(std::string_view line) {
  return line.empty() || line.starts_with('|') || line.starts_with("* ") || line.starts_with("    ");
}

class PageSearch {
 public:
  PageSearch(const Book& page, const std::vector<std::string>& words, std::vector<Found>& found)
      : page_(page), words_(words), found_(found), subject_(subject_of(page)) {}

  void make() {
    bool is_fenced = false;
    for (const std::string_view line : split(page_.text, '\n')) {
      if (line.starts_with("```")) is_fenced = !is_fenced;
      if (is_fenced || line.starts_with("```") || line.starts_with("<!--") || line.starts_with("|--"))
        continue;
      if (line.starts_with('#')) {
        end_part();
        heading_ = line.substr(std::min(line.find_first_not_of("# "), line.size()));
        continue;
      }
      if (begins_part(line)) end_part();
      if (!line.empty()) part_ += std::string(part_.empty() ? "" : "\n") + std::string(line);
    }
    end_part();
  }

 private:
  void end_part() {
    const std::string part = std::exchange(part_, {});
    if (part.empty()) return;
    const int score = score_of(words_, part, fmt::format("{} {}", page_.name, heading_));
    if (score == 0) return;
    const std::string command = fmt::format("podrun help {}", page_.name);
    if (best_ && found_[*best_].score >= score * weight_of(page_.name)) return;
    Found found{score * weight_of(page_.name), command, heading_.empty() ? subject_ : heading_, part};
    if (best_) {  // one answer of each page
      found_[*best_] = std::move(found);
    } else {
      best_ = found_.size();
      found_.push_back(std::move(found));
    }
  }

  const Book& page_;
  const std::vector<std::string>& words_;
  std::vector<Found>& found_;
  const std::string subject_;
  std::string heading_;
  std::string part_;
  std::optional<std::size_t> best_;
};

void search_commands(const std::vector<std::string>& words, std::span<const CommandRow> commands,
                     std::vector<Found>& found) {
  constexpr int kWeight = 3;
  for (const CommandRow& row : commands) {
    const int score = score_of(words, row.summary, row.name);
    if (score == 0 || row.runs_users_command) continue;
    found.push_back({kWeight * score, fmt::format("podrun {} --help", row.name), std::string(row.summary),
                     std::string(trim_space(row.examples.substr(0, row.examples.find('\n'))))});
  }
}

void search_options(const std::vector<std::string>& words, std::span<const CommandRow> commands,
                    const OptionTable& table, std::vector<Found>& found) {
  constexpr int kWeight = 2;
  for (const OptionEntry& option : table.entries()) {
    const int score = score_of(words, option.row.help, option.key());
    if (score == 0) continue;
    const auto taker =
        std::ranges::find_if(commands, [&](const CommandRow& row) { return row.takes_option(option); });
    if (taker == commands.end()) continue;
    found.push_back(
        {kWeight * score,
         taker->runs_users_command ? "podrun help all" : fmt::format("podrun {} --help", taker->name),
         option.shown, help_of(option)});
  }
}

/// The first lines of the part.
std::string shown_text(const Found& found, std::size_t width) {
  const std::string whole =
      page_text(Book{.name = {}, .file = "part.md", .text = found.text}, width - kIndent - kCut.size());
  std::string text;
  std::size_t lines = 0;
  for (const std::string_view line : split(trim_space(whole), '\n')) {
    if (lines++ == kLines) {
      text.insert(text.size() - 1, kCut);
      break;
    }
    text += std::string(kIndent, ' ') + std::string(line) + '\n';
  }
  return text;
}

}  // namespace

std::string search_page(const std::vector<std::string>& words, std::span<const CommandRow> commands,
                        const OptionTable& table, std::size_t width) {
  std::vector<std::string> wanted;
  for (const std::string& word : words)
    wanted.push_back(lower_case(word.substr(word.starts_with("--") ? 2 : 0)));
  std::erase(wanted, "");
  if (wanted.empty()) return {};
  std::vector<Found> found;
  search_commands(wanted, commands, found);
  search_options(wanted, commands, table, found);
  for (const Book& page : pages()) {
    if (page.file.ends_with(".md")) PageSearch(page, wanted, found).make();
  }
  std::ranges::stable_sort(found, std::greater{}, &Found::score);
  if (found.size() > kMost) found.resize(kMost);
  std::string text;
  for (const Found& each : found) {
    std::string subject = each.subject;
    std::erase(subject, '`');
    text += report::cut(fmt::format("{}: {}", each.where, subject), width) + '\n' + shown_text(each, width);
  }
  return text;
}

}  // namespace podrun::cli
