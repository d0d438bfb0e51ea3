// A rehearsal: what an edited rule would have written at the last runs of the live one.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { EditRights, FileOp, Rehearsal, RehearsedEvent } from '../../lib/connections/editing.ts';
import { etagOf } from '../../lib/hub/edit-files.ts';
import type { Value } from '../../lib/model/value.ts';
import { eventually } from '../support/deadline.ts';
import { type HubUnderTest, startHubFrom, writer } from '../support/hub.ts';

const flow = `{
  connections: { desk: { type: 'dummy', parameters: ['mic1,B,false', 'mic2,B,false', 'level,F', 'limit,F,-10', 'lamp,B,false', 'red,B', 'cue,T', 'count,I,0'] } },
  rules: [
    { name: 'loud', from: 'desk/level', map: 'value > -10', to: 'desk/red' },
    { name: 'tally', from: { a: 'desk/mic1', b: 'desk/mic2' }, map: 'a || b', pipe: [{ offDelay: '40ms' }], to: 'desk/lamp' },
    { name: 'cue', from: 'desk/cue', when: "param('desk/mic1')", map: '5', to: 'desk/count' },
  ],
}
`;

const all: EditRights = {
  user: '',
  via: 'api',
  isOwner: true,
  mayEdit: () => true,
  mayRead: () => true,
  mayWrite: () => true,
};

class Studio {
  readonly hub: HubUnderTest;
  constructor(hub: HubUnderTest) {
    this.hub = hub;
  }

  write(...writes: readonly (readonly [id: string, value: Value])[]): void {
    for (const [id, value] of writes) this.hub.write(`desk/${id}`, value, writer);
  }

  async rehearse(
    rule: string,
    ops: readonly FileOp[],
    { rights = all, recorded = [] }: { rights?: EditRights; recorded?: readonly RehearsedEvent[] } = {},
  ): Promise<Rehearsal> {
    const file = join(this.hub.folder, 'flow.json5');
    const base = etagOf(await readFile(file, 'utf8'));
    const request = { files: [{ file, base, ops }], mode: 'check', comment: '', rehearse: { rule, recorded } } as const;
    const { errors, rehearsal } = await this.hub.editing!.edit(request, writer, rights);
    if (rehearsal === undefined) throw new Error(JSON.stringify(errors));
    return rehearsal;
  }
}

async function open(t: ExecutionContext): Promise<Studio> {
  return new Studio(await startHubFrom(t, { 'flow.json5': flow }));
}

/** `-12: false → true`: the value, what was written, and what would have been. */
const shown = ({ runs }: Rehearsal) =>
  runs.map(({ value, was, would }) =>
    [value, [was, would].map((one) => one?.result ?? one?.outcome ?? 'none').join(' → ')].join(': '),
  );

test('the new result is beside that of each run, newest first', async (t) => {
  const studio = await open(t);
  studio.write(['level', -12], ['level', -5], ['level', -30]);
  const found = await studio.rehearse('loud', [{ path: 'rules[0].map', set: 'value > -13' }]);
  t.deepEqual(shown(found), ['-30: false → false', '-5: true → true', '-12: false → true']);
  t.deepEqual([found.assumed, found.reason], [[], '']);
  t.is(studio.hub.find('desk/red')!.value, false, 'nothing is written');
});

test('a renamed rule with a condition is found; it stops where the condition is false', async (t) => {
  const studio = await open(t);
  studio.write(['level', -12], ['level', -5]);
  const ops = [
    { path: 'rules[0].name', set: 'louder' },
    { path: 'rules[0].when', set: 'value > -10' },
  ];
  t.deepEqual(shown(await studio.rehearse('loud', ops)), ['-5: true → true', '-12: false → stopped']);
});

test('an unchanged rule with several sources and a timer does the same again', async (t) => {
  const studio = await open(t);
  studio.write(['mic1', true], ['mic2', true], ['mic1', false], ['mic2', false]);
  await eventually(() => studio.hub.find('desk/lamp')!.value === false, 'the lamp off');
  const { runs } = await studio.rehearse('tally', [{ path: 'rules[1].to', set: 'desk/red' }]);
  t.is(runs.length, 5);
  for (const { was, would, source } of runs) t.deepEqual(would, was, source ?? 'timer');
});

test('a longer delay is played in virtual time', async (t) => {
  const studio = await open(t);
  studio.write(['mic1', true], ['mic1', false]);
  await eventually(() => studio.hub.find('desk/lamp')!.value === false, 'the lamp off');
  const found = await studio.rehearse('tally', [{ path: 'rules[1].pipe[0].offDelay', set: '1h' }]);
  t.deepEqual(shown(found), ['false: false → none', 'false: held → held', 'true: true → true']);
});

test('what the live rule does not record is as it is now, and the answer says so', async (t) => {
  const studio = await open(t);
  studio.write(['level', -12], ['limit', -20]);
  const found = await studio.rehearse('loud', [{ path: 'rules[0].map', set: "value > param('desk/limit')" }]);
  t.deepEqual(shown(found), ['-12: false → true']);
  t.deepEqual(found.assumed, ['desk/limit']);
});

test('triggers are fired again', async (t) => {
  const studio = await open(t);
  studio.write(['cue', true], ['mic1', true], ['cue', true]);
  const found = await studio.rehearse('cue', [{ path: 'rules[2].map', set: '7' }]);
  t.deepEqual(shown(found), ['1: 5 → 7', '1: stopped → 7']);
  t.deepEqual(found.assumed, ['desk/mic1']);
});

test('a new rule is played on recorded events; without any, a sentence says so', async (t) => {
  const studio = await open(t);
  const ops = [{ path: 'rules[3]', insert: { name: 'new', from: 'desk/level', map: 'value * 2.0', to: 'desk/limit' } }];
  t.regex((await studio.rehearse('', ops)).reason, /^No change to its sources/);
  t.regex((await studio.rehearse('loud', [{ path: 'rules[0].map', set: 'true' }])).reason, /^No run of "loud"/);
  const recorded = [1, 2].map((value) => ({ address: 'desk/level', value, time: Date.now() - 1000 * (9 - value) }));
  t.deepEqual(shown(await studio.rehearse('', ops, { recorded })), ['2: none → 4', '1: none → 2']);
});

test('a rule that repeats itself every 10 ms ends the rehearsal, not the hub', async (t) => {
  const studio = await open(t);
  const ops = [{ path: 'rules[0].pipe', set: [{ repeat: '10ms' }] }];
  const recorded = [{ address: 'desk/level', value: 1, time: Date.now() - 86_400_000 }];
  const found = await studio.rehearse('loud', ops, { recorded });
  t.regex(found.reason, /too often/);
  t.true(found.runs.length <= 20);
});

test('whoever may not read a value of the rule gets no runs', async (t) => {
  const studio = await open(t);
  studio.write(['level', -12]);
  const rights = { ...all, mayRead: (address: string) => address !== 'desk/level' };
  const found = await studio.rehearse('loud', [{ path: 'rules[0].map', set: 'value > -13' }], { rights });
  t.deepEqual([found.runs.length, found.reason], [0, 'The most recent runs contain values that you may not read.']);
});
