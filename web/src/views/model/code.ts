/** Returns the JavaScript that opens a chosen model and calls it. */
export function ownModelCode(call: string, before: readonly string[] = []): string {
  return [
    `import { load } from 'glassformer';`,
    ``,
    `// From an <input type="file" webkitdirectory>; a folder’s URL or a hub name works, too.`,
    `const input = document.querySelector('input[type=file]');`,
    `const named = (file) => [file.webkitRelativePath.replace(/^[^/]*\\//, ''), file];`,
    `const model = await load(Object.fromEntries([...input.files].map(named)));`,
    ...before,
    `const options = { attention: true };`,
    `const result = await model.${call};`,
  ].join('\n');
}
