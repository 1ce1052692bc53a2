/** The tutorials' claims, each as two trainings that differ in one thing. */
import type { ModelConfig, TrainerOptions } from 'glassformer';

export interface Variant {
  name: string;
  config?: ModelConfig;
  options?: TrainerOptions;
}

export interface Experiment {
  name: string;
  /** The claim as the tutorials make it. */
  claim: string;
  /** What both trainings have in common. */
  config: ModelConfig;
  options: TrainerOptions;
  epochs: number;
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

export const experiments: readonly Experiment[] = [
  {
    name: 'Residual connections',
    claim: 'Without residual connections, a deep Transformer does not train.',
    config: { ...shape, encoder_layers: 16 },
    options,
    epochs: 1,
    variants: [{ name: 'with' }, { name: 'without', config: { residual: false } }],
  },
  {
    name: 'Norm before or after',
    claim: 'With the norm before each sublayer, training is more stable than with the norm after.',
    config: { ...shape, encoder_layers: 8 },
    options: { ...options, rate: 4e-3, warmUp: 0 },
    epochs: 2,
    variants: [
      { name: 'before', config: { norm: 'pre', final_norm: true } },
      { name: 'after', config: { norm: 'post', final_norm: false } },
    ],
  },
  {
    name: 'Warm-up',
    claim: 'With the norm after each sublayer, the learning rate must rise slowly at first.',
    config: { ...shape, encoder_layers: 8, norm: 'post', final_norm: false },
    options: { ...options, rate: 4e-3 },
    epochs: 2,
    variants: [
      { name: 'with warm-up', options: { warmUp: 0.3 } },
      { name: 'without', options: { warmUp: 0 } },
    ],
  },
  {
    name: 'Division by √d_head',
    claim: 'Scores must be divided by √d_head, or the softmax saturates and gradients vanish.',
    config: { d_model: 128, d_ff: 128, n_heads: 1, encoder_layers: 2 },
    options,
    epochs: 1,
    variants: [
      { name: 'divided', config: {} },
      { name: 'not divided', config: { score_divisor: 1 } },
    ],
  },
  {
    name: 'Label smoothing',
    claim: 'Label smoothing makes a model less sure and often more accurate.',
    config: { ...shape, encoder_layers: 2 },
    options,
    epochs: 4,
    variants: [
      { name: 'smoothing 0.1', options: { smoothing: 0.1 } },
      { name: 'none', options: { smoothing: 0 } },
    ],
  },
];
