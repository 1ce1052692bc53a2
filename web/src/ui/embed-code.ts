/** HTML that embeds a view in another page. */

const attribute = (value: string) => value.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

export const embedCode = (address: string, heading: string): string =>
  [
    `<iframe`,
    `  src="${attribute(address)}"`,
    `  title="${attribute(`Glassformer: ${heading}`)}"`,
    `  width="100%"`,
    `  height="900"`,
    `  style="border: 0"`,
    `  loading="lazy"`,
    `  allow="clipboard-write"`,
    `></iframe>`,
  ].join('\n');
