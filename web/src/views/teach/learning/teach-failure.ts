import { GlassformerError } from 'glassformer';
import { loadFailure, type Failure } from '../../../ui/failure.ts';

const sayings: Partial<Record<string, Omit<Failure, 'detail'>>> = {
  invalid_data: {
    what: 'These examples cannot be learned from.',
    cure: 'Each line needs a label, a tab and a text, and there must be at least two labels.',
  },
  non_finite: {
    what: 'The training failed: its numbers grew beyond all bounds.',
    cure: 'A smaller learning rate may help.',
  },
  empty_input: { what: 'The text to watch has no tokens.', cure: 'Type another text.' },
};

/** Returns the message for a training that could not begin or go on. */
export function teachFailure(error: unknown): Failure {
  if (!(error instanceof GlassformerError)) return loadFailure(error, 'models');
  const { code, message } = error;
  const said = sayings[code];
  return said ? { ...said, detail: `${code}: ${message}` } : loadFailure(error, 'models');
}
