/** The answer of a visitor's model, whose scores can be explained. */
import type {
  Classifier,
  Embedder,
  Generator,
  MaskFiller,
  Model,
  TokenClassifier,
  Translator,
} from 'glassformer';
import type { ScoreOptions, ScoreSubject } from '../../../panels/score/score-reading.svelte.ts';
import type { AnswerOutcome } from '../asking.ts';
import type { ModelExplorer } from '../explorer.svelte.ts';

type Explain = ScoreSubject<Model>['explain'];

/** Returns undefined for tasks whose texts are read in several windows. */
function explainFor(
  { answered, input }: AnswerOutcome,
  explorer: ModelExplorer,
): Explain | undefined {
  const { chosen } = explorer;
  switch (answered.task) {
    case 'text-classification': {
      const { first: text, second: pair } = input;
      const read = pair.trim() ? { text, pair } : text;
      return (model, options) => (model as Classifier).explain(read, options);
    }
    case 'token-classification':
      return (model, options) => (model as TokenClassifier).explain(input.first, options);
    case 'fill-mask':
      return (model, options) => (model as MaskFiller).explain(answered.text, options);
    case 'feature-extraction': {
      const text = answered.texts[chosen] ?? answered.texts[0] ?? '';
      return (model, options) => (model as Embedder).explain(text, options);
    }
    case 'translation': {
      const { from, to } = explorer.how;
      const sentence = answered.result.sentences[chosen] ?? answered.result.sentences[0];
      if (!sentence) return undefined;
      const text = answered.text.slice(sentence.start, sentence.end);
      const prefix = before(sentence.tokens);
      return (model, options) =>
        (model as Translator).explain(text, { ...options, from, to, prefix: prefix(options) });
    }
    case 'text2text-generation': {
      const prefix = before(answered.result.tokens);
      return (model, options) =>
        (model as Generator).explain(input.first, { ...options, prefix: prefix(options) });
    }
    case 'text-generation': {
      const { text, result } = answered;
      return (model, options) => {
        const written = options.query >= result.promptTokens.length;
        return (model as Generator).explain(written ? text + result.text : text, options);
      };
    }
    default:
      return undefined;
  }
}

/** Returns the ids of the tokens that were written before a decoder's row. */
const before =
  (tokens: readonly { id: number }[]) =>
  ({ attention, query }: ScoreOptions): number[] =>
    tokens.slice(0, attention.startsWith('encoder') ? 0 : query).map(({ id }) => id);

export function scoredIn(explorer: ModelExplorer): ScoreSubject<Model> | undefined {
  const { files: name, outcome } = explorer;
  const explain = name && outcome && explainFor(outcome, explorer);
  return explain && { name, explain };
}
