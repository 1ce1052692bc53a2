// Opens a model of each kind and prints its results for a text. Each line has a name, then values,
// separated by tabs.
//
//   example CLASSIFIER EMBEDDER TRANSLATOR       three model folders

#include <exception>
#include <glassformer/glassformer.hpp>
#include <iomanip>
#include <iostream>
#include <limits>
#include <span>

namespace {

void print(const char* name, std::span<const float> numbers) {
  std::cout << name;
  for (const float number : numbers) std::cout << '\t' << number;
  std::cout << '\n';
}

void print(const char* name, const std::vector<glassformer::InputToken>& tokens) {
  std::cout << name;
  for (const auto& token : tokens) std::cout << '\t' << token.text;
  std::cout << '\n';
}

void classify(const char* folder) {
  auto classifier = glassformer::Classifier::load(folder);
  const auto result =
      classifier.classify("A gripping, beautifully shot film.", {.encoder = {.attention = true}});
  std::cout << "label\t" << result.label << '\n';
  print("scores", result.scores);  // in the order of classifier.labels()
  print("tokens", result.tokens);
  const auto head = result.attention->at(2, 5);  // layer 2, head 5: [tokens, tokens]
  print("first row", head.first(result.attention->keys));

  const auto without =
      classifier.classify("Not good at all.", {.encoder = {.ablate = {{.layer = 2, .head = 5}}}});
  print("ablated", without.scores);
}

void embed(const char* folder) {
  auto embedder = glassformer::Embedder::load(folder);
  const auto first = embedder.embed("The men walk to the market.");
  const auto second = embedder.embed("It was the best of all days.", {.normalize = true});
  print("embedding", first.embedding);
  std::cout << "similarity\t" << glassformer::similarity(first.embedding, second.embedding) << '\n';
}

void translate(const char* folder) {
  auto translator = glassformer::Translator::load(folder);
  const std::string source = "The train arrives at seven. Where is the station?";
  const auto translation = translator.translate(source, {.beams = 4, .attention = true});
  std::cout << "translation\t" << translation.text << '\n';
  for (const auto& sentence : translation.sentences) {
    std::cout << "sentence\t" << sentence.output.score << '\t' << sentence.alignment->size()
              << '\n';
    print("source", sentence.source_tokens);
  }
  const auto whole = translator.stream(source, [](const glassformer::TranslationStep& step) {
    std::cout << "step\t" << step.token.text << '\t' << step.text << '\n';
  });
  std::cout << "greedy\t" << whole.text << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: example CLASSIFIER EMBEDDER TRANSLATOR\n";
    return 2;
  }
  std::cout << std::setprecision(std::numeric_limits<float>::max_digits10);
  try {
    classify(argv[1]);
    embed(argv[2]);
    translate(argv[3]);

    // A folder of any task.
    const glassformer::AnyModel model = glassformer::load(argv[3]);
    std::cout << "translates\t" << std::holds_alternative<glassformer::Translator>(model) << '\n';
    glassformer::Classifier::load(argv[3]);
  } catch (const glassformer::Error& error) {
    std::cout << to_string(error.code()) << '\t' << error.what() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
