import type { Example } from '../../ui/controls/example.ts';

/** Example reviews, each with something to notice. */
export const examples: readonly Example[] = [
  {
    name: 'Praise',
    text: 'A gripping, beautifully shot film.',
    notice:
      '“gripping” and “beautifully” decide it. Neutral words matter, too: without “A” the model would be even more confident.',
  },
  {
    name: 'Negation',
    text: 'The plot is not good at all, and I would never watch it again.',
    notice:
      '“not” reverses “good”: hide “not”, and the verdict is positive. “never” by itself hardly matters.',
  },
  {
    name: 'Contrast',
    text: 'A great cast and a lovely score, but the script is dreadful.',
    notice:
      '“dreadful” outweighs both words of praise before “but”: hide this one word, and the verdict is positive.',
  },
  {
    name: 'Short',
    text: 'Meh.',
    notice:
      'The vocabulary lacks “Meh”: it is split into “Me” and “h”, and only “h” speaks for negative. So the model is unsure.',
  },
  {
    name: 'Product',
    text: 'Stopped working after two weeks. The strap broke and nobody answers my emails.',
    notice: 'No word here says “good” or “bad”. “Stopped” has the largest effect.',
  },
  {
    name: 'Long review',
    text:
      'I went in expecting very little. The trailer made it look like one more story about a ' +
      'retired detective with one last case, and the first twenty minutes do nothing to suggest ' +
      'otherwise: rain, a bottle, a photograph of somebody’s daughter. The dialogue is stiff and ' +
      'the music tells you what to feel before anything has happened.\n\n' +
      'Then something odd takes place. The film slows down, stops explaining itself and starts to ' +
      'look at people. There is a long scene in a laundrette, two strangers folding sheets and ' +
      'saying almost nothing, that is funnier and sadder than anything I have seen this year. ' +
      'From there on it hardly puts a foot wrong. The lead actor, whom I had written off years ' +
      'ago, is quietly superb; the camera gives her time, and she uses all of it.\n\n' +
      'It is not perfect. The ending is rushed, a subplot about the brother goes nowhere, and I ' +
      'could have done without the dog. But I walked home the long way because I did not want it ' +
      'to be over, and I cannot remember the last time a film did that to me. Forgive the opening, ' +
      'be patient with it, and you will be glad that you stayed.',
    notice:
      'The model is wrong: this is warm praise. “nowhere” and “stiff” count most against it, each more than the whole last sentence counts in favor.',
  },
];
