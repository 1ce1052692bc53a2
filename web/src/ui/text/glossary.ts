/** Definitions of the field's words. `Term.svelte` shows them where a word first stands. */

const definitions = {
  token:
    'A piece of text that a model reads as one unit: a word, a part of a word, or a punctuation mark.',
  vocabulary: 'The fixed list of all tokens that a model knows. A token’s place in it is its id.',
  tokenizer: 'The program that splits a text into tokens and looks up their ids.',
  embedding: 'The vector of learned numbers that stands for a token. The model computes with it.',
  'embedding table': 'A matrix with one row per token of the vocabulary. Its numbers are learned.',
  d_model: 'The width of the model: how many numbers each token’s vector has.',
  cosine:
    'The cosine of the angle between two vectors: 1 if they point the same way, 0 if they have nothing in common, −1 if they are opposite.',
  'positional encoding':
    'A vector that is added to a token’s embedding and depends only on its position in the text.',
  'attention head':
    'One of several attention computations that run side by side in a layer, each with its own queries, keys and values.',
  'self-attention': 'Attention in which queries, keys and values all come from the same text.',
  'cross-attention':
    'Attention in which the decoder’s queries read keys and values that come from the encoder.',
  query: 'The vector with which a token asks: what do I look for?',
  key: 'The vector with which a token answers queries: what do I offer?',
  value: 'The vector that a token hands over to those that attend to it.',
  score: 'The scaled dot product of a query and a key, before the softmax.',
  'attention weight':
    'A number from 0 to 1: how much of a token’s value enters the sum. The weights of one query sum to 1.',
  softmax:
    'Turns any numbers into positive ones that sum to 1: raise e to each number, then divide by the sum.',
  logit: 'The model’s number for an answer before softmax turns it into a probability.',
  entropy:
    'How evenly a distribution is spread: 0 if all of it is in one place, largest if all places are equal.',
  saturation:
    'A softmax is saturated if one weight is almost 1. Its gradient is then almost 0, so training stops there.',
  'residual connection':
    'The input of a sub-layer is added to its output, so that the sub-layer only has to compute a change.',
  'residual stream':
    'The vector of a token on its way through the layers. Every sub-layer reads it and adds to it.',
  'layer normalization':
    'Subtracts the mean of a vector’s numbers, divides by their standard deviation, then scales and shifts with learned γ and β.',
  'sub-layer': 'A part of a layer with its own residual connection: attention or feed-forward.',
  'feed-forward network':
    'Two matrix products with an activation function in between. It works on each token by itself.',
  'hidden unit': 'One number between the two matrices of a feed-forward network.',
  ReLU: 'An activation function: keeps a positive number and turns a negative one into 0.',
  encoder:
    'The stack of layers that reads the whole text at once: every token may attend to every other.',
  decoder: 'The stack of layers that writes: a token may only attend to those before it.',
  'teacher forcing':
    'In training, the decoder reads the right beginning at every step, whatever it would have written itself.',
  'shifted right':
    'Moved by one place: the decoder’s input is the start token and then the translation, so row i reads token i − 1 and predicts token i.',
  'beam search':
    'Keeps the few most probable beginnings at each step, instead of only one, and picks the best finished text.',
  hypothesis: 'A beginning that a beam search keeps, or a finished text that it found.',
  'log-probability':
    'The logarithm of a probability: 0 for certainty, and negative otherwise. Those of a text’s tokens add up.',
  alignment: 'Which words of a translation belong to which words of the source.',
  'cross-entropy':
    'The usual loss: minus the logarithm of the probability that the model gives to the right answer.',
  'label smoothing':
    'The target is not all for the right class: a small share is spread over all classes.',
  'warm-up': 'The first part of a training, in which the learning rate rises from 0.',
  'learning rate': 'How far the weights move at each step of a training.',
  dropout:
    'Sets a random share of the activations to 0 at each training step, so that none is relied on.',
  overfitting:
    'Getting better on the training examples and worse on others: the model learns them by heart.',
  'held-out':
    'Kept back from training, to measure what the model does with examples it has not seen.',
  'leaving out':
    'How much the answer changes if the model does not see a token: it is neither attended to nor pooled.',
  'local attention': 'Attention in which a token only sees its neighbors up to some distance.',
  'linear attention':
    'Attention without softmax: keys and values are summed once for all queries, so the cost grows with the length, not with its square.',
  'rank correlation':
    'How alike two orders are (Spearman): 1 if they are the same, 0 if unrelated, −1 if reversed.',
  comprehensiveness:
    'How far the answer’s probability falls without the tokens that a method ranks first. High is good.',
  sufficiency:
    'How far the answer’s probability falls with only the tokens that a method ranks first. Low is good.',
  'attention rollout':
    'Attention weights with half of each row for the residual connection, multiplied through the layers.',
  pooling: 'Turns the vectors of all tokens into one vector for the whole text, here their mean.',
  'padding mask':
    'Tells attention and pooling which tokens are only padding, so that these have no effect.',
  'logit lens':
    'What the model would answer if it stopped after this layer: its last part is applied to the layer’s output.',
  'causal mask': 'Hides later tokens from a query: their scores become −∞ and their weights 0.',
  ablation: 'Switching a part of the model off to see what it does.',
  patch: 'Replacing a tensor of a run by other numbers, to see what depends on it.',
} as const;

export type TermName = keyof typeof definitions;

/** Returns the definition of a word, or undefined if the glossary lacks it. */
export const definitionOf = (name: string): string | undefined =>
  Object.hasOwn(definitions, name) ? definitions[name as TermName] : undefined;

export const glossary: Readonly<Record<TermName, string>> = definitions;
