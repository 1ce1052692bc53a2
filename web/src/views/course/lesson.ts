/** The parts of a lesson. See lessons.ts on how to add one. */
import type { Part, StackName } from '../../ui/figured.ts';
import type { Classifier, Generator, ImageClassifier, Translator } from 'glassformer';
import type { Component } from 'svelte';
import type { Maths } from '../../ui/formula/formula.ts';
import type { SourceLines } from '../../../build/cpp-definition.ts';

/** The models that lessons use, by the names of their folders. */
export interface Models {
  sentiment: Classifier;
  writer: Generator;
  'en-de': Translator;
  digits: ImageClassifier;
}
export type CourseModel = keyof Models;

/** The input of a lesson's picture. */
export interface Reading<Name extends CourseModel = CourseModel> {
  model: Models[Name];
  text: string;
  /** The value of the lesson's control. */
  setting: number;
  /** Aborted if the text or the setting changes. Pass it to every call of a model. */
  signal: AbortSignal;
  /** Loads another model, which stays loaded. */
  open<Other extends CourseModel>(name: Other): Promise<Models[Other]>;
}

/** Words in which [token] or [tokens|token] is a term of the glossary. */
export type Prose = string;

/** A question to answer before looking at the picture. */
export interface Prediction<Live> {
  question: (live: Live) => Prose;
  /** The choices, in order; without them a number has to be typed. */
  choices?: (live: Live) => readonly string[];
  /** The unit of a number. */
  unit?: string;
  /** The right choice or number, computed from what the picture shows, and why. */
  answer: (live: Live) => { right: number; why: Prose };
}

/** A symbol of the formula. It lights up the parts of the picture with the same `data-symbol`. */
export interface FormulaSymbol<Live> {
  /** The name in `data-symbol` and in `marked(name, …)`. */
  name: string;
  maths: Maths;
  /** Its meaning and its shape. */
  means: (live: Live) => string;
}

export interface Code {
  /** The way a tutorial writes it. */
  pytorch: string;
  /** The lines of src that compute it here. */
  cpp: readonly SourceLines[];
  /** The source of `run`. */
  javascript: string;
  /** Runs in the page; resolves to the lines that it prints. */
  run: (model: never, text: string) => Promise<readonly string[]>;
}

/** The control of a lesson. Its value is a number. */
export type Control<Live> =
  | { kind: 'switch'; label: string }
  | {
      kind: 'slider';
      label: string;
      min: number;
      max: number;
      step: number;
      shown: (value: number) => string;
    }
  | {
      kind: 'choice';
      label: string;
      /** All values, with or without a picture. */
      options: (live: Live | undefined) => readonly { value: number; text: string }[];
    };

/** Returns the setting that a control allows for a value from a link. */
export function allowed(control: Control<unknown>, value: number, initial: number): number {
  if (control.kind === 'switch') return value === 0 ? 0 : 1;
  if (control.kind === 'slider') return Math.max(control.min, Math.min(control.max, value));
  return control.options(undefined).some((option) => option.value === value) ? value : initial;
}

export interface Change<Live> {
  control: Control<Live>;
  initial: number;
  /** The instruction: something to try and to watch. */
  task: Prose;
  /** The effect of the change, in numbers. */
  told: (live: Live, setting: number) => Prose;
}

/** A place in a paper. */
export interface Reference {
  /** For example "Attention Is All You Need, section 3.4". */
  where: string;
  url: string;
  /** Its statement, in our words. */
  says: Prose;
}

export interface Exercise {
  task: Prose;
  solution: Prose;
}

export interface Lesson<Live = unknown, Name extends CourseModel = CourseModel> {
  /** Two or three sentences. */
  claim: readonly Prose[];
  model: Name;
  /** Computes what the picture shows. */
  read: (reading: Reading<Name>) => Promise<Live>;
  prediction: Prediction<Live>;
  Picture: Component<{ live: Live; setting: number; onset: (setting: number) => void }>;
  /** One line above the picture: its contents. */
  caption: (live: Live) => Prose;
  formula: {
    lines: readonly Maths[];
    /** The lines in words, for a screen reader. */
    readings: readonly string[];
    symbols: readonly FormulaSymbol<Live>[];
  };
  code: Code;
  change: Change<Live>;
  paper: readonly Reference[];
  exercise: Exercise;
}

/** Checks a lesson. The course handles all lessons alike. */
export const lesson = <Live, Name extends CourseModel>(checked: Lesson<Live, Name>): Lesson =>
  checked as unknown as Lesson;

/** A line in the table of lessons. */
export interface LessonEntry {
  /** The parts of the figure that it is about. */
  parts: readonly Part[];
  /** The stack with these parts; by default all. */
  stack?: StackName;
  /** The name in the address, and the folder. */
  name: string;
  title: string;
  /** The heading. */
  question: string;
  load: () => Promise<{ default: Lesson }>;
}

export const attention = 'Attention Is All You Need';
export const arxiv = (id: string): string => `https://arxiv.org/abs/${id}`;
