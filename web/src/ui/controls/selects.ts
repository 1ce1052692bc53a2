/** Keeps a value selected in a list when its options change. */
export const selects =
  (value: string | number, ...options: readonly unknown[]) =>
  (select: HTMLSelectElement): void => {
    void options;
    select.value = `${value}`;
  };
