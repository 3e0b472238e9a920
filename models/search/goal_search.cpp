#include "models/search/goal_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stepcast {
namespace {

constexpr std::size_t kLevel = 0, kScore = 1;  // the crossover's alternatives

/// A level slightly below `score`, so that equal scores exceed it.
double just_below(double score) {
  return std::isfinite(score) ? score * (1 - 2 * kSameScore) : std::numeric_limits<double>::max();
}

}  // namespace

GoalSearch::GoalSearch(const AxisRange& range, std::vector<double> grid, std::optional<double> wanted, double near)
    : range_(range), grid_(std::move(grid)), wanted_(wanted), near_(near) {}

std::vector<double> GoalSearch::requests() const {
  if (stage_ == Stage::grid) return grid_;
  std::vector<double> values;
  if (!search_) return values;
  for (const auto& [alternative, value] : search_->requests())
    if (alternative == kScore) values.push_back(value);
  return values;
}

void GoalSearch::answer(const std::vector<double>& values, const std::vector<double>& scores) {
  for (std::size_t i = 0; i < values.size(); ++i) known_[values[i]] = scores[i];
  proceed();
}

/// A search against the level, starting from all known scores.
void GoalSearch::begin(Stage stage, double level) {
  std::vector<double> values;
  for (const auto& [value, score] : known_) values.push_back(value);
  stage_ = stage;
  level_ = level;
  search_.emplace(range_, std::move(values), 2, kLevel);
}

/// The level is half of the least score. Scores hardly cross it, so only the largest score is searched for.
void GoalSearch::begin_best() {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [value, score] : known_)
    if (score > 0) least = std::min(least, score);
  begin(Stage::best, std::isfinite(least) ? least / 2 : 1.0);
}

/// Gives the stage's search all known scores. Returns whether it needs no others.
bool GoalSearch::finish_search() {
  for (auto requests = search_->requests(); !requests.empty(); requests = search_->requests()) {
    std::vector<double> scores;
    for (const auto& [alternative, value] : requests) {
      const auto known = known_.find(value);
      if (alternative == kScore && known == known_.end()) return false;
      scores.push_back(alternative == kLevel ? level_ : known->second);
    }
    search_->answer(requests, scores);
  }
  return true;
}

/// Continues until a score is needed.
void GoalSearch::proceed() {
  if (stage_ == Stage::grid) begin_best();
  while (search_ && finish_search()) {
    const double most = best().score;
    if (stage_ != Stage::best && compare_scores(most, best_before_) > 0) {
      begin_best();  // this stage has found a larger score
    } else if (stage_ == Stage::best) {
      best_before_ = most;
      begin(Stage::near_best, just_below(most * (1 - near_)));
    } else if (stage_ == Stage::near_best) {
      near_best_ = above_level();
      if (wanted_) begin(Stage::reached, just_below(*wanted_));
      else search_.reset();
    } else {
      reached_ = above_level();
      search_.reset();
    }
  }
}

std::vector<FieldInterval> GoalSearch::above_level() const {
  std::vector<FieldInterval> all;
  for (const FieldInterval& one : search_->pays(kScore))
    all.push_back({one.from, one.to, one.at_from * level_, one.at_to * level_});
  return all;
}

GoalSearch::Best GoalSearch::best() const {
  Best best;
  for (const auto& [value, score] : known_)
    if (compare_scores(score, best.score) > 0) best = {value, score};
  return best;
}

}  // namespace stepcast
