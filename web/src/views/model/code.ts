const opening = [
  `// From an <input type="file" webkitdirectory>; a folder’s URL or a hub name works, too.`,
  `const input = document.querySelector('input[type=file]');`,
  `const named = (file) => [file.webkitRelativePath.replace(/^[^/]*\\//, ''), file];`,
  `const model = await load(Object.fromEntries([...input.files].map(named)));`,
];

/** Returns the JavaScript that opens a chosen model and talks with it. */
export function chatCode(): string {
  return [
    `import { load } from 'glassformer';`,
    `import { Chat } from 'glassformer/chat';`,
    ``,
    ...opening,
    `const chat = new Chat(model);`,
    `for await (const { text } of chat.stream('Why is the sky blue?')) console.log(text);`,
  ].join('\n');
}

/** Returns the JavaScript that opens a chosen model and calls it. */
export function ownModelCode(call: string, before: readonly string[] = []): string {
  return [
    `import { load } from 'glassformer';`,
    ``,
    ...opening,
    ...before,
    `const options = { attention: true };`,
    `const result = await model.${call};`,
  ].join('\n');
}
