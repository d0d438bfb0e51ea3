// The JSON Schema of flow files, with which editors complete and check: what is right passes, also within `pipe`.

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test from 'ava';
import JSON5 from 'json5';
import { connectionTypes } from '../../../lib/connections/registry.ts';
import { flowFileJsonSchema } from '../../../lib/flow/check/schema.ts';

const validate = new Ajv2020({ strict: false }).compile(flowFileJsonSchema(connectionTypes));
const withStep = (step: object) => ({ rules: [{ from: 'desk/a', pipe: [step], to: 'desk/b' }] });

test('the demo passes', async (t) => {
  const demo = await readFile(join(resolve(import.meta.dirname, '../../..'), 'flows/demo.json5'), 'utf8');
  t.true(validate(JSON5.parse(demo)), JSON.stringify(validate.errors));
});

for (const throttleTime of [100, '100ms', { duration: 100 }, { duration: '1s', trailing: true }])
  test(`throttleTime may be ${JSON.stringify(throttleTime)}`, (t) => t.true(validate(withStep({ throttleTime }))));

for (const step of [{ throttleTime: { trailing: true } }, { throttleTime: true }, { debounce: 50 }, { skip: -1 }])
  test(`${JSON.stringify(step)} is no step`, (t) => t.false(validate(withStep(step))));
