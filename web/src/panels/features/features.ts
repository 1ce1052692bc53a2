/** Features of a model's dictionaries: what was measured of them, and a graph of them as a picture. */
import type { GenerationExplanations } from 'glassformer';
import { folderOf, type ModelName } from '../../models/models.ts';

export type FeatureGraph = GenerationExplanations['attribution_graph'];
export type GraphNode = FeatureGraph['nodes'][number];
export type GraphEdge = FeatureGraph['edges'][number];

/** The features and errors that the picture shows first. */
export const shownFirst = 18;

/** The folder of a model's dictionaries. */
export const dictionariesOf = (name: ModelName): URL => new URL(`${folderOf(name).href}/features`);

/** A place in a quoted text: its number, the token, and how active the feature is. */
type Place = readonly [text: number, token: number, activation: number];

/** What was measured of a feature on texts that it was not learned from. */
export interface FeatureFacts {
  density: number;
  largest?: number;
  /** The token on which it is active most often, and its share of the tokens that excite it. */
  token?: string;
  share?: number;
  promotes?: string[];
  suppresses?: string[];
  places?: Place[];
}

interface DictionaryFacts {
  explained_variance: number;
  loss_replaced: number;
  loss_recovered: number;
  dead: number;
  single_token: number;
}

export interface Report {
  loss: number;
  all: DictionaryFacts;
  dictionaries: (DictionaryFacts & { writes: string })[];
}

interface Interval {
  mean: number;
}

/** How well graphs of many texts predicted what features do. */
export interface MeasuredGraphs {
  texts: number;
  /** By the layer of the feature that was set to zero. */
  first: { correlation: Interval };
  later: { correlation: Interval };
}

async function fetched<T>(name: ModelName, file: string): Promise<T> {
  const response = await fetch(`${dictionariesOf(name).href}/${file}`);
  if (!response.ok) throw new Error(`${file}: ${response.status}`);
  return (await response.json()) as T;
}

/** What was measured of a model's features. Each file is fetched once, when it is needed. */
export class MeasuredFeatures {
  readonly #name: ModelName;
  readonly #files = new Map<string, Promise<unknown>>();

  constructor(name: ModelName) {
    this.#name = name;
  }

  #file<T>(file: string): Promise<T> {
    const known = this.#files.get(file) ?? fetched<T>(this.#name, file);
    this.#files.set(file, known);
    known.catch(() => this.#files.delete(file)); // another time, it may be there
    return known as Promise<T>;
  }

