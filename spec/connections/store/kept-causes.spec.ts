// What led to a value outlives the hub with it: `explain` goes on where the hub that ended has stopped.

import test from 'ava';
import fc from 'fast-check';
import { explain } from '../../../lib/command/remote/why-command.ts';
import {
  CausesWriter,
  type KeptLeaf,
  maxCauseText,
  maxKeptCauses,
  readCauses,
} from '../../../lib/connections/store/values/kept-causes.ts';
import type { Change, Origin } from '../../../lib/model/parameter.ts';
import type { Explanation } from '../../../lib/wire/http/parameter-shapes.ts';
import { api, portsOf, writer } from '../../support/hub.ts';
import { shared } from '../../support/shared.ts';
import { install } from '../../support/store/store.ts';
import { call } from '../../support/system/process.ts';

const desk = { type: 'dummy', parameters: ['mic,B,false', 'light,B,false', 'other,I'] };
const rules = [{ name: 'red light', from: 'desk/mic', to: 'desk/light' }];

/** What `patchbay explain` prints. */
async function print(port: number): Promise<string[]> {
  const options = { url: `http://127.0.0.1:${port}`, username: '', password: '', token: '' };
  const { status, output } = await call((console) => explain('desk/light', options, console));
  return status === 0 ? output.trimEnd().split('\n') : [`status ${status}: ${output}`];
}

/** What three hubs tell, one after another. */
const notify = shared(async (t) => {
  const { start, closed } = await install(t, { desk, api }, { rules });
  const reported: { readonly lines: string[]; readonly explanation: Explanation }[] = [];
  for (let restarts = 0; restarts <= 2; restarts++) {
    const hub = await start();
    const port = portsOf(hub)[0]!;
    if (restarts === 0) hub.write('desk/mic', true, writer);
    const response = await fetch(`http://127.0.0.1:${port}/hub/explain/desk/light`);
    reported.push({ lines: await print(port), explanation: (await response.json()) as Explanation });
    hub.write('desk/other', restarts, writer);
    await hub.stop();
    await closed();
  }
  return reported;
});

test('explain continues across a restart, and across two', async (t) => {
  const [before, ...behind] = await notify();
  const [light, mic] = before!.lines;
  t.is(behind.length, 2);
  for (const { lines } of behind) {
    const [restored, ...others] = lines;
    t.regex(restored!, /^[\d:.]{12} {2}desk\/light = true, restored by store$/);
    t.deepEqual(
      others.map((line) => line.replace('    ', '  ')),
      [light, mic!],
    );
  }
});

test('over HTTP the changes of an earlier run look like all others', async (t) => {
  const [before, behind] = (await notify()).map(({ explanation }) => explanation);
  const { chain, forgotten } = behind!;
  t.like(chain[0], { origin: { kind: 'restored', name: 'store' }, time: before!.chain[0]!.time });
  t.deepEqual([chain.slice(1), forgotten], [before!.chain, 0]);
});

const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((n) => n + 0);
const value = fc.oneof(fc.boolean(), number, fc.string());
const origin = fc.record<Origin>(
  { kind: fc.constantFrom('client', 'rule', 'connection'), name: fc.string(), file: fc.string() },
  { requiredKeys: ['kind', 'name'] },
);
const link = fc.record(
  { address: fc.string(), value, previous: value, origin, revision: fc.nat(), time: fc.nat() },
  { requiredKeys: ['address', 'value', 'origin', 'revision', 'time'] },
);
type LinkOf = typeof link extends fc.Arbitrary<infer T> ? T : never;

/** Oldest first. */
function chainOf(links: readonly LinkOf[], forgotten = 0): Change | undefined {
  return links.reduce<Change | undefined>((cause, { address, previous, ...rest }) => {
    const parameter = { address, type: 'S', access: 'read-only', value: undefined, lastChange: undefined } as const;
    const depth = cause === undefined ? forgotten : cause.depth + 1;
    return { ...rest, parameter, previous, cause, depth, hop: 0 };
  }, undefined);
}

const leafOf = ({ parameter: { address, type }, value, time }: Change): KeptLeaf => ({ address, type, value, time });

test('causes are read as they were written', (t) => {
  const texts = new CausesWriter();
  fc.assert(
    fc.property(fc.array(link, { minLength: 1, maxLength: maxKeptCauses }), fc.nat(9), (links, forgotten) => {
      const change = chainOf(links, forgotten)!;
      t.deepEqual(readCauses(leafOf(change), texts.write(change)), change);
    }),
  );
});

test('a long chain keeps its newest causes, and long texts their beginnings', (t) => {
  const step = { address: 'desk/a', value: 1, origin: writer, revision: 1, time: 1 };
  const links = Array.from({ length: maxKeptCauses + 5 }, () => ({ ...step, previous: 'x'.repeat(500) }));
  const change = chainOf(links, 3)!;
  const read = readCauses(leafOf(change), new CausesWriter().write(change))!;
  let [count, last] = [0, read];
  for (let link: Change | undefined = read; link !== undefined; link = link.cause) [count, last] = [count + 1, link];
  t.is(count, maxKeptCauses);
  t.deepEqual([read.depth, last.depth], [maxKeptCauses + 7, 8]);
  t.is(last.previous, `${'x'.repeat(maxCauseText)}…`);
});
