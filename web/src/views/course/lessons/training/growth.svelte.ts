/** The curves of the training that is running, which the picture draws as they grow. */

/** The losses after some steps, without dropout and label smoothing. */
export interface Point {
  step: number;
  rate: number;
  training: number;
  heldOut: number;
}

class Growth {
  /** Undefined if no training is running. */
  points = $state.raw<readonly Point[]>();
}

export const growth = new Growth();
