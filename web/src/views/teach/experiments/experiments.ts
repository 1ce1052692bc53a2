/** The tutorials' claims, each as two trainings that differ in one thing. */
import type { ModelConfig, TrainerOptions } from 'glassformer';

export interface Variant {
  name: string;
  config?: ModelConfig;
  options?: TrainerOptions;
}

/** The measurements at the end of a training, on messages that are held out. */
export interface Measures {
  loss: number;
  accuracy: number;
  /** The mean probability of the model's own answers. */
  sureness: number;
}

export interface Experiment {
  name: string;
  /** The claim, in words that the experiment can refute. */
  claim: string;
  /** The measure that the claim is about, and how it is better. */
  about: keyof Measures;
  /** The least factor by which it has to be lower in the first variant. */
  factor: number;
  /** What both trainings have in common. */
  config: ModelConfig;
  options: TrainerOptions;
  epochs: number;
  /** How long both trainings take together on two busy cores of a server, in seconds. */
  seconds: number;
  /** As claimed, and otherwise. */
  variants: readonly [Variant, Variant];
}

const shape = { d_model: 32, d_ff: 128, n_heads: 4 };
const options: TrainerOptions = {
  rate: 2e-3,
  averaging: 0,
  dropout: 0,
  smoothing: 0,
  warmUp: 0.1,
  heldOut: 0.15,
  vocabulary: 1000,
};
/** Losses that differ by less than this factor count as equal. */
const clear = 1.1;
const lowerLoss = { about: 'loss', factor: clear } as const;

export const experiments: readonly Experiment[] = [
  {
    name: 'Residual connections',
    claim: 'Without residual connections, a Transformer of 16 layers learns less.',
    ...lowerLoss,
    config: { ...shape, encoder_layers: 16 },
    options,
    epochs: 1,
    seconds: 40,
    variants: [{ name: 'with' }, { name: 'without', config: { residual: false } }],
  },
  {
    name: 'Norm before or after',
    claim: 'At a high rate and without warm-up, the norm before each sublayer trains better.',
    ...lowerLoss,
    config: { ...shape, encoder_layers: 8 },
    options: { ...options, rate: 4e-3, warmUp: 0 },
    epochs: 2,
    seconds: 40,
    variants: [
      { name: 'before', config: { norm: 'pre', final_norm: true } },
      { name: 'after', config: { norm: 'post', final_norm: false } },
    ],
  },
  {
    name: 'Warm-up',
    claim:
      'With the norm after each sublayer, training at a high rate often fails unless the rate rises slowly at first.',
    ...lowerLoss,
    config: { ...shape, encoder_layers: 8, norm: 'post', final_norm: false },
    options: { ...options, rate: 4e-3 },
    epochs: 2,
    seconds: 40,
    variants: [
      { name: 'with warm-up', options: { warmUp: 0.3 } },
      { name: 'without', options: { warmUp: 0 } },
    ],
  },
  {
    name: 'Division by √d_head',
    claim:
      'Scores that are not divided by √d_head make the softmax too sharp, and the model learns less.',
    ...lowerLoss,
    config: { d_model: 128, d_ff: 128, n_heads: 1, encoder_layers: 2 },
    options,
    epochs: 1,
    seconds: 20,
    variants: [
      { name: 'divided', config: {} },
      { name: 'not divided', config: { score_divisor: 1 } },
    ],
  },
  {
    name: 'Label smoothing',
    claim: 'Label smoothing makes a model less sure of its answers.',
    about: 'sureness',
    factor: 1.01,
    config: { ...shape, encoder_layers: 2 },
    options,
    epochs: 4,
    seconds: 20,
    variants: [
      { name: 'smoothing 0.1', options: { smoothing: 0.1 } },
      { name: 'none', options: { smoothing: 0 } },
    ],
  },
];
