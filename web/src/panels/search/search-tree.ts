/** Laying out what a beam search considered: a column a step, and no two branches cross. */
import type { Candidate, Hypothesis, SentenceTranslation, Translation } from 'glassformer';
import { isStandIn, marked } from '../words/tokens.ts';

export const mostBeams = 8;

/** What a view has that shows how a translation was found. */
export interface SearchOnView {
  /** 0: as many as the model's own settings say. */
  readonly beams: number;
  /** The last translation that was searched for, with its hypotheses. */
  readonly searched: { result: Translation } | undefined;
  /** Whether another one is shown by now. */
  readonly outdated: boolean;
  /** The sentence that is looked into. */
  readonly sentence: number;
  /** The language that is written, where that is known. */
  readonly target: string;
  /** How many of the sentence's first tokens were not the model's choice. */
  readonly forcedTokens: number;
  /** Whether nothing can be changed yet. */
  readonly frozen: boolean;
  search(beams: number): void;
  /** Has the sentence's translation begin with these tokens; with none it is free again. */
  force(ids: readonly number[]): void;
}

/** Lists, one a sentence, of which that of `sentence` is replaced. */
export function withList<T>(
  lists: readonly (readonly T[])[],
  sentence: number,
  list: readonly T[],
): readonly (readonly T[])[] {
  const before = Array.from({ length: sentence }, (_, i) => lists[i] ?? []);
  return [...before, list, ...lists.slice(sentence + 1)];
}

export interface TreeNode extends Candidate {
  /** Its index in the tree. */
  index: number;
  /** Tokens up to it; the start token's is 0. */
  depth: number;
  /** Place in its column, from the top. */
  row: number;
  /** The best of the complete translations that pass through it, from 0; undefined where none does. */
  rank: number | undefined;
  /** As the page prints it: "-" goes before what continues a word. */
  label: string;
  /** Best first. */
  children: TreeNode[];
}

export interface SearchTree {
  nodes: TreeNode[];
  /** By depth, then by row. */
  columns: TreeNode[][];
  rows: number;
}

export function searchTree({ tree = [], hypotheses = [] }: SentenceTranslation): SearchTree {
  const nodes: TreeNode[] = [];
  for (const [index, candidate] of tree.entries()) {
    const parent = index === 0 ? undefined : nodes[candidate.parent];
    const node: TreeNode = {
      ...candidate,
      index,
      depth: parent ? parent.depth + 1 : 0,
      row: 0,
      rank: undefined,
      label: labelOf(candidate.text),
      children: [],
    };
    nodes.push(node);
    parent?.children.push(node);
  }
  hypotheses.forEach((hypothesis, rank) => {
    for (const node of pathOf(nodes, hypothesis)) node.rank ??= rank;
  });
  // The way to the best translation is straight and on top; what was dropped comes last.
  const last = hypotheses.length;
  const place = (node: TreeNode) => (node.kept ? (node.rank ?? last) : last + 1);
  const columns: TreeNode[][] = [];
  for (let column = nodes.slice(0, 1); column.length > 0;) {
    column.forEach((node, row) => (node.row = row));
    columns.push(column);
    for (const node of column)
      node.children.sort((a, b) => place(a) - place(b) || b.total - a.total);
    column = column.flatMap(({ children }) => children);
  }
  const rows = columns.reduce((most, { length }) => Math.max(most, length), 0);
  return { nodes, columns, rows };
}

/** From the start token to a translation's last token. */
export function pathOf(nodes: readonly TreeNode[], { tokens }: Hypothesis): TreeNode[] {
  const path = nodes.slice(0, 1);
  for (const { id } of tokens) {
    const next = path.at(-1)?.children.find((child) => child.kept && child.id === id);
    if (!next) break;
    path.push(next);
  }
  return path;
}

/** A token as it is printed by itself: "-" goes before what continues a word. */
export function labelOf(text: string): string {
  if (text.startsWith(' ')) return text.slice(1) || '␣';
  if (isStandIn({ text }, '')) return marked(text);
  return /^\p{L}/u.test(text) ? `-${text}` : text;
}
