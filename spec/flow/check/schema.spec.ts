// The JSON Schema of flow files, which editors use to complete and check: valid files pass, also within `pipe`.

import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test from 'ava';
import JSON5 from 'json5';
import { flowFileJsonSchema } from '../../../lib/flow/check/schema.ts';
import { connectionTypes } from '../../support/connection-types.ts';
import { readMark } from '../../support/mistakes/mistake.ts';
import { mistakes } from '../../support/mistakes/mistakes.ts';

const validate = new Ajv2020({ strict: false }).compile(flowFileJsonSchema(connectionTypes));
const flows = join(resolve(import.meta.dirname, '../../..'), 'flows');
const withStep = (step: object) => ({ rules: [{ from: 'desk/a', pipe: [step], to: 'desk/b' }] });

for (const throttleTime of [100, '100ms', { duration: 100 }, { duration: '1s', trailing: true }])
  test(`throttleTime may be ${JSON.stringify(throttleTime)}`, (t) => t.true(validate(withStep({ throttleTime }))));

for (const step of [{ throttleTime: { trailing: true } }, { throttleTime: true }, { debounce: 50 }, { skip: -1 }])
  test(`${JSON.stringify(step)} is not a step`, (t) => t.false(validate(withStep(step))));

const held = mistakes.flatMap(({ title, text, schema }) => {
  try {
    return [{ title, schema, isMarked: !validate(JSON5.parse(readMark(text).text)) }];
  } catch {
    return []; // it is no JSON5
  }
});

test('an editor marks the errors of authors, except those that a schema cannot know', (t) => {
  t.deepEqual(
    held.filter(({ schema, isMarked }) => isMarked !== (schema !== 'cannot')).map(({ title }) => title),
    [],
  );
  t.log(`${held.filter(({ isMarked }) => isMarked).length} of ${held.length} that JSON can hold`);
  t.true(held.filter(({ isMarked }) => isMarked).length >= 80, `${held.filter(({ isMarked }) => isMarked).length}`);
});

test('all recipes and examples pass', async (t) => {
  for (const name of await readdir(flows, { recursive: true })) {
    if (!name.endsWith('.json5') || name.includes('dashboards')) continue;
    t.true(
      validate(JSON5.parse(await readFile(join(flows, name), 'utf8'))),
      `${name} ${JSON.stringify(validate.errors)}`,
    );
  }
});
