/** Replaces a notice while heads are off. */
export const headsOff = 'Heads are off. This example needs all heads on.';

/** An example text. */
export interface Example {
  name: string;
  text: string;
  /** What to notice in the models' answers; tests/page/answers/notices.test.mjs checks it. */
  notice: string;
}
