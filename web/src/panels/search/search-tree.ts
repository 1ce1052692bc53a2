/** Layout of a beam search as a tree: one column per step, without crossing branches. */
import type { Candidate, Hypothesis, SentenceTranslation, Translation } from 'glassformer';
import { isStandIn, marked } from '../words/tokens.ts';

export const mostBeams = 8;

/** The interface of a view that shows how a translation was found. */
export interface SearchOnView {
  /** The number of beams; 0 uses the model's own settings. */
  readonly beams: number;
  /** The last translation that was searched, with its hypotheses. */
  readonly searched: { result: Translation } | undefined;
  /** Whether a newer translation is shown. */
  readonly outdated: boolean;
  /** The inspected sentence. */
  readonly sentence: number;
  /** The target language, if it is known. */
  readonly target: string;
  /** The number of the sentence's first tokens that the visitor chose. */
  readonly forcedTokens: number;
  /** Whether nothing can be changed yet. */
  readonly frozen: boolean;
  search(beams: number): void;
  /** Forces the sentence's translation to begin with these tokens; none frees it again. */
  force(ids: readonly number[]): void;
}

export interface TreeNode extends Candidate {
  /** Its index in the tree. */
  index: number;
  /** The number of tokens before it; 0 for the start token. */
  depth: number;
  /** The row in its column, from the top. */
  row: number;
  /** The rank of the best finished translation through it, from 0; undefined without one. */
  rank: number | undefined;
  /** The label on the page; "-" marks the continuation of a word. */
  label: string;
  /** The next candidates, best first. */
  children: TreeNode[];
}

export interface SearchTree {
  nodes: TreeNode[];
  /** The nodes by depth, then by row. */
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
  // The path to the best translation is straight and on top; dropped candidates come last.
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

/** Returns the path from the start token to a translation's last token. */
export function pathOf(nodes: readonly TreeNode[], { tokens }: Hypothesis): TreeNode[] {
  const path = nodes.slice(0, 1);
  for (const { id } of tokens) {
    const next = path.at(-1)?.children.find((child) => child.kept && child.id === id);
    if (!next) break;
    path.push(next);
  }
  return path;
}

/** Returns a token's label by itself; "-" marks the continuation of a word. */
export function labelOf(text: string): string {
  if (text.startsWith(' ')) return text.slice(1) || '␣';
  if (isStandIn({ text }, '')) return marked(text);
  return /^\p{L}/u.test(text) ? `-${text}` : text;
}
