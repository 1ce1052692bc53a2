/** Stands in place of a notice while heads are off. */
export const headsOff = 'Heads are off. What this example shows is there with all heads on.';

/** A text to start from. */
export interface Example {
  name: string;
  text: string;
  /** What there is to see in the models' answers to it, as they are; tests/page/notices.test.mjs. */
  notice: string;
}
