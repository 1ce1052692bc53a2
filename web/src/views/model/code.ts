const opening = [
  `// From an <input type="file" webkitdirectory>; a folder’s URL or a hub name works, too.`,
  `const input = document.querySelector('input[type=file]');`,
  `const named = (file) => [file.webkitRelativePath.replace(/^[^/]*\\//, ''), file];`,
  `const model = await load(Object.fromEntries([...input.files].map(named)));`,
];

const openingOf = (hub: string | undefined) =>
  hub === undefined ? opening : [`const model = await load('hf:${hub}', { cache: true });`];

/** Returns the JavaScript that opens a chosen model, of a hub if it has a name, and talks with it. */
export function chatCode(hub?: string): string {
  return [
    `import { load } from 'glassformer';`,
    `import { Chat } from 'glassformer/chat';`,
    ``,
    ...openingOf(hub),
    `const chat = new Chat(model);`,
    `for await (const { text } of chat.stream('Why is the sky blue?')) console.log(text);`,
  ].join('\n');
}

/** Returns the JavaScript that opens a chosen model and calls it. */
export function ownModelCode(call: string, before: readonly string[] = [], hub?: string): string {
  return [
    `import { load } from 'glassformer';`,
    ``,
    ...openingOf(hub),
    ...before,
    `const options = { attention: true };`,
    `const result = await model.${call};`,
  ].join('\n');
}
