// SPDX-License-Identifier: Apache-2.0
// Makes one line of equal lines whose measures differ: speeds, durations, memory; with --dedup=numbers,
// numbers.
#include "podrun/output/dedup/merged_line.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "podrun/base/lower_median.hpp"

namespace podrun::output {
namespace {

/// A number as printed. Not a number (`?` of a progress bar) is equal to every number.
struct Number {
  double value = std::numeric_limits<double>::quiet_NaN();
  double unit = 0;  ///< what its last digit counts
};

/// `1,024`, `-0.5`, `2.3e-05`, `1:02:03` (in seconds)
Number read_number(std::string_view text) {
  std::string digits(text);
  std::erase(digits, ',');
  std::erase(digits, ' ');
  Number number;
  double before = 0;
  const char* begin = digits.data();
  const char* const end = digits.data() + digits.size();
  while (begin != end && *begin == '+') ++begin;
  for (;;) {
    double value = 0;
    const auto [rest, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || (rest != end && *rest != ':')) return {};
    before = before * 60 + value;
    const std::string_view read(begin, static_cast<std::size_t>(rest - begin));
    const std::size_t exponent = std::min(read.find_first_of("eE"), read.size());
    const std::size_t point = std::min(read.find('.'), exponent);
    const double decimals = point == exponent ? 0 : static_cast<double>(exponent - point - 1);
    double power = 0;
    if (exponent < read.size()) power = std::strtod(std::string(read.substr(exponent + 1)).c_str(), nullptr);
    number = {before, std::pow(10.0, power - decimals)};
    if (rest == end) return number;
    begin = rest + 1;
  }
}

/// Values that differ by less of the last digit are not far from each other.
constexpr double kUnits = 5;

/// The hosts' values of one measure.
class Column {
 public:
  Column(const std::vector<MeasuredLine>& lines, std::size_t measure)
      : counts_(lines.front().measures[measure].counts) {
    for (const MeasuredLine& line : lines) {
      const Measure& span = line.measures[measure];
      texts_.push_back(std::string_view(line.text).substr(span.begin, span.end - span.begin));
      numbers_.push_back(read_number(texts_.back()));
    }
  }

  bool differs() const {
    return std::ranges::any_of(texts_, [&](std::string_view text) { return text != texts_.front(); });
  }

  /// Marks as far the lines whose value is at least half as large again as that in the middle, or as much
  /// smaller, and is farther from it than most: four times as far as half of the lines are. Marks as others
  /// those that find_others() finds.
  void find_far(std::vector<bool>& far, std::vector<bool>& others) const {
    if (counts_) find_others(others);
    std::vector<double> values;
    for (const Number& number : numbers_) {
      if (std::isfinite(number.value)) values.push_back(number.value);
    }
    if (values.size() < 3) return;
    const double usual = lower_median(values);
    for (double& value : values) value = std::abs(value - usual);
    const double spread = lower_median(std::move(values));
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      const auto [value, unit] = numbers_[i];
      const double distance = std::abs(value - usual);
      if (distance >= 0.5 * std::min(std::abs(usual), std::abs(value)) && distance > 4 * spread &&
          distance > kUnits * unit)
        far[i] = true;
    }
  }

  /// `1.18..1.22`, or the only value.
  std::string range(const std::vector<bool>& left_out) const {
    std::size_t least = texts_.size();
    std::size_t most = texts_.size();
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (left_out[i] || std::isnan(numbers_[i].value)) continue;
      if (least == texts_.size() || numbers_[i].value < numbers_[least].value) least = i;
      if (most == texts_.size() || numbers_[i].value > numbers_[most].value) most = i;
    }
    if (least == texts_.size()) return std::string(texts_.front());
    std::string text(texts_[least]);
    if (numbers_[least].value == numbers_[most].value) return text;
    return text.append("..").append(texts_[most]);
  }

 private:
  /// Marks the lines whose whole number, or version, is not the one that most have.
  void find_others(std::vector<bool>& others) const {
    std::vector<std::string_view> texts = texts_;
    const auto usual = texts.begin() + static_cast<std::ptrdiff_t>(texts.size() / 2);
    std::ranges::nth_element(texts, usual);
    if (2 * std::ranges::count(texts_, *usual) <= std::ssize(texts_)) return;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      const bool is_whole = std::isnan(numbers_[i].value) || numbers_[i].unit == 1;
      if (is_whole && texts_[i] != *usual) others[i] = true;
    }
  }

  const bool counts_;
  std::vector<std::string_view> texts_;
  std::vector<Number> numbers_;
};

/// The lines that are shown apart.
struct Apart {
  std::vector<bool> far;     ///< a value is far from those of most lines, or the line is one of `others`
  std::vector<bool> others;  ///< has other whole numbers than most
};

Apart find_apart(const std::vector<MeasuredLine>& lines, const std::vector<Column>& columns) {
  std::vector<bool> far(lines.size());
  std::vector<bool> others(lines.size());
  for (const Column& column : columns) {
    if (column.differs()) column.find_far(far, others);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) others[i] = others[i] && !lines[i].has_other_counts;
  // Where many are far off, the values just vary.
  const auto many = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, lines.size() / 4));
  if (std::ranges::count(far, true) > many) far.assign(lines.size(), false);
  if (std::ranges::count(others, true) > many) others.assign(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    others[i] = others[i] && !far[i];
    far[i] = far[i] || others[i];
  }
  return {std::move(far), std::move(others)};
}

/// Lines with equally many measures, at least one.
std::vector<MergedLine> merge_alike(const std::vector<MeasuredLine>& lines) {
  std::vector<Column> columns;
  for (std::size_t measure = 0; measure < lines.front().measures.size(); ++measure)
    columns.emplace_back(lines, measure);
  const auto [far, others] = find_apart(lines, columns);
  std::vector<MergedLine> merged(1);
  const MeasuredLine& first = lines[static_cast<std::size_t>(std::ranges::find(far, false) - far.begin())];
  std::size_t at = 0;
  for (std::size_t measure = 0; measure < columns.size(); ++measure) {
    merged[0].text.append(first.text, at, first.measures[measure].begin - at);
    merged[0].text += columns[measure].range(far);
    at = first.measures[measure].end;
  }
  merged[0].text.append(first.text, at);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!far[i]) {
      merged[0].hosts.push_back(lines[i].host);
    } else if (merged.size() > 1 && merged.back().text == lines[i].printed) {
      merged.back().hosts.push_back(lines[i].host);
    } else {
      merged.push_back({{lines[i].host}, std::string(lines[i].printed), others[i]});
    }
  }
  for (MergedLine& line : merged) {
    std::ranges::sort(line.hosts);
    line.hosts.erase(std::ranges::unique(line.hosts).begin(), line.hosts.end());
  }
  return merged;
}

}  // namespace

std::vector<MergedLine> merge_lines(std::vector<MeasuredLine> lines) {
  const std::size_t measures = lines.front().measures.size();
  const auto unlike = std::stable_partition(lines.begin(), lines.end(), [measures](const MeasuredLine& line) {
    return line.measures.size() == measures;
  });
  std::vector<MergedLine> others;
  for (auto line = unlike; line != lines.end(); ++line)
    others.push_back({{line->host}, std::string(line->printed)});
  lines.erase(unlike, lines.end());
  std::vector<MergedLine> merged = merge_alike(lines);
  merged.insert(merged.end(), others.begin(), others.end());
  return merged;
}

}  // namespace podrun::output
