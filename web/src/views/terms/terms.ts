/**
 * The field's words from A to Z, each with a place on this page where it can be seen. The words that
 * lessons explain have their definitions in ui/text/glossary.ts.
 */
import type { Findable, Place } from '../../ui/findable.ts';
import { glossary, type TermName } from '../../ui/text/glossary.ts';

export interface Entry {
  term: string;
  says: string;
  live: Place;
}

const at = (hash: string) => (text: string) => ({ text, hash });
const lesson = (name: string) => at(`view=course&lesson=${name}`);
const tokens = lesson('tokens');
const embeddings = lesson('embeddings');
const positions = lesson('positions');
const attention = lesson('attention');
const softmax = lesson('softmax');
const residuals = lesson('residuals');
const feedForward = lesson('feed-forward');
const decoder = lesson('decoder');
const translation = lesson('translation');
const training = lesson('training');
const families = lesson('families');
const explanation = lesson('explanation');
const teach = at('view=teach&lesson=spam');
const study = at('view=study');

/** Where each word of the glossary can be seen. */
const places: Record<TermName, Place> = {
  token: tokens('Lesson 1 cuts your sentence into its tokens.'),
  vocabulary: tokens('Lesson 1 shows where your tokens stand in it.'),
  tokenizer: tokens('Lesson 1 runs it on your sentence.'),
  embedding: embeddings('Lesson 2 shows those of your tokens.'),
  'embedding table': embeddings('Lesson 2 looks up the rows of your tokens.'),
  d_model: embeddings('Lesson 2 counts the numbers of a vector.'),
  cosine: embeddings('Lesson 2 finds the nearest words by it.'),
  'positional encoding': positions('Lesson 3 draws its waves.'),
  'attention head': lesson('heads')('Lesson 6 shows eight of them side by side.'),
  'self-attention': attention('Lesson 4 computes one head of it.'),
  'cross-attention': translation('Lesson 11 shows which source tokens it reads.'),
  query: attention('Lesson 4 multiplies one with all keys.'),
  key: attention('Lesson 4 multiplies them with a query.'),
  value: attention('Lesson 4 sums them by their weights.'),
  score: softmax('Lesson 5 scales scores and takes the softmax.'),
  'attention weight': attention('Lesson 4 computes a row of them.'),
  softmax: softmax('Lesson 5 turns your scores into weights.'),
  logit: at('view=inside')('Inside ends with the logits of both answers.'),
  entropy: softmax('Lesson 5 shows it as the divisor changes.'),
  saturation: softmax('Lesson 5 saturates it: divide by 1.'),
  'residual connection': residuals('Lesson 7 cuts one.'),
  'residual stream': residuals('Lesson 7 follows a token through all layers.'),
  'layer normalization': residuals('Lesson 7 normalizes a vector.'),
  'sub-layer': residuals('Lesson 7 follows a token through them.'),
  'feed-forward network': feedForward('Lesson 8 shows which hidden units fire.'),
  'hidden unit': feedForward('Lesson 8 keeps only the largest ones.'),
  ReLU: feedForward('Lesson 8 shows what it lets through.'),
  encoder: lesson('verdict')('Lesson 9 goes through a whole encoder.'),
  decoder: decoder('Lesson 10 runs one on a translation.'),
  'teacher forcing': decoder('Lesson 10 gives the decoder the right beginning.'),
  'shifted right': decoder('Lesson 10 shows input and prediction side by side.'),
  'beam search': at('view=translation')('Translation draws its tree.'),
  hypothesis: translation('Lesson 11 lists those that are finished.'),
  'log-probability': translation('Lesson 11 adds them up for each hypothesis.'),
  alignment: at('view=translation')('Translation draws a line from word to word.'),
  'cross-entropy': training('Lesson 12 draws it as it falls.'),
  'label smoothing': teach('Teach trains with it and without: less sure in 5 of 5 seeds.'),
  'warm-up': teach('Teach trains with it and without: a lower loss in 4 of 5 seeds.'),
  'learning rate': training('Lesson 12 lets you choose it.'),
  dropout: training('Lesson 12 trains with it and without.'),
  overfitting: training('Lesson 12 compares the losses of both parts.'),
  'held-out': teach('Teach draws the curve of held-out messages.'),
  'leaving out': at('part=methods')('Methods compares it with nine other scores.'),
  'local attention': families('Lesson 13 counts what it costs.'),
  'linear attention': families('Lesson 13 measures it beside the usual one.'),
  'rank correlation': explanation('Lesson 14 computes it for your sentence.'),
  comprehensiveness: explanation('Lesson 14 measures it for each method.'),
  sufficiency: explanation('Lesson 14 measures it for each method.'),
  'attention rollout': explanation('Lesson 14 offers it as an explanation.'),
  pooling: lesson('verdict')('Lesson 9 takes the mean of all tokens.'),
  'padding mask': lesson('verdict')('Lesson 9 fills up a text and masks it.'),
  'logit lens': at('')('Sentiment shows the verdict below each layer.'),
  'causal mask': decoder('Lesson 10 takes it away.'),
  ablation: at('')('Sentiment has a switch for each head.'),
  patch: at('view=transplant')('Transplant replaces single vectors.'),
};

