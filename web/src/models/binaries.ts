import read from 'glassformer/read';
import threads from 'glassformer/threads';

/** The package's other binaries: a small one for the first verdict, and those with threads. */
export const binaries = { ...read, ...threads };
