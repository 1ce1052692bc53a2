import type { Input, InputKind } from '../engine/input.js';
import { toError } from '../engine/engine.js';
import type { Answer, RawResult } from '../engine/engine.js';
import { GlassformerError, throwIfAborted } from '../base/errors.js';
import { iterate } from '../base/iterate.js';
import { onAbort } from '../base/signals.js';
import { turn } from '../base/turn.js';
import type { Outcome } from './results.js';

/** Inputs per call to the model: enough that no time is lost between calls. */
const textsAtOnce = 16;

/** Maximum number of inputs that are read before their results are taken. */
const readAhead = 64;

/** The inputs from a caller, and what they are. */
export interface Inputs {
  given: Iterable<unknown> | AsyncIterable<unknown>;
  kind: InputKind;
}

interface Waiting {
  index: number;
  text: Input;
}

/** A model that runs work until an abort or its disposal. */
interface Model {
  run<T>(signal: AbortSignal | undefined, work: (inner: AbortSignal) => Promise<T>): Promise<T>;
}

/**
 * Passes inputs to `call`, some at a time, and yields the result or error of each. Inputs are read
 * ahead while the model works, up to a limit if results are not taken.
 */
export async function* outcomesOf(
  model: Model,
  { given, kind }: Inputs,
  signal: AbortSignal | undefined,
  call: (texts: Input[], inner: AbortSignal) => Promise<Answer[]>,
): AsyncGenerator<Outcome<RawResult>, void, void> {
  const source = iteratorOf(given, kind.several);
  const bell = new Bell();
  const waiting: Waiting[] = [];
  let count = 0; // inputs read
  let taken = 0; // results yielded
  let ended = false;
  type Push = (outcome: Outcome<RawResult>) => void;

  const read = async (push: Push, inner: AbortSignal): Promise<void> => {
    const leave = async () => !ended && source.return?.();
    onAbort(inner, () => {
      bell.ring();
      leave().catch(() => {});
    });
    try {
      for (;;) {
        throwIfAborted(inner);
        const { value, done } = await source.next();
        if (done) break;
        const index = count++;
        try {
          const taken = kind.take(value);
          waiting.push({ index, text: taken instanceof Promise ? await taken : taken });
        } catch (error) {
          push({ index, error: error as GlassformerError });
        }
        bell.ring();
        while (count - taken >= readAhead && !inner.aborted) await bell.rung;
      }
    } finally {
      ended = true;
      bell.ring();
    }
  };

  const send = async (push: Push, inner: AbortSignal): Promise<void> => {
    for (;;) {
      await turn(); // a fast source provides several inputs meanwhile
      throwIfAborted(inner);
      if (waiting.length > 0) {
        const some = waiting.splice(0, textsAtOnce);
        const answers = await call(
          some.map(({ text }) => text),
          inner,
        );
        for (const [i, answer] of answers.entries()) {
          const { index } = some[i]!;
          push('error' in answer ? { index, error: toError(answer) } : { index, result: answer });
        }
      } else if (ended) {
        return;
      } else {
        await bell.rung;
      }
    }
  };

  // There are two senders: while one passes on its answers, the model works for the other.
  const outcomes = iterate<Outcome<RawResult>, unknown>(signal, (push, left) =>
    model.run(left, (inner) =>
      Promise.all([read(push, inner), send(push, inner), send(push, inner)]),
    ),
  );
  for await (const outcome of outcomes) {
    taken++;
    bell.ring();
    yield outcome;
  }
}

function iteratorOf(
  given: Inputs['given'],
  several: string,
): AsyncIterator<unknown> | Iterator<unknown> {
  if (typeof given === 'object' && given !== null) {
    if (Symbol.asyncIterator in given) return given[Symbol.asyncIterator]();
    if (Symbol.iterator in given) return given[Symbol.iterator]();
  }
  throw new GlassformerError(
    'invalid_option',
    `${several}: expected an iterable, got something else`,
  );
}

/** Wakes everything that awaits `rung`. */
class Bell {
  rung!: Promise<void>;
  #wake = (): void => {};

  constructor() {
    this.ring();
  }

  ring(): void {
    this.#wake();
    this.rung = new Promise((resolve) => (this.#wake = resolve));
  }
}
