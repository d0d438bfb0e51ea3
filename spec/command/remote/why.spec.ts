// `patchbay explain` and `patchbay trace` against the demo over its REST API, as an operator asks: why is the lamp off?

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';
import { firstValueFrom } from 'rxjs';
import { filter, timeout } from 'rxjs/operators';
import { explain, trace } from '../../../lib/command/remote/why-command.ts';
import { deadlineMs } from '../../support/deadline.ts';
import { startTestHub } from '../../support/hub.ts';

const root = resolve(import.meta.dirname, '../../..');
const demo = (await readFile(join(root, 'flows/demo.json5'), 'utf8')).replace('port: 17011', 'port: 0');

/** The lines that a command prints for a hub on this port. */
async function print(
  command: typeof explain,
  argument: string,
  port: number,
  more: object = {},
): Promise<{ lines: string[]; options: object }> {
  const lines: string[] = [];
  const options = { url: `http://127.0.0.1:${port}`, username: '', password: '', token: '', ...more };
  await command(argument, options, { print: (text) => lines.push(...text.split('\n')), printError: () => {} });
  return { lines, options };
}

test('the demo: doorbell, rule, timer, rule, lamp off explains back to the client that rang', async (t) => {
  const hub = await startTestHub(t, demo);
  const off = hub.changes$.pipe(filter(({ parameter, value }) => parameter.address === 'desk/door-lamp' && !value));
  const isOff = firstValueFrom(off.pipe(timeout(deadlineMs)));
  const ring = `http://127.0.0.1:${hub.port}/update?parameter=desk/doorbell&value=1`;
  t.is(await (await fetch(ring)).text(), 'OK');
  await isOff;
  const { lines } = await print(explain, 'desk/door-lamp', hub.port);
  const file = '\\(.*flow\\.json5\\)';
  const expected = [
    `desk/door-lamp = false \\(was true\\), set by rule "lamp off after that" ${file}`,
    '  clock/timer/2/trigger fired, set by connection clock, (29[89]\\d|[3-9]\\d{3,4}) ms later',
    `    clock/timer/2/start = 3000, set by rule "doorbell starts the long timer" ${file}`,
    '      desk/doorbell fired, set by client api 127\\.0\\.0\\.1',
  ];
  t.is(lines.length, expected.length, lines.join('\n'));
  for (const [index, line] of lines.entries())
    t.regex(line, new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\.\\d{3}  ${expected[index]}$`));

  const answer = await fetch(`http://127.0.0.1:${hub.port}/hub/explain/desk/door-lamp`);
  const json = (await answer.json()) as { chain: { time: string; afterMs: number; revision: number }[] };
  t.like(json, { parameter: 'desk/door-lamp', value: false, forgotten: 0 });
  t.like(json.chain[0], { previous: true, value: false, type: 'B', origin: { kind: 'rule' } });
  t.is(json.chain[0]!.revision, hub.find('desk/door-lamp')!.lastChange!.revision);
  t.is(json.chain[0]!.afterMs, 0);
  t.is(Date.parse(json.chain[1]!.time) - Date.parse(json.chain[2]!.time), json.chain[1]!.afterMs);

  const traced = await print(trace, 'lamp off after that', hub.port);
  t.regex(traced.lines[0]!, new RegExp(`^rule "lamp off after that" ${file}: the most recent run$`));
  t.regex(traced.lines[1]!, /^[\d:.]{12} {2}clock\/timer\/2\/trigger = 1 → false to desk\/door-lamp$/);
});

const desk = {
  connections: {
    api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
    desk: { type: 'dummy', parameters: ['go,T', 'a,F', 'b,F', 'text', 'größe x,I', 'never'] },
    clock: { type: 'timer', timers: [1] },
    core: {
      type: 'virtual-core',
      inputs: { a: 'desk/a', go: 'desk/go' },
      outputs: { on: { type: 'B', expression: 'a > 1.0' }, late: { block: 'TON', in: 'on', pt: 30 } },
    },
  },
  rules: [
    { name: 'half', from: 'desk/a', when: 'value > 1', map: 'value / 2', to: 'desk/b' },
    { name: 'copy', from: 'desk/b', to: 'desk/text' },
    { name: 'lit', from: 'core/late', to: 'desk/größe x' },
    { name: 'again', from: 'clock/timer/1/trigger', map: '0', to: 'clock/timer/1/start' },
  ],
};

test('a Virtual Core output that changes later is explained by its input', async (t) => {
  const hub = await startTestHub(t, desk);
  const lit = firstValueFrom(
    hub.changes$.pipe(
      filter(({ parameter, value }) => parameter.address === 'desk/größe x' && value === 1),
      timeout(deadlineMs),
    ),
  );
  hub.write('desk/a', 5, { kind: 'client', name: 'test' });
  hub.write('desk/go', 1, { kind: 'client', name: 'other' });
  await lit;
  const { lines } = await print(explain, 'desk/größe x', hub.port);
  t.deepEqual(
    lines.map((line) =>
      line
        .slice(14)
        .trim()
        .replace(/\d+ ms/, 'n ms')
        .replace(/ \([^()]*json5\)/, ''),
    ),
    [
      'desk/größe x = 1 (was 0), set by rule "lit"',
      'core/late = true (was false), set by connection core, n ms later',
      'desk/a = 5, set by client test',
    ],
  );
});

test('a truncated chain is marked', async (t) => {
  const hub = await startTestHub(t, desk);
  hub.write('clock/timer/1/start', 0, { kind: 'client', name: 'test' });
  const deep = hub.changes$.pipe(
    filter(({ depth }) => depth > 200),
    timeout(deadlineMs),
  );
  await firstValueFrom(deep);
  const { lines } = await print(explain, 'clock/timer/1/trigger', hub.port);
  t.true(lines.length > 64 && lines.length < 130, `${lines.length}`);
  t.regex(lines.at(-1)!, /^… and \d+ earlier changes, no longer stored$/);
  t.regex(lines[1]!, /clock\/timer\/1\/start = 0 \(again\), set by rule "again"/);
});

test('trace prints each run in a line', async (t) => {
  const hub = await startTestHub(t, desk);
  const client = { kind: 'client', name: 'test' } as const;
  await print(trace, 'half', hub.port);
  hub.write('desk/a', 0.5, client);
  hub.write('desk/a', 4, client);
  const { lines } = await print(trace, 'half', hub.port);
  t.regex(lines[0]!, /^rule "half" \(.*\): the 2 most recent runs$/);
  t.regex(lines[1]!, /^[\d:.]{12} {2}desk\/a = 4 → 2 to desk\/b, \d+ µs$/);
  t.regex(lines[2]!, /^[\d:.]{12} {2}desk\/a = 0\.5, the condition was false, \d+ µs$/);
  const copied = await print(trace, 'copy', hub.port);
  t.regex(copied.lines[1]!, /desk\/b = 2 → 2 to desk\/text$/);
  t.regex(copied.lines[2]!, /^this rule only copies/);
  t.regex((await print(trace, 'again', hub.port)).lines[0]!, /: no runs yet$/);
});

test('unknown names, unknown states and bad queries are answered as by other endpoints', async (t) => {
  const { port } = await startTestHub(t, desk);
  const cases: [path: string, status: number, text: RegExp][] = [
    ['explain/desk/lampe', 404, /^desk\/lampe: no parameter has this address\n$/],
    ['explain/desk/never', 503, /^desk\/never: the state is unknown\n$/],
    ['explain/desk/go', 503, /^desk\/go: the state is unknown\n$/],
    ['explain/%ff', 400, /percent-encoded/],
    ['trace?rule=hal', 404, /^unknown rule "hal", did you mean "half"\?\n$/],
    ['trace', 400, /^query: expected rule=<name> once, got none\n$/],
    ['trace?rule=a&rule=b', 400, /got several\n$/],
  ];
  for (const [path, status, text] of cases) {
    const response = await fetch(`http://127.0.0.1:${port}/hub/${path}`, { headers: { accept: 'text/plain' } });
    t.is(response.status, status, path);
    t.regex(await response.text(), text);
  }
  const problem = await fetch(`http://127.0.0.1:${port}/hub/trace?rule=hal`, {
    headers: { accept: 'application/json' },
  });
  t.is(problem.headers.get('content-type'), 'application/problem+json');
  t.like(await problem.json(), { status: 404, code: 'not-found' });
  t.is((await fetch(`http://127.0.0.1:${port}/hub/explain/desk/a`, { method: 'POST' })).status, 405);
  await t.throwsAsync(print(explain, 'desk/lampe', port), { message: /no parameter has this address/ });
});

test('both require the credentials', async (t) => {
  const api = { ...desk.connections.api, token: 'c2VjcmV0' };
  const { port } = await startTestHub(t, { ...desk, connections: { ...desk.connections, api } });
  for (const path of ['explain/desk/a', 'trace?rule=half'])
    t.is((await fetch(`http://127.0.0.1:${port}/hub/${path}`)).status, 401, path);
  await t.notThrowsAsync(print(trace, 'half', port, { token: 'c2VjcmV0' }));
});
