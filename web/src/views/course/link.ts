/** The course's state in a link. */
import type { Link } from '../../ui/link.ts';
import { lessonNamed, teachers } from './lessons.ts';

export const firstText = 'The plot is not good, but I loved every minute.';

/** The length limit for a text: pictures of longer ones would not fit. */
export const longest = 160;

export interface CourseLink {
  /** The lesson's name, or `teachers`. */
  lesson: string;
  text: string;
  /** The value of the lesson's control; undefined if it was not changed. */
  setting: number | undefined;
  /** Whether only the question and the picture are shown, large: for a projector. */
  large?: boolean;
}

export function toCourseLink({ lesson, text, setting, large }: CourseLink): Link {
  return {
    lesson,
    text,
    ...(setting !== undefined && { set: `${setting}` }),
    ...(large && { large: '1' }),
  };
}

/** Reads a link; skips malformed values. */
export function fromCourseLink({ lesson, text, set, large }: Link): Partial<CourseLink> {
  const number = /^-?\d{1,6}(\.\d{1,6})?$/.test(set ?? '') ? Number(set) : undefined;
  return {
    ...(lesson !== undefined && {
      lesson: lesson === teachers ? teachers : lessonNamed(lesson).name,
      setting: number,
      ...(large === '1' && { large: true }),
    }),
    ...(text !== undefined && { text }),
  };
}

/** Returns the part of a text that the lessons read: as many whole words as fit. */
export function shortened(text: string): string {
  if (text.length <= longest) return text;
  const cut = text.slice(0, longest + 1).replace(/\s+\S*$/, '');
  return cut.length > longest ? cut.slice(0, longest) : cut;
}
