/** Known mistakes in translations of the course's own sentence: not every reader knows German. */

/** Returns a sentence, or undefined if no mistake is known. */
export const mistakeIn = (translation: string): string | undefined =>
  translation.includes('Diagramm')
    ? 'This is wrong: the plot of a film is “die Handlung”; “das Diagramm” is a drawing with axes. The model was trained on few texts about films.'
    : undefined;