/** Words that no lesson stops at. */
const more: readonly Entry[] = [
  {
    term: 'activation patching',
    says: 'A vector of one run is put into the run of another text, and everything after it is computed again. If the answer follows, that vector carries the difference.',
    live: at('view=transplant')('Transplant patches every vector of two texts.'),
  },
  {
    term: 'Adam',
    says: 'An optimizer that gives each weight a step of its own size, from the means of its recent gradients and of their squares. It is the usual choice for Transformers.',
    live: training('The code of lesson 12 has it.'),
  },
  {
    term: 'accuracy',
    says: 'The share of right answers. By itself it says little if one answer is much more frequent: compare it with always giving that one.',
    live: teach('Teach draws it beside the line of “always ham”.'),
  },
  {
    term: 'attribution',
    says: 'A number for each token or part that says how much of the answer it is responsible for. There are many definitions, and they disagree.',
    live: at('part=methods')('Methods compares ten of them on your text.'),
  },
  {
    term: 'batch',
    says: 'The examples from which one step of a training computes its gradient. Larger ones give steadier steps, smaller ones more of them.',
    live: teach('Teach counts the steps and what they read.'),
  },
  {
    term: 'BERT',
    says: 'An encoder that was trained to guess hidden words and then learns a task (Devlin et al. 2019). Classifiers of texts are usually of this kind.',
    live: families('Lesson 13 puts it beside GPT, T5 and ViT.'),
  },
  {
    term: 'bias',
    says: 'A learned vector that is added after a matrix product, whatever the input. The word also means an unfair tendency that a model learned from its texts.',
    live: at('part=ledger')('The ledger shows how much of a verdict is bias.'),
  },
  {
    term: 'BLEU',
    says: 'A score for translations: how many sequences of one to four words they share with a human’s, from 0 to 100. It does not see whether a different wording is as good.',
    live: at('view=translation')('The card of the translation model has its scores.'),
  },
  {
    term: 'byte-pair encoding',
    says: 'A way to build a vocabulary: begin with bytes or letters, and keep merging the most frequent pair. GPT’s tokenizers are made this way.',
    live: at('view=writing')('Writing shows the tokens of such a tokenizer.'),
  },
  {
    term: 'circuit',
    says: 'The few heads and connections that carry a behavior, if all others are cut. A small one is a claim about how the model works, for these texts.',
    live: at('part=circuits')('Circuits searches the smallest one for your text.'),
  },
  {
    term: 'class token',
    says: 'A learned vector in front of the input, from whose last state the answer is read. BERT and ViT have one; the sentiment model takes the mean of all tokens instead.',
    live: at('view=digits')('Digits reads its answer from one.'),
  },
  {
    term: 'confidence interval',
    says: 'The range in which a mean probably lies if the texts had been others of the same kind. 95% of such ranges hold the true mean.',
    live: study('Study gives one for each effect.'),
  },
  {
    term: 'direct logit attribution',
    says: 'Writes an answer’s number as a sum over everything that was added to the residual stream. The sum is exact, but says nothing about what a part caused in later ones.',
    live: at('part=ledger')('The ledger is such a sum.'),
  },
  {
    term: 'effect',
    says: 'A number with a part, minus the same number without it. Plus speaks for the named label.',
    live: at('')('Sentiment prints the effect of each token.'),
  },
  {
    term: 'epoch',
    says: 'One pass of a training through all its examples. Small models need several, large ones often see each text only once.',
    live: teach('Teach trains for three.'),
  },
  {
    term: 'fine-tuning',
    says: 'Going on with the training of a model on new examples, often few. It keeps most of what the model knew, and may forget some.',
    live: at('view=teach')('Teach fine-tunes the sentiment model on your sentences.'),
  },
  {
    term: 'GPT',
    says: 'A decoder without an encoder that predicts the next token of any text (Radford et al. 2018). Chatbots are of this kind.',
    live: at('view=writing')('Writing runs a small one.'),
  },
  {
    term: 'gradient',
    says: 'How much the loss or an answer changes with each number, if that number changes a little. Training follows the loss’s gradient downhill.',
    live: teach('Teach shows the gradients of each layer.'),
  },
  {
    term: 'greedy search',
    says: 'Taking the most probable token at each step. It can miss a text that is more probable as a whole.',
    live: translation('Lesson 11 compares it with beam search.'),
  },
  {
    term: 'IMDB',
    says: '50,000 film reviews with a positive or negative verdict (Maas et al. 2011), a usual test for sentiment. The sentiment model was trained on half of them.',
    live: at('')('The card of the sentiment model has its score.'),
  },
  {
    term: 'log-odds',
    says: 'The logarithm of a probability divided by the probability of the opposite: 0 for even chances. Unlike probabilities, they can be added up.',
    live: at('part=ledger')('The ledger adds them up.'),
  },
  {
    term: 'loss',
    says: 'The number that training makes small: how wrong the answers are. For classifiers and writers it is the cross-entropy.',
    live: teach('Teach draws it step by step.'),
  },
  {
    term: 'optimizer',
    says: 'The rule that turns gradients into changes of the weights, such as Adam. It has settings, above all the learning rate.',
    live: training('The code of lesson 12 steps with one.'),
  },
  {
    term: 'padding',
    says: 'Filling up short texts so that all of a batch have one length. A mask keeps the padding from having any effect.',
    live: lesson('verdict')('Lesson 9 fills up a text and masks it.'),
  },
  {
    term: 'parameter',
    says: 'A number of the model that was learned: an entry of a matrix, a bias or an embedding. The sentiment model has 1.8 million.',
    live: embeddings('Lesson 2 shows some of them.'),
  },
  {
    term: 'perplexity',
    says: 'e to the mean loss per token: among how many equally likely tokens a writer is undecided, on average. Lower is better; it can only be compared between models with the same tokens.',
    live: at('view=writing')('Writing shows the probabilities behind it.'),
  },
  {
    term: 'quantization',
    says: 'Storing weights in 8 or 4 bits instead of 32. The model gets smaller and faster, and a little less exact.',
    live: at('view=bench')('Speed compares floats with 8-bit integers.'),
  },
  {
    term: 'sampling',
    says: 'Drawing the next token at random by its probability, instead of taking the likeliest. The same beginning then goes on differently each time.',
    live: at('view=writing')('Writing draws, from a seed that you can choose.'),
  },
  {
    term: 'seed',
    says: 'The number that starts a generator of random numbers. The same seed gives the same result; an effect that depends on it is not sure.',
    live: teach('Teach repeats an experiment with several.'),
  },
  {
    term: 'T5',
    says: 'An encoder-decoder that answers texts with texts, whatever the task (Raffel et al. 2020). Its positions are a bias on the scores.',
    live: families('Lesson 13 puts it beside GPT, BERT and ViT.'),
  },
  {
    term: 'temperature',
    says: 'A divisor of the logits before the softmax: below 1 the likely tokens get likelier, above 1 all get more alike.',
    live: at('view=writing')('Writing has a slider for it.'),
  },
  {
    term: 'top-k and top-p',
    says: 'Two ways to draw only among likely tokens: the k likeliest, or the fewest whose probabilities sum to p.',
    live: at('view=writing')('Writing has a slider for each.'),
  },
  {
    term: 'transfer learning',
    says: 'Using what a model learned from one task for another one. Fine-tuning a trained encoder is the usual way.',
    live: at('view=teach&lesson=file')('Teach begins with the sentiment model if you like.'),
  },
  {
    term: 'Transformer',
    says: 'A network of attention and feed-forward layers with residual connections (Vaswani et al. 2017). All models of this page are Transformers.',
    live: at('view=inside')('Inside shows every number of one.'),
  },
  {
    term: 'Vision Transformer',
    says: 'An encoder that reads a picture as a sequence of patches (Dosovitskiy et al. 2021). A patch is what a word is in a text.',
    live: at('view=digits')('Digits runs a small one on what you draw.'),
  },
  {
    term: 'WordPiece',
    says: 'BERT’s way to cut words: the longest piece in the vocabulary first, and ## before each further piece. Its vocabulary is built like that of byte-pair encoding, by likelihood.',
    live: at('view=model')('Your model opens a BERT with such a tokenizer.'),
  },
];

/** All words in the order of the alphabet. */
export const entries: readonly Entry[] = [
  ...Object.entries(glossary).map(([term, says]) => ({
    term,
    says,
    live: places[term as TermName],
  })),
  ...more,
].sort((a, b) => a.term.localeCompare(b.term, 'en', { sensitivity: 'base' }));

/** Returns what contains all words of a query: first where the title begins with it. */
export function search(query: string, all: readonly Findable[]): Findable[] {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = ({ title, says }: Findable): number => {
    const name = title.toLowerCase();
    const whole = `${name} ${says.toLowerCase()}`;
    if (!wanted.every((word) => whole.includes(word))) return Infinity;
    const first = wanted[0] ?? '';
    if (name.startsWith(first)) return 0;
    return wanted.every((word) => name.includes(word)) ? 1 : 2;
  };
  return all
    .map((each, i) => ({ each, i, rank: rank(each) }))
    .filter((found) => found.rank < Infinity)
    .sort((a, b) => a.rank - b.rank || a.i - b.i)
    .map(({ each }) => each);
}
