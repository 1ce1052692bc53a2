/** What can be said of a model's files before they are loaded. */
import { containerName, type ChosenFiles } from '../../models/model-files.ts';
import { isTask, type TaskName } from './model-tasks.ts';

export interface FoundModel {
  /** As config.json has them. */
  family: string | undefined;
  architecture: string | undefined;
  /** What it is for, as far as that tells. */
  task: TaskName | undefined;
  /** Of all files, in bytes. */
  size: number;
  tensors: number;
  /** In all tensors. */
  numbers: number;
  /** How they are stored, such as F16. */
  types: string[];
}

/** What a family is for; of the others the architecture's name says it. */
const tasksOfFamilies: Record<string, TaskName> = {
  marian: 'translation',
  gpt2: 'text-generation',
  t5: 'text2text-generation',
  mt5: 'text2text-generation',
};
const tasksOfHeads: readonly [RegExp, TaskName][] = [
  [/ForSequenceClassification$/, 'text-classification'],
  [/ForTokenClassification$/, 'token-classification'],
  [/ForQuestionAnswering$/, 'question-answering'],
  [/ForCausalLM$/, 'text-generation'],
  [/(Model|ForMaskedLM|ForPreTraining)$/, 'feature-extraction'],
];

/** Longer ones are not what their name says. */
const longest = 100_000_000;

export async function describe(files: ChosenFiles): Promise<FoundModel> {
  const config = await json(files['config.json']);
  const { model_type, architectures } = config;
  const family = typeof model_type === 'string' ? model_type : '';
  const architecture = Array.isArray(architectures) ? String(architectures[0]) : undefined;
  const container = Object.keys(files).find((name) => containerName.test(name));
  const firefox = container !== undefined && !files['config.json'];
  const said = String(firefox ? 'translation' : config['task']);
  const weights = await weightsIn(files);
  const tensors = firefox
    ? await tensorsInContainer(files[container]!)
    : (await Promise.all(weights.map((file) => tensorsIn(file)))).flat();
  return {
    family: firefox ? 'Firefox translator' : family || undefined,
    architecture,
    task: isTask(said) ? said : taskOf(family, architecture, Boolean(files['modules.json'])),
    size: Object.values(files).reduce((sum, { size }) => sum + size, 0),
    tensors: tensors.length,
    numbers: tensors.reduce((sum, { numbers }) => sum + numbers, 0),
    types: [...new Set(tensors.map(({ type }) => type))],
  };
}

function taskOf(family: string, architecture = '', hasModules: boolean): TaskName | undefined {
  const task = tasksOfFamilies[family];
  // T5's encoder alone gives vectors, where the folder or the architecture says so.
  const encoder = hasModules || architecture.endsWith('EncoderModel');
  if (task === 'text2text-generation' && encoder) return 'feature-extraction';
  return task ?? tasksOfHeads.find(([end]) => end.test(architecture))?.[1];
}

/** Memory that the weights take, in bytes: about, as a model may leave some of them out. */
export const memoryOf = ({ numbers }: FoundModel, compute: 'f32' | 'int8'): number =>
  numbers * (compute === 'f32' ? 4 : 1);

/** One file, those that an index names, or all that look like weights. */
async function weightsIn(files: ChosenFiles): Promise<File[]> {
  const whole = files['model.safetensors'];
  if (whole) return [whole];
  const { weight_map: map } = await json(files['model.safetensors.index.json']);
  const named = new Set(Object.values(map ?? {}).map(String));
  return Object.entries(files)
    .filter(([name]) => (named.size > 0 ? named.has(name) : /^[^/]*\.safetensors$/.test(name)))
    .map(([, file]) => file);
}

/** A header of the safetensors format: its length in eight bytes, then JSON. */
async function tensorsIn(file: File): Promise<{ type: string; numbers: number }[]> {
  const prefix = new DataView(await file.slice(0, 8).arrayBuffer());
  if (prefix.byteLength < 8) return [];
  const length = Number(prefix.getBigUint64(0, true));
  if (length > longest) return [];
  const header = await json(file.slice(8, 8 + length));
  return Object.entries(header).flatMap(([name, tensor]) => {
    const { dtype, shape } = (tensor ?? {}) as { dtype?: unknown; shape?: unknown };
    if (name === '__metadata__' || !Array.isArray(shape)) return [];
    return [{ type: String(dtype), numbers: shape.map(Number).reduce((a, b) => a * b, 1) }];
  });
}

const types = new Map([
  [0x404n, 'F32'],
  [0x402n, 'F16'],
  [0x4101n, 'I8'],
]);

/**
 * The header of Firefox's container: version and count, then of each tensor its name's length, type,
 * number of dimensions and bytes; then the names, and the shapes.
 */
async function tensorsInContainer(file: File): Promise<{ type: string; numbers: number }[]> {
  const words = async (from: number, count: number) =>
    new BigUint64Array(await file.slice(8 * from, 8 * (from + count)).arrayBuffer());
  if (file.size < 16) return [];
  const [version, count = 0n] = await words(0, 2);
  if (version !== 1n || count * 32n > Math.min(file.size, longest)) return [];
  const entries = await words(2, 4 * Number(count));
  const entry = (i: number) => entries.subarray(4 * i, 4 * i + 4);
  const sumOf = (field: number) =>
    Array.from({ length: Number(count) }, (_, i) => Number(entry(i)[field])).reduce(
      (a, b) => a + b,
      0,
    );
  const begin = 16 + 32 * Number(count) + sumOf(0);
  const end = begin + 4 * sumOf(2);
  if (!(end <= Math.min(file.size, longest))) return [];
  const dimensions = new Int32Array(await file.slice(begin, end).arrayBuffer());
  const tensors = [];
  for (let i = 0, at = 0; i < count; ++i) {
    const [, type, rank] = entry(i);
    const shape = dimensions.subarray(at, (at += Number(rank)));
    const known = types.get(type!);
    // The configuration is one of them.
    if (known) tensors.push({ type: known, numbers: shape.reduce((a, b) => a * b, 1) });
  }
  return tensors;
}

/** Whatever is no object is an empty one: the package says what is wrong with it. */
async function json(file: Blob | undefined): Promise<Record<string, unknown>> {
  if (!file || file.size > longest) return {};
  try {
    const value: unknown = JSON.parse(await file.text());
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
