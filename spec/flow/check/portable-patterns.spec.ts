// Programs in all languages read the schemas: each pattern in them means the same to JavaScript, Python and RE2 (Go, Rust), and
// contains nothing that Java interprets differently.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { dashboardJsonSchema } from '../../../lib/dashboard/parse-dashboard.ts';
import { flowFileJsonSchema } from '../../../lib/flow/check/schema.ts';
import { connectionTypes } from '../../support/connection-types.ts';
import { ask } from '../../support/http.ts';
import { api, startTestHub } from '../../support/hub.ts';
import { needs } from '../../support/programs.ts';

needs('python3');

const asyncApi = readFileSync(resolve(import.meta.dirname, '../../../lib/client/asyncapi.json'), 'utf8');

/** The values of `pattern`, and the keys of `patternProperties`. */
function patternsIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) => [
    ...(key === 'pattern' && typeof value === 'string' ? [value] : []),
    ...(key === 'patternProperties' ? Object.keys(value as object) : []),
    ...patternsIn(value),
  ]);
}

/** Whether Python finds each pattern in each of its texts. */
function findInPython(samples: readonly (readonly [string, readonly string[]])[]): boolean[][] {
  const program = `import json, re, sys
print(json.dumps([[re.search(p, t) is not None for t in texts] for p, texts in json.load(sys.stdin)]))`;
  return JSON.parse(execFileSync('python3', ['-c', program], { input: JSON.stringify(samples), encoding: 'utf8' }));
}

test('the patterns of all schemas use only syntax that all engines share, and mean the same to them', async (t) => {
  const hub = await startTestHub(t, { connections: { api } });
  const openApi = (await ask(t, hub.port, 'GET /hub/openapi.json')).text;
  const schemas = [
    flowFileJsonSchema(connectionTypes),
    dashboardJsonSchema(),
    JSON.parse(openApi) as unknown,
    JSON.parse(asyncApi) as unknown,
  ];
  const patterns = [...new Set(schemas.flatMap(patternsIn))];
  t.true(patterns.length > 20, `${patterns.length}`);
  for (const pattern of patterns) {
    t.notRegex(pattern, /\(\?(?!:)/, 'no look ahead or behind, no names, no flags');
    t.notRegex(pattern, /\[\^?\]/, 'no empty class, no [^]');
    t.notRegex(pattern, /\\[1-9kpPuUdDwWbBAzZ/]/, 'no class whose members depend on the engine, no way back');
    t.notRegex(pattern, /[*+?}]\+/, 'nothing possessive');
    const classes = pattern.replace(/\\./g, 'x').match(/\[\^?\]?[^\]]*\]/g) ?? [];
    for (const one of classes)
      t.notRegex(one.slice(1), /\[|&&|--|~~/, 'no class within a class, as Java and Rust have them');
  }
  const samples = patterns.map((pattern) => {
    const matching = fc.sample(fc.stringMatching(new RegExp(pattern)), { numRuns: 20, seed: 1 });
    const others = matching.flatMap((text) => [text.slice(1), text.slice(0, -1), `${text}!`, `(${text}`, `é${text}`]);
    const texts = [...matching, ...others, '', ' ', 'value > 1', 'a and b', '12.5', '\u00a0', '٣', 'a/b'];
    return [pattern, texts.filter((text) => !text.endsWith('\n'))] as const;
  });
  const inPython = findInPython(samples);
  for (const [index, [pattern, texts]] of samples.entries()) {
    const [script, re2] = [new RegExp(pattern), RE2JS.compile(pattern)];
    for (const [at, text] of texts.entries()) {
      t.is(inPython[index]![at], script.test(text), `Python: ${pattern} in ${JSON.stringify(text)}`);
      t.is(re2.matcher(text).find(), script.test(text), `RE2: ${pattern} in ${JSON.stringify(text)}`);
    }
  }
});
