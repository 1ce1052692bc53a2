/** The JavaScript that opens a chosen model and asks it. */
export function ownModelCode(call: string): string {
  return [
    `import { load } from 'glassformer';`,
    ``,
    `// Of an <input type="file" webkitdirectory>; a folder’s URL or a name on a hub will do as well.`,
    `const input = document.querySelector('input[type=file]');`,
    `const named = (file) => [file.webkitRelativePath.replace(/^[^/]*\\//, ''), file];`,
    `const model = await load(Object.fromEntries([...input.files].map(named)));`,
    `const options = { attention: true };`,
    `const result = await model.${call};`,
  ].join('\n');
}
