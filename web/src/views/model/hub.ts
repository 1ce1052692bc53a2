/** Models of Hugging Face, by name. Nothing is asked for before a visitor presses a button. */
import { GlassformerError } from 'glassformer';
import type { Failure } from '../../ui/failure.ts';

/** The server, which the page's Content-Security-Policy allows. */
export const hub = 'https://huggingface.co';

/** A model of the hub. */
export interface HubModel {
  /** Its owner and its name, as in the address of its page. */
  name: string;
  /** As its card on the hub states it. */
  license: string;
}

const part = String.raw`(?!\.{1,2}(?:/|$))[\w.-]+`;
const names = new RegExp(`^(?:https://huggingface\\.co/|hf:)?(${part}/${part})/?$`);

/** Returns the model's name in what a visitor typed: the name itself or the address of its page. */
export const nameIn = (typed: string): string | undefined => names.exec(typed.trim())?.[1];

/** Returns the license in the beginning of a model card, or undefined. */
export function licenseIn(card: string): string | undefined {
  const [, head] = /^---\r?\n([^]*?)\r?\n---/.exec(card) ?? [];
  const [, license] = /^license:[ \t]*["']?([^\s"']+)/m.exec(head ?? '') ?? [];
  return license;
}

/** Asks the hub for a model's license; resolves to what to show. */
export async function licenseOf(name: string, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(`${hub}/${name}/resolve/main/README.md`, {
      signal,
      credentials: 'omit',
    });
    return (response.ok && licenseIn(await response.text())) || 'not stated';
  } catch {
    return 'unknown without a network';
  }
}

/** Returns the message for a model of the hub that cannot be opened. */
export function hubFailure(error: unknown, name: string): Failure {
  const [code, message] =
    error instanceof GlassformerError
      ? [error.code, error.message]
      : ['fetch_failed' as const, `${error instanceof Error ? error.message : error}`];
  return {
    what: `${name} cannot be opened.`,
    cure: `${message.replace(/[.!?]$/, '')}.`,
    detail: code,
  };
}