  report(): Promise<Report> {
    return this.#file('report.json');
  }
  graphs(): Promise<MeasuredGraphs> {
    return this.#file('graphs.json');
  }
  /** Quoted texts, as tokens. */
  texts(): Promise<string[][]> {
    return this.#file('texts.json');
  }
  /** Returns what was measured of the features that write to a tensor. */
  async of(tensor: string): Promise<FeatureFacts[]> {
    const { dictionaries } = await this.report();
    const index = dictionaries.findIndex(({ writes }) => writes === tensor);
    return (await this.#file<{ features: FeatureFacts[] }>(`features-${index}.json`)).features;
  }
}

/** The layer of a node, from 0; the embeddings' is -1. */
export const layerOf = ({ kind, name }: GraphNode): number =>
  kind === 'embedding' ? -1 : Number(name.split('.')[2]);

export const keyOf = ({ kind, name, row, feature }: GraphNode): string =>
  [kind, name, row, feature].join(' ');

/**
 * Returns a few words for a feature: the token that excites it most often. Of the later layers, whose
 * features write more directly to the answer, the token that it makes likeliest, unless it is about one
 * token.
 */
export function shortName(facts: FeatureFacts | undefined, late: boolean): string {
  const { token, share = 0, promotes: [promoted] = [] } = facts ?? {};
  if (late && share <= 0.5 && promoted !== undefined) return `→ ${promoted.trim() || promoted}`;
  if (token === undefined) return '';
  return `${token.trim() || token}${share > 0.5 ? '' : ', …'}`;
}

export interface DrawnNode {
  key: string;
  index: number;
  node: GraphNode;
  x: number;
  y: number;
}
export interface DrawnEdge {
  key: string;
  edge: GraphEdge;
  path: string;
  width: number;
}
export interface Picture {
  width: number;
  height: number;
  nodes: DrawnNode[];
  edges: DrawnEdge[];
  /** The place of each row's token. */
  columns: { row: number; x: number }[];
  layers: { layer: number; y: number }[];
}

/**
 * Places the nodes of a graph: the rows from left to right, layers from the embeddings below to the
 * answer above. `count`: of features and errors, those with the most influence.
 */
export function drawn(
  { nodes, edges }: Pick<FeatureGraph, 'nodes' | 'edges'>,
  count: number,
): Picture {
  const answer = nodes.length - 1;
  const inner = nodes
    .map((node, index) => ({ node, index }))
    .filter(({ node }) => node.kind === 'feature' || node.kind === 'error')
    .sort((a, b) => b.node.influence - a.node.influence)
    .slice(0, count);
  const kept = new Set([answer, ...inner.map(({ index }) => index)]);
  const between = edges
    .filter(({ from, to }) => kept.has(to) && (kept.has(from) || nodes[from]!.kind === 'embedding'))
    .slice(0, 3 * count);
  for (const { from } of between) kept.add(from);
  const rows = [...new Set([...kept].map((index) => nodes[index]!.row))].sort((a, b) => a - b);
  const last = 1 + Math.max(-1, ...inner.map(({ node }) => layerOf(node)));
  const level = (node: GraphNode) => (node.kind === 'answer' ? last : layerOf(node)) + 1;
  // Nodes of a row and layer stand side by side.
  const cells = new Map<string, number[]>();
  for (const index of [...kept].sort((a, b) => a - b)) {
    const node = nodes[index]!;
    const cell = `${node.row} ${level(node)}`;
    cells.set(cell, [...(cells.get(cell) ?? []), index]);
  }
  const [step, margin, line, least] = [26, 24, 58, 64];
  const widths = rows.map((row) =>
    Math.max(
      least,
      ...[...cells]
        .filter(([cell]) => cell.startsWith(`${row} `))
        .map(([, list]) => step * list.length + 8),
    ),
  );
  const lefts = widths.map((_, i) => margin + widths.slice(0, i).reduce((sum, w) => sum + w, 0));
  const height = margin * 2 + line * (last + 1);
  const y = (at: number) => height - margin - at * line;
  const places = new Map<number, { x: number; y: number }>();
  for (const [cell, list] of cells) {
    const [row, at] = cell.split(' ').map(Number) as [number, number];
    const column = rows.indexOf(row);
    const middle = lefts[column]! + widths[column]! / 2;
    for (const [i, index] of list.entries())
      places.set(index, { x: middle + (i - (list.length - 1) / 2) * step, y: y(at) });
  }
  const most = Math.max(1e-9, ...between.map(({ influence }) => influence));
  return {
    width: lefts.at(-1)! + widths.at(-1)! + margin,
    height,
    nodes: [...places].map(([index, place]) => ({
      key: keyOf(nodes[index]!),
      index,
      node: nodes[index]!,
      ...place,
    })),
    edges: between.map((edge) => {
      const [from, to] = [places.get(edge.from)!, places.get(edge.to)!];
      const bend = (to.y - from.y) / 2;
      return {
        key: `${edge.from}>${edge.to}`,
        edge,
        path: `M${from.x} ${from.y}C${from.x} ${from.y + bend} ${to.x} ${to.y - bend} ${to.x} ${to.y}`,
        width: 0.75 + (4 * edge.influence) / most,
      };
    }),
    columns: rows.map((row, i) => ({ row, x: lefts[i]! + widths[i]! / 2 })),
    layers: Array.from({ length: last }, (_, layer) => ({ layer, y: y(layer + 1) })),
  };
}
