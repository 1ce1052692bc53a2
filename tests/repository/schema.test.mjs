// What is written from the options of the core: see tools/schema.mjs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../tools/run.mjs';
import { written } from '../../tools/schema.mjs';

const command = join(root, 'build/test/glassformer');
const schema = JSON.parse(execFileSync(command, ['schema'], { encoding: 'utf8' }));

test('types, lists and tables say what the core says', async () => {
  for (const [file, text] of Object.entries(await written(command)))
    assert.equal(
      readFileSync(join(root, file), 'utf8'),
      text,
      `${file}: run node tools/schema.mjs`,
    );
});

test('every option says what it does, and its default is within its range', () => {
  for (const [name, { properties }] of Object.entries(schema.$defs)) {
    for (const [option, property] of Object.entries(properties)) {
      const {
        description = '',
        minimum = -Infinity,
        maximum = Infinity,
        default: usual,
      } = property;
      assert.match(description, /^[A-Z].*\.$/, `${name}.${option}`);
      if (typeof usual === 'number')
        assert.ok(usual >= minimum && usual <= maximum, `${name}.${option}`);
    }
  }
});

test('help names only options that exist', () => {
  for (const [name, { properties }] of Object.entries(schema.$defs)) {
    for (const { description, absent = '' } of Object.values(properties)) {
      for (const [, other] of `${description} ${absent}`.matchAll(/`(\w+)`/g))
        assert.ok(Object.hasOwn(properties, other), `${name}: ${other}`);
    }
  }
});

test('the help of a command says of each option what the schema says', () => {
  const help = execFileSync(command, ['help', 'train'], { encoding: 'utf8' }).replace(/\s+/g, ' ');
  for (const [option, property] of Object.entries(schema.$defs.TrainingOptions.properties)) {
    const flag = (name) => `--${name.replaceAll('_', '-')}`;
    const said = property.description.replace(/`(\w+)`/g, (_, other) => flag(other));
    assert.ok(help.includes(`${flag(option)} `), option);
    assert.ok(help.includes(said), said);
  }
});
