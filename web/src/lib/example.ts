/** A text to start from. */
export interface Example {
  name: string;
  text: string;
  /** What there is to see in the models' answers to it, as they are; tests/page/notices.test.mjs. */
  notice: string;
}
