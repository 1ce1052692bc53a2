/** One sentence on each part of the figure. */
import type { Stack, Station } from './figure.ts';

export function sentenceOf({ stack, box, layer }: Station, stacks: readonly Stack[]): string {
  const last = stacks.at(-1)!.name;
  switch (box.part) {
    case 'tokens':
      return box.title === 'Patches'
        ? 'The picture is cut into patches. From here on, a patch is what a word is in a text.'
        : stacks.length > 1 && stack === 'decoder'
          ? 'The decoder reads what it has written so far, shifted right by a start token.'
          : 'The text is cut into pieces of its vocabulary. Each has a number, its id.';
    case 'embedding':
      return 'Each token’s id picks a row of a learned table: from here on, a token is a vector.';
    case 'positions':
      return 'Attention does not know the order of tokens, so each position adds a pattern of its own.';
    case 'norm':
      return layer === undefined
        ? 'The last normalization, before the answer is read off.'
        : 'Each vector is scaled to mean 0 and deviation 1, so that the next part sees vectors of similar size.';
    case 'attention':
      return stack === 'decoder'
        ? 'Each token reads those before it. The look-ahead mask hides those after it.'
        : 'Each token reads all tokens: softmax of query · key says how much of each value it takes.';
    case 'cross':
      return 'The decoder’s tokens read the encoder’s output: queries from here, keys and values from there.';
    case 'add':
      return 'The residual connection adds the result to what came in, so nothing has to be learned twice.';
    case 'feed':
      return 'Each token on its own: the hidden units that fire here write into its vector.';
    case 'answer':
      return stack === last && box.title.startsWith('Linear')
        ? 'A score for each token of the vocabulary; softmax makes them probabilities of the next token.'
        : 'One vector for the whole input, a score per label, and softmax makes them probabilities.';
  }
}
