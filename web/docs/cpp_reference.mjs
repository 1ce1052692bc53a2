// The reference of the public C++ headers, in Markdown: their comments and declarations, without
// bodies and private parts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../tools/build.mjs';

// The headers, in the order of the reference.
const headers = [
  'glassformer',
  'classifier',
  'token_classifier',
  'question_answerer',
  'mask_filler',
  'embedder',
  'translator',
  'generator',
  'summarizer',
  'chat',
  'image_classifier',
  'zero_shot_image_classifier',
  'text_tokenizer',
  'explainer',
  'explain',
  'text_input',
  'tokens',
  'output',
  'attention',
  'encoder_options',
  'patch',
  'steering',
  'compute',
  'error',
];

// Returns the text of a public header, after the headers of lower layers that it includes.
function textsOf(header) {
  const text = readFileSync(join(root, 'src/glassformer', `${header}.hpp`), 'utf8');
  const lower = [...text.matchAll(/^#include "(?!glassformer\/)(.*)"$/gm)];
  return [...lower.map(([, name]) => readFileSync(join(root, 'src', name), 'utf8')), text];
}

// Forward declarations, and what describes options and results (web/docs/options.md and results.md).
const isInternal =
  /^(class \w+;$|template <(class Visit.*)?>$|inline constexpr (Option|ResultField) |\/\/ )/;

// Returns the declarations of a text: { comment, code }, each with its lines.
function declarationsOf(text) {
  const [, body = ''] = text.match(/^namespace glassformer \{\n([^]*)^\} {2}\/\/ namespace/m) ?? [];
  const found = [];
  for (const block of body.trim().split(/\n\n(?=\S)/)) {
    const lines = block.split('\n').filter((line, i, all) => line || all[i + 1]);
    const code = lines.findIndex((line) => line && !line.startsWith('///'));
    if (code < 0) continue;
    found.push({ comment: lines.slice(0, code), code: lines.slice(code) });
  }
  return found.filter(({ code }) => !isInternal.test(code[0]));
}

// Returns the name of a declaration.
function nameOf(code) {
  const text = code.join('\n');
  const type = text.match(/^(?:struct|enum class|class|using) (\w+)/m);
  return (type ?? text.match(/(\w+)(?: =|\()/))[1];
}

// Removes private members, move operations, destructors and function bodies.
function shown(code) {
  return code
    .join('\n')
    .replace(/\n private:\n[^]*(?=^\};)/m, '\n')
    .replace(/^ +(?:explicit \w+\(std::unique_ptr|.*&&\) noexcept|~).*\n/gm, '')
    .replace(
      /^( *)(\S.*?\)(?: const)?(?: noexcept)?)(?: : .*)? \{(?:.*\}$|\n[^]*?^\1\}$)/gm,
      '$1$2;',
    )
    .replace(/\n{2,}(?=\};|$)/g, '\n')
    .trimEnd();
}

// Converts a comment to prose, and escapes Markdown characters.
function prose(comment) {
  return comment
    .map((line) => line.replace(/^\/\/\/ ?/, ''))
    .join('\n')
    .replace(/`[^`]*`|[*<[\]]/g, (match) => (match.length > 1 ? match : `\\${match}`));
}

/** Returns the page: { page, source, text }. */
export function cppReference() {
  let text = '# C++ reference\n\nEverything is in the namespace `glassformer`.\n';
  for (const header of headers) {
    const file = `src/glassformer/${header}.hpp`;
    text += `\n## ${header}.hpp\n`;
    for (const { comment, code } of textsOf(header).flatMap(declarationsOf)) {
      const name = nameOf(code);
      if (comment.length === 0) throw new Error(`${file}: ${name} has no comment`);
      text += `\n### ${name}\n\n${prose(comment)}\n\n\`\`\`cpp\n${shown(code)}\n\`\`\`\n`;
    }
  }
  return { page: 'cpp-reference.md', source: 'src/glassformer', text };
}
