/** Scrolls a row sideways so that an element of it is in sight. */
export function nearest(element: HTMLElement): void {
  const row = element.closest<HTMLElement>('.stacks');
  if (!row || row.scrollWidth <= row.clientWidth) return;
  const { left, width } = element.getBoundingClientRect();
  const frame = row.getBoundingClientRect();
  row.scrollLeft += left + width / 2 - frame.left - frame.width / 2;
}
