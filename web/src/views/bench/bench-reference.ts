/**
 * The figures of web/docs/performance.md for these tasks, measured by `npm run bench`; a test
 * compares them. They call the engine in its own thread, so times include no messages to a worker.
 */
export const machine = 'a shared AMD EPYC (Zen 4) server, Node 24';

/** Tokens per second, by task, arithmetic and binary. */
export const reference: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'Sentiment, 16 tokens': byMilliseconds(16, [0.59, 0.74, 0.37, 0.46]),
  'Sentiment, 64 tokens': byMilliseconds(64, [2.85, 3.22, 1.6, 1.98]),
  'Sentiment, 256 tokens': byMilliseconds(256, [13.3, 16.1, 8.85, 10.4]),
  'Translation, greedy': byWay([987, 799, 3220, 2366]),
  'Translation, 4 beams': byWay([750, 639, 1515, 1202]),
};

type InEachWay = readonly [
  f32Relaxed: number,
  f32Plain: number,
  int8Relaxed: number,
  int8Plain: number,
];

function byWay([f32Relaxed, f32Plain, int8Relaxed, int8Plain]: InEachWay) {
  return {
    'f32 relaxed': f32Relaxed,
    'f32 simd': f32Plain,
    'int8 relaxed': int8Relaxed,
    'int8 simd': int8Plain,
  };
}

function byMilliseconds(tokens: number, [a, b, c, d]: InEachWay) {
  const rate = (milliseconds: number) => (1e3 * tokens) / milliseconds;
  return byWay([rate(a), rate(b), rate(c), rate(d)]);
}
