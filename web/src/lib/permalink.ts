/** The state that a link carries, in the part of the address after "#": it is never sent anywhere. */
export interface Permalink {
  text: string;
  /** The chosen head; layers and heads count from 0, as in the package. */
  head: { layer: number; head: number };
  /** Heads switched off. */
  off: readonly { layer: number; head: number }[];
  /** Tokens hidden. */
  hidden: readonly number[];
}

/** Longer texts are left out of the link, as are all that refer to them. */
const longestText = 4000;

export function toHash({ text, head, off, hidden }: Permalink): string {
  const parameters = new URLSearchParams();
  if (text.length <= longestText) {
    parameters.set('text', text);
    if (hidden.length > 0) parameters.set('hide', hidden.join(','));
  }
  parameters.set('head', `${head.layer}.${head.head}`);
  if (off.length > 0)
    parameters.set('off', off.map(({ layer, head }) => `${layer}.${head}`).join(','));
  return `#${parameters}`;
}

/** Reads what it can of a hash; anything malformed is left out. */
export function fromHash(hash: string): Partial<Permalink> {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  const link: Partial<Permalink> = {};
  const text = parameters.get('text');
  if (text !== null) link.text = text;
  const [head] = heads(parameters.get('head'));
  if (head) link.head = head;
  link.off = heads(parameters.get('off'));
  link.hidden = list(parameters.get('hide'))
    .filter((token) => /^\d{1,6}$/.test(token))
    .map(Number);
  return link;
}

const list = (value: string | null) => (value ? value.split(',') : []);

const heads = (value: string | null) =>
  list(value)
    .map((item) => /^(\d{1,4})\.(\d{1,4})$/.exec(item))
    .filter((match) => match !== null)
    .map(([, layer, head]) => ({ layer: Number(layer), head: Number(head) }));
