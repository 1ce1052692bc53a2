/** The messages for chosen files that cannot be opened. Only some views need them. */
import { GlassformerError, type ErrorCode } from 'glassformer';
import { isOfPage, loadFailure, type Failure } from './failure.ts';

/** How to fix files that cannot be opened, if the package's message does not say so. */
const cures: Partial<Record<ErrorCode, string>> = {
  missing_file: 'Choose the whole folder of a model.',
  fetch_failed: 'Choose the files again.',
  unsupported: 'This page cannot read that yet. Choose a model of another kind.',
  internal: 'Try a smaller model, or 8-bit integers.',
};
const again =
  'A file is damaged, belongs to another model, or is a Git LFS pointer instead of the real file: download all of them again.';

/** Returns the original name of a file that was renamed, such as “model (1).safetensors”. */
const ownName = (name: string) => name.replace(/(?: ?\(\d+\)| copy)(?=\.[^.]*$)/, '');

/** Returns how to rename one of the files, if nothing else is wrong. */
function renaming(message: string, names: readonly string[]): string | undefined {
  const wanted = 'model.safetensors';
  const renamed = names.find((name) => ownName(name) !== name && !names.includes(ownName(name)));
  if (renamed) {
    const file = renamed.split('/').at(-1)!;
    return `Rename ${file} to ${ownName(file)}, then choose the files again.`;
  }
  if (!message.includes(wanted) || names.includes(wanted)) return undefined;
  const weights = names.filter((name) => /^[^/]*\.safetensors$/.test(name));
  if (weights.length === 1)
    return `Rename ${weights[0]} to ${wanted}, then choose the files again.`;
  if (weights.length > 1)
    return `Also choose model.safetensors.index.json, which lists what ${weights.join(' and ')} contain. Or, if one of them is the whole model, rename it to ${wanted}.`;
  return undefined;
}

/** Returns the message for chosen files, given by name, that cannot be opened as a model. */
export function filesFailure(error: unknown, names: readonly string[] = []): Failure {
  const { code, message } =
    error instanceof GlassformerError
      ? error
      : {
          code: 'fetch_failed' as const,
          message: `${error instanceof Error ? error.message : error}`,
        };
  if (code === 'unsupported_runtime' || code === 'worker_failed' || isOfPage(error))
    return loadFailure(error, '');
  const cure =
    renaming(message, names) ?? (/got none/.test(message) ? cures.missing_file : cures[code]);
  const said = message.replace(/[.!?]$/, '');
  return {
    what: code === 'missing_file' ? 'A file is missing.' : 'This cannot be opened.',
    // A message with a semicolon already says how to fix it.
    cure: said.includes(';') ? `${said}.` : `${said}. ${cure ?? again}`,
    detail: code,
  };
}
