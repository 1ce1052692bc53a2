// Written by tools/schema.mjs from the results in src/api. Do not edit.

/** A token that a model read: a row of the attention weights. */
export interface Token {
  /** Its number in the vocabulary. */
  id: number;
  /**
   * The token as people read it, with a space in front if it starts a word, as in " gripping".
   * Special tokens are shown by name, such as "</s>"; a byte that is not a whole character is
   * shown as "<0xE6>".
   */
  text: string;
  /** Where its text begins, in UTF-16 code units. Special tokens have no text: start equals end. */
  start: number;
  /** Where its text ends. */
  end: number;
  /** Of two texts: the one that the token and its place belong to, 0 or 1. */
  sequence?: 0 | 1;
}

/** A token that a model wrote. Its place is in the whole text that it wrote. */
export interface OutputToken extends Token {
  /** The natural logarithm of its probability after the tokens before it. */
  logprob: number;
}

/** A label of a model, or one that a picture was compared with, and its score. */
export interface LabelScore {
  /** Its index in the labels of the model, or in the given ones. Two labels may have one name. */
  id: number;
  /** Its name. */
  label: string;
  /** Its probability, or the model's estimate of a quantity. */
  score: number;
  /** The number from which the score is computed. */
  logit: number;
}

/** The labels of a text. */
export interface ClassificationFields {
  /** The label with the highest score. */
  label: string;
  /** The score of that label. */
  score: number;
  /**
   * Each label, in the order of the model's labels. Scores are probabilities that sum to 1; or,
   * if several labels can apply at once or there is only one, a probability for each; or, if the
   * model estimates a quantity, the logits. Logits of several windows are their mean or maximum.
   */
  scores: LabelScore[];
  /** The tokens that the model read, one per row of the attention weights. */
  tokens: Token[];
  /** The number of windows in which the text was read. */
  windows: number;
  /**
   * Whether a part of the text was left out because it is longer than the model's limit: its end
   * or its middle, as the model's files say. The tokens are those of the part that was read.
   */
  clipped: boolean;
}

/** An entity of a text, such as the name of a person. */
export interface Entity {
  /** Its label; of combined tokens without what stands before the first -. */
  entity: string;
  /** The label's probability; of combined tokens or words, the mean. */
  score: number;
  /** The token as the vocabulary spells it, such as ##ton; of combined tokens, their text. */
  word: string;
  /** Where it begins in the text, in UTF-16 code units. */
  start: number;
  /** Where it ends. */
  end: number;
  /** The position of its token, where tokens are not combined. */
  index?: number;
}

/** The entities of a text. */
export interface TokenClassificationFields {
  /** The entities, in the order of the text. */
  entities: Entity[];
  /** The tokens that the model read, one per row of the attention weights. */
  tokens: Token[];
  /** The number of windows in which the text was read. */
  windows: number;
  /**
   * Whether a part of the text was left out because it is longer than the model's limit: its end
   * or its middle, as the model's files say. The tokens are those of the part that was read.
   */
  clipped: boolean;
}

/** The answer to a question. */
export interface AnswerFields {
  /** A part of the context. Empty if there is no answer, which must be allowed. */
  answer: string;
  /** Its probability. */
  score: number;
  /** Where it begins in the context, in UTF-16 code units. */
  start: number;
  /** Where it ends. */
  end: number;
  /**
   * The tokens of the question (sequence 0) and of the window of the context (sequence 1) in
   * which the answer was found.
   */
  tokens: Token[];
}

/** A token that may stand at the place of a mask. */
export interface FilledToken {
  /** Its number in the vocabulary. */
  id: number;
  /** The token as the vocabulary spells it, such as ##ing. */
  token: string;
  /** Its text. */
  text: string;
  /** Its probability. */
  score: number;
  /** The text as the model reads it, with this token; other masks stay. */
  sequence: string;
}

/** A mask of a text. */
export interface FilledMask {
  /** The position of its token. */
  index: number;
  /** Where it begins in the text, in UTF-16 code units. */
  start: number;
  /** Where it ends. */
  end: number;
  /** The most probable tokens, the best first. */
  answers: FilledToken[];
}

/** The tokens for the masks of a text. */
export interface FilledTextFields {
  /** The masks, in the order of the text. Each is filled on its own; the others stay masked. */
  masks: FilledMask[];
  /** The tokens that the model read, one per row of the attention weights. */
  tokens: Token[];
  /**
   * Whether a part of the text was left out because it is longer than the model's limit: its end
   * or its middle, as the model's files say. The tokens are those of the part that was read.
   */
  clipped: boolean;
}

/** The vector of a text. */
export interface EmbeddingFields {
  /** [poolings · d_model], or as wide as the model's last module. */
  embedding: Float32Array;
  /** The tokens that the model read, one per row of the attention weights. */
  tokens: Token[];
  /**
   * Whether a part of the text was left out because it is longer than the model's limit: its end
   * or its middle, as the model's files say. The tokens are those of the part that was read.
   */
  clipped: boolean;
}

