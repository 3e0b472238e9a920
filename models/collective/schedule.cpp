#include "models/collective/schedule.hpp"

#include <algorithm>

namespace stepcast {

RoundLoad load_of(const Round& round, int participants) {
  std::vector<double> sent(static_cast<std::size_t>(participants)), received(sent), reduced(sent);
  for (const Message& message : round) {
    const auto from = static_cast<std::size_t>(message.from), to = static_cast<std::size_t>(message.to);
    sent[from] += message.slice.count;
    received[to] += message.slice.count;
    if (message.reduce) reduced[to] += message.slice.count;
  }
  const auto most = [](const std::vector<double>& load) { return *std::max_element(load.begin(), load.end()); };
  return {std::max(most(sent), most(received)), most(reduced)};
}

}  // namespace stepcast
