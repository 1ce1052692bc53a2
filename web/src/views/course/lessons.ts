/**
 * The table of lessons, in their order.
 *
 * To add a lesson:
 * 1. Make a folder lessons/NAME with `lesson.ts`, `Picture.svelte`, `pytorch.py` and `javascript.js`.
 * 2. Add one line to the table below. Its `load` fetches the lesson only when it is opened.
 * 3. `lesson.ts` exports by default what `lesson({ … })` of ../../lesson.ts checks: the claim, the
 *    model, `read`, the prediction, the picture, the formula, the code, the change, the paper and an
 *    exercise for teachers. Start from a copy of lessons/softmax.
 * 4. `read({ model, text, setting, signal })` computes everything the picture shows, with the
 *    package's own calls (`trace`, `patch`). It runs again if the text or the setting changes. Its
 *    result is `live`. Do not store answers: all that the lesson says is computed from `live`.
 * 5. `Picture.svelte` gets `{ live, setting, onset }`. Parts of it that a symbol of the formula stands
 *    for have `data-symbol="NAME"`, in the formula `marked('NAME', …)`: they light up together.
 *    Use ../../pictures (Matrix, Bars, TokenRow, Verdict). Shapes stand beside matrices.
 * 6. `javascript.js` exports `run(model, text)`, which returns the lines to print. The lesson imports
 *    it twice: with `?raw` to show it, and as a module to run it. At least one number in the picture
 *    has `data-printed` and is printed by `run` with the same digits; a test compares them.
 * 7. C++: `import lines from 'source:src/FILE#FUNCTION'`. The build fails if there is no such function.
 * 8. Prose marks terms: "[token]" or "[tokens|token]". The words are in ui/text/glossary.ts; mark a
 *    term where it first stands in the lesson.
 * 9. Layers, heads and positions count from 1 for people, from 0 in code.
 * 10. The test in test/course.browser.test.mjs visits every lesson in the table by itself. Run
 *     `node --test web/src/views/course/test/course.browser.test.mjs` after a build.
 */
import type { LessonEntry } from './lesson.ts';

export const lessons: readonly LessonEntry[] = [
  {
    name: 'tokens',
    parts: ['tokens'],
    title: 'Tokens and ids',
    question: 'How does a text become numbers?',
    load: () => import('./lessons/tokens/lesson.ts'),
  },
  {
    name: 'embeddings',
    parts: ['embedding'],
    title: 'Embeddings',
    question: 'How can a number stand for a word?',
    load: () => import('./lessons/embeddings/lesson.ts'),
  },
  {
    name: 'positions',
    parts: ['positions'],
    title: 'Positional encoding',
    question: 'How does the model know the order of the words?',
    load: () => import('./lessons/positions/lesson.ts'),
  },
  {
    name: 'attention',
    parts: ['attention'],
    title: 'One attention head',
    question: 'How does a token choose what to look at?',
    load: () => import('./lessons/attention/lesson.ts'),
  },
  {
    name: 'softmax',
    parts: ['attention'],
    title: 'Softmax and √d',
    question: 'Why divide by √d before the softmax?',
    load: () => import('./lessons/softmax/lesson.ts'),
  },
  {
    name: 'heads',
    parts: ['attention'],
    title: 'Many heads',
    question: 'Why eight heads and not one?',
    load: () => import('./lessons/heads/lesson.ts'),
  },
  {
    name: 'residuals',
    parts: ['add', 'norm'],
    title: 'Residuals and layer norm',
    question: 'What does a layer add?',
    load: () => import('./lessons/residuals/lesson.ts'),
  },
  {
    name: 'feed-forward',
    parts: ['feed'],
    title: 'Feed-forward',
    question: 'What do 512 hidden units look for?',
    load: () => import('./lessons/feed-forward/lesson.ts'),
  },
  {
    name: 'verdict',
    parts: ['answer', 'norm'],
    title: 'Encoder, pooling, verdict',
    question: 'How do many vectors become one verdict?',
    load: () => import('./lessons/verdict/lesson.ts'),
  },
  {
    name: 'decoder',
    parts: ['tokens', 'attention'],
    stack: 'decoder',
    title: 'Decoder and mask',
    question: 'Why may the decoder not look ahead?',
    load: () => import('./lessons/decoder/lesson.ts'),
  },
  {
    name: 'translation',
    parts: ['cross', 'answer'],
    stack: 'decoder',
    title: 'Cross-attention and beams',
    question: 'How does a translation find its words?',
    load: () => import('./lessons/translation/lesson.ts'),
  },
  {
    name: 'training',
    parts: ['answer'],
    title: 'Training',
    question: 'How does a model learn, and what goes wrong?',
    load: () => import('./lessons/training/lesson.ts'),
  },
  {
    name: 'families',
    parts: ['attention', 'feed'],
    title: 'GPT, BERT, T5, ViT',
    question: 'How can one block be GPT, BERT, T5 and ViT?',
    load: () => import('./lessons/families/lesson.ts'),
  },
  {
    name: 'explanation',
    parts: ['attention', 'answer'],
    title: 'Attention as explanation',
    question: 'Is attention an explanation?',
    load: () => import('./lessons/explanation/lesson.ts'),
  },
  {
    name: 'why',
    parts: ['attention'],
    title: 'What a score is made of',
    question: 'Why does it look there?',
    load: () => import('./lessons/why/lesson.ts'),
  },
];

/** The page for teachers, which has a name like a lesson. */
export const teachers = 'teachers';

/** Returns the lesson with this name, or the first one. */
export const lessonNamed = (name: string | undefined): LessonEntry =>
  lessons.find((each) => each.name === name) ?? lessons[0]!;
