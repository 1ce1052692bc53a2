// A reporter for Node's test runner: one line of JSON per test, for programs.mjs.

const summary = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

/** Returns the message of a failed test, with the lines of the stack that are ours. */
function messageOf({ error }) {
  const cause = error?.cause ?? error;
  const text = String(cause?.stack ?? cause);
  return text
    .split('\n')
    .filter((line) => !/^ +at .*\(?node:/.test(line))
    .join('\n');
}

export default async function* reporter(source) {
  for await (const { type, data } of source) {
    if (type === 'test:diagnostic') {
      if (!summary.test(data.message)) yield `${JSON.stringify({ note: data.message })}\n`;
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.details.type === 'suite') continue;
    const test = { name: data.name, file: data.file };
    if (data.skip !== undefined) test.skipped = data.skip;
    else if (type === 'test:fail') {
      test.failed = messageOf(data.details);
      // The failed tests inside this one are reported, too.
      test.isParent = data.details.error?.failureType === 'subtestsFailed';
    }
    yield `${JSON.stringify(test)}\n`;
  }
}
