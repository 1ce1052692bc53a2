type Attributes = Readonly<Record<string, string | number>>;

/** Creates an element with attributes and children, without parsing markup, which policies may forbid. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, `${value}`);
  element.append(...children);
  return element;
}

/** Places an element by custom properties, because a policy may forbid `style` attributes. */
export function place(element: HTMLElement, values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values)) {
    element.style.setProperty(`--_${name}`, `${value}`);
  }
}

/** Returns an attention weight as text. */
export const weightText = (value: number): string =>
  value === 0 ? '0' : value < 0.0005 ? '<0.001' : value.toFixed(3);
