/** A model's graph as a picture: where its parts stand, and what its edges are called. */
import type { GenerationExplanations } from 'glassformer';

export type EdgeCircuit = Omit<GenerationExplanations['circuit'], 'tokens' | 'method' | 'clipped'>;
export type CircuitEdge = EdgeCircuit['edges'][number];
export type CircuitPoint = EdgeCircuit['curve'][number];

/** The edges that the picture shows first. */
export const shownEdges = 30;

/** A part of the model, by the name of its output or of an input. */
interface Part {
  stack: 'encoder' | 'decoder';
  kind: 'words' | 'head' | 'cross' | 'forward' | 'logits';
  layer: number;
  head: number;
  /** Of an input of a head: q, k or v. */
  side?: string | undefined;
}

export function partOf(name: string): Part {
  const stack = name.startsWith('encoder') ? 'encoder' : 'decoder';
  if (name === 'logits') return { stack, kind: 'logits', layer: 0, head: 0 };
  if (name.endsWith('embed_tokens')) return { stack, kind: 'words', layer: 0, head: 0 };
  const layer = Number(name.split('.')[2]);
  const head = /\.(self|encoder)_attn\.head\.(\d+)(?:\.([qkv]))?$/.exec(name);
  if (!head) return { stack, kind: 'forward', layer, head: 0 };
  const kind = head[1] === 'self' ? 'head' : 'cross';
  return { stack, kind, layer, head: Number(head[2]), side: head[3] };
}

/** Returns the name of a part on the page, which counts from 1. `both`: there is an encoder, too. */
export function named({ stack, kind, layer, head }: Part, both: boolean): string {
  const of = both ? `${stack} ` : '';
  const at = `${layer + 1}.${head + 1}`;
  if (kind === 'words')
    return both ? (stack === 'encoder' ? 'source words' : 'written words') : 'words';
  if (kind === 'head') return `${of}head ${at}`;
  if (kind === 'cross') return `cross head ${at}`;
  if (kind === 'forward') return `${of}feed-forward ${layer + 1}`;
  return 'answer';
}

const sides: Record<string, string> = { q: 'asks', k: 'is found', v: 'carries on' };

/** Says where an edge leads: to a part, and through what. */
export function ledTo(name: string, both: boolean): string {
  const part = partOf(name);
  const { side } = part;
  return `${named(part, both)}${side ? `, by what it ${sides[side]}` : ''}`;
}

export const edgeName = ({ from, to }: CircuitEdge): string => `${from}>${to}`;

interface Place {
  x: number;
  y: number;
}
export interface ShownPart extends Place {
  key: string;
  label: string;
  title: string;
}
export interface ShownEdge {
  key: string;
  edge: CircuitEdge;
  path: string;
  width: number;
}
export interface Picture {
  width: number;
  height: number;
  parts: ShownPart[];
  edges: ShownEdge[];
}

const keyOf = ({ stack, kind, layer, head }: Part) => [stack, kind, layer, head].join(' ');

/** Places parts: words below, the answer above, an encoder at the left. */
export function drawn(
  { nodes, edges }: Pick<EdgeCircuit, 'nodes' | 'edges'>,
  count: number,
): Picture {
  const all = nodes.map(partOf);
  const both = all.some(({ stack }) => stack === 'encoder');
  const layersOf = (stack: Part['stack']) =>
    1 + Math.max(...all.filter((part) => part.stack === stack).map(({ layer }) => layer));
  const heads = 1 + Math.max(...all.map(({ head }) => head));
  const rowsOf = (stack: Part['stack']) =>
    layersOf(stack) * (stack === 'decoder' && both ? 3 : 2) + 2;
  const rows = Math.max(rowsOf('decoder'), both ? rowsOf('encoder') : 0);
  const [step, row, margin] = [both ? 30 : 52, 36, 24];
  const side = heads * step;
  const width = margin * 2 + side * (both ? 2 : 1) + (both ? 40 : 0);
  const height = margin * 2 + (rows - 1) * row;
  const place = (part: Part): Place => {
    const left = margin + (both && part.stack === 'decoder' ? side + 40 : 0);
    const per = part.stack === 'decoder' && both ? 3 : 2;
    const lines = { words: 0, head: 1, cross: 2, forward: per, logits: 0 };
    const last = part.kind === 'logits' ? rows - 1 : part.layer * per + lines[part.kind];
    const middle = left + side / 2;
    const x = ['head', 'cross'].includes(part.kind) ? left + (part.head + 0.5) * step : middle;
    return { x, y: height - margin - last * row };
  };
  const shown = edges.slice(0, count);
  const most = Math.max(1e-9, ...shown.map(({ score }) => Math.abs(score)));
  const parts = new Map<string, ShownPart>();
  const add = (name: string) => {
    const part = partOf(name);
    const key = keyOf(part);
    const short = { words: 'words', forward: `F${part.layer + 1}`, logits: 'answer' };
    const label =
      part.kind === 'head' || part.kind === 'cross'
        ? `${part.layer + 1}.${part.head + 1}`
        : short[part.kind];
    if (!parts.has(key)) parts.set(key, { key, label, title: named(part, both), ...place(part) });
    return parts.get(key)!;
  };
  const lines = shown.map((edge) => {
    const [from, to] = [add(edge.from), add(edge.to)];
    const bend = (to.y - from.y) / 2;
    const path = `M${from.x} ${from.y - 8}C${from.x} ${from.y + bend} ${to.x} ${to.y - bend} ${to.x} ${to.y + 8}`;
    return { key: edgeName(edge), edge, path, width: 0.75 + (5 * Math.abs(edge.score)) / most };
  });
  return { width, height, parts: [...parts.values()], edges: lines };
}
