/** Keeps a value chosen in a list, whatever options come and go. */
export const selects =
  (value: string | number, ...options: readonly unknown[]) =>
  (select: HTMLSelectElement): void => {
    void options;
    select.value = `${value}`;
  };
