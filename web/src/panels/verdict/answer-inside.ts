/** Links to the view Inside at one of a model's answers. */
import { hashFor, type Link } from '../../ui/link.ts';

/** Stands for the tensor of the model's answers in a link to a number. */
export const answers = 'answer';

/** Returns the address of an answer: a label or a token, by its number, of what `link` describes. */
export const answerInside = (index: number, link: Link): string =>
  hashFor('inside', { ...link, number: `${answers}:${index}` });