/** The rows of a picture's attention weights. */
export interface PatchGrid {
  /** The number of rows of patches. */
  rows: number;
  /** The number of patches of a row. */
  columns: number;
  /** The names of the rows of attention before the patches: [CLS], [DIST]. */
  special: string[];
}

/** A part of a picture. */
export interface PictureRegion {
  /** In pixels of the picture, as the other numbers. */
  left: number;
  top: number;
  width: number;
  height: number;
}

/** The labels of a picture. */
export interface ImageClassificationFields {
  /** The label with the highest score. */
  label: string;
  /** The score of that label. */
  score: number;
  /**
   * Each label, in the order of the model's labels, or with `topK` the best ones, the best
   * first. Scores are as those of texts.
   */
  scores: LabelScore[];
  /** The rows of the attention weights: the special ones, then the patches, row by row. */
  grid: PatchGrid;
  /** The part of the picture that the patches cover. It may exceed the picture. */
  region: PictureRegion;
}

/** A picture, compared with labels, or only its vector. */
export interface ImageMatchFields {
  /**
   * The picture's vector, of length 1. Its dot product with the vector of a text is their
   * similarity.
   */
  embedding: Float32Array;
  /** The rows of the attention weights: the special ones, then the patches, row by row. */
  grid: PatchGrid;
  /** The part of the picture that the patches cover. It may exceed the picture. */
  region: PictureRegion;
}

/** A text that a model wrote. */
export interface Hypothesis {
  text: string;
  /** Its log-probability / tokens ^ `lengthPenalty`: normalized by its length. */
  score: number;
  /** Its tokens, with the end token if there is one. Their places are in the whole output. */
  tokens: OutputToken[];
}

/** A continuation of a text, or an answer to it. */
export interface GenerationFields extends Hypothesis {
  /** The text as the model read it, prefix included. Places refer to the given text alone. */
  promptTokens: Token[];
  /**
   * Whether the text was longer than the model's limit, and its beginning was left out or, if an
   * encoder reads it, its end.
   */
  clipped: boolean;
  /** Whether it ended with an end token or a stop string, not at the maximum number of tokens. */
  ended: boolean;
  /** With `keep`. The number of the text's tokens that an earlier call had read. */
  reused?: number;
}

/** A token that may come next. */
export interface NextToken {
  /** Its number in the vocabulary. */
  id: number;
  /**
   * The token as people read it, with a space in front if it starts a word, as in " gripping".
   * Special tokens are shown by name, such as "</s>"; a byte that is not a whole character is
   * shown as "<0xE6>".
   */
  text: string;
  /** The natural logarithm of the model's probability. */
  logprob: number;
  /**
   * The probability of being sampled: after penalties, temperature and the options that leave
   * out tokens, such as `topK` and `topP`.
   */
  probability: number;
}

/** The tokens that may follow a text. */
export interface PredictionFields {
  /** The tokens that may come next, the most probable first. */
  next: NextToken[];
  /** The text as the model read it, prefix included. Places refer to the given text alone. */
  promptTokens: Token[];
  /**
   * Whether the text was longer than the model's limit, and its beginning was left out or, if an
   * encoder reads it, its end.
   */
  clipped: boolean;
}

/** A part of a text. */
export interface TextRange {
  /** Where it begins, in UTF-16 code units. */
  start: number;
  /** Where it ends. */
  end: number;
}

/** A word of a translation, and the word from which it was translated. */
export interface AlignmentLink {
  /** In the whole translation. */
  target: TextRange;
  /** In the text. */
  source: TextRange;
  /** The share of the target word's attention that is on the source word. */
  weight: number;
}

/** A token that a search considered. */
export interface Candidate {
  /** The index of the token before it in the tree. */
  parent: number;
  /** Its number in the vocabulary. */
  id: number;
  /**
   * The token as people read it, with a space in front if it starts a word, as in " gripping".
   * Special tokens are shown by name, such as "</s>"; a byte that is not a whole character is
   * shown as "<0xE6>".
   */
  text: string;
  /** The natural logarithm of its probability after the tokens before it. */
  logprob: number;
  /** The sum of the log-probabilities from the start. */
  total: number;
  /** Whether the search continued from it, or it finished a hypothesis. */
  kept: boolean;
}

/** The translation of a sentence. */
export interface SentenceTranslationFields extends Hypothesis {
  /** Where the sentence begins in the text, in UTF-16 code units. */
  start: number;
  /** Where it ends. */
  end: number;
  /** Where its translation begins in the whole translation. */
  targetStart: number;
  /** Where its translation ends. */
  targetEnd: number;
  /** Whether the end of the sentence was left out because of the model's limit. */
  clipped: boolean;
  /** The tokens that the encoder read, with their places in the text. */
  sourceTokens: Token[];
}

/** The translation of a text. */
export interface TranslationFields {
  /** The translation. */
  text: string;
  /** The mean of the sentences' scores, weighted by their tokens. */
  score: number;
}

/** A text, or two, as tokens. */
export interface Encoding {
  /** The tokens' numbers in the vocabulary. */
  ids: number[];
  /** The same tokens, with their text and place. */
  tokens: Token[];
  /** Whether tokens over `maxLength` were left out. */
  clipped: boolean;
}
