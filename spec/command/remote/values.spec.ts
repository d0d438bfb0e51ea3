// `patchbay get`, `set` and `watch` against a running hub (D-30).

import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { BehaviorSubject } from 'rxjs';
import { filter, map } from 'rxjs/operators';
import type { PacedConsole } from '../../../lib/command/console.ts';
import type { RemoteOptions } from '../../../lib/command/remote/ask-hub.ts';
import { get, set, watch } from '../../../lib/command/remote/values.ts';
import { explain } from '../../../lib/command/remote/why-command.ts';
import { first } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { ask } from '../../support/http.ts';
import { api, expectQuietLog, startTestHub } from '../../support/hub.ts';
import { startPeer } from '../../support/peer.ts';
import { call, runToEnd, start } from '../../support/system/process.ts';

async function startDesk(t: ExecutionContext, settings: object = {}) {
  const hub = await startTestHub(t, {
    connections: {
      api: { ...api, ...settings },
      desk: {
        type: 'dummy',
        parameters: ['lamp,B,true', 'text,S,hällo', 'a b/ü?,F,0.5', 'unknown,I', 'go,T', 'lamps,I,3'],
      },
      clock: { type: 'timer', pulses: [{ enabled: false }] },
    },
  });
  return { hub, url: `http://127.0.0.1:${hub.port}` };
}

/** Watches in this process until the test ends. */
function watchHere(t: ExecutionContext, address: string, credentials: Partial<RemoteOptions>) {
  const stopped = Promise.withResolvers<string>();
  t.teardown(() => stopped.resolve('SIGINT'));
  const output$ = new BehaviorSubject('');
  const console: PacedConsole = {
    print: (text) => output$.next(`${output$.value}${text}\n`),
    printError: (text) => t.fail(text),
    isBehind: false,
    whenTaken: async () => {},
  };
  watch(address, { ...options(''), ...credentials }, console, () => stopped.promise).catch((error) =>
    t.fail(`${error}`),
  );
  const match$ = (pattern: RegExp) => output$.pipe(map((output) => pattern.exec(output)));
  return { shows: (pattern: RegExp) => first(match$(pattern).pipe(filter((match) => match !== null)), `${pattern}`) };
}

const options = (url: string): RemoteOptions => ({ url, username: '', password: '', token: '' });

test.serial('get prints the value, with --json its JSON', async (t) => {
  const { url } = await startDesk(t);
  const run = (address: string, json: boolean) => call((console) => get(address, { ...options(url), json }, console));
  t.deepEqual(await run('desk/lamp', false), { status: 0, output: 'true\n', errors: '' });
  t.is((await run('desk/text', false)).output, 'hällo\n');
  t.is((await run('desk/text', true)).output, '"hällo"\n');
  t.is((await run('desk/a b/ü?', true)).output, '0.5\n');
  const ended = await runToEnd(t, ['get', '--json', 'desk/a b/ü?', '--url', url]);
  t.deepEqual([ended.status, ended.output, ended.errors], [0, '0.5\n', '']);
});

test.serial('get warns that a value is stale, and explain says since when', async (t) => {
  const peer = await startPeer(t, { end: '\n', greeting: () => 'LEVEL 5\n', answer: () => undefined });
  const folder = await createFolder(t, {
    'level.device.json5': `{ about: 'It', frame: { end: '\\n' }, parameters: { level: { type: 'I', on: 'LEVEL {value:int}' } } }`,
  });
  const protocol = join(folder, 'level.device.json5');
  const hub = await startTestHub(t, {
    connections: { api, it: { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol } },
  });
  await hub.logged(/^connection "it" is running$/);
  await peer.stop();
  await hub.logged(/^connection "it" is degraded/);
  const url = `http://127.0.0.1:${hub.port}`;
  const stale = /the value may be outdated: its device has been offline since \d\d:\d\d:\d\d\.\d{3}\n$/;
  const got = await call((console) => get('it/level', options(url), console));
  t.deepEqual([got.status, got.output], [0, '5\n']);
  t.regex(got.errors, stale);
  t.regex((await call((console) => explain('it/level', options(url), console))).output, stale);
});

test.serial('set converts and prints the written value, and fires triggers', async (t) => {
  const { hub, url } = await startDesk(t);
  const changed: string[] = [];
  hub.changes$.subscribe(({ parameter }) => changed.push(parameter.address));
  const run = async (address: string, value: string) =>
    (await call((console) => set(address, value, options(url), console))).output;
  t.is(await run('desk/lamp', '0'), 'desk/lamp = false\n');
  t.is(await run('desk/a b/ü?', ' 1e-1 '), 'desk/a b/ü? = 0.1\n');
  t.is(await run('desk/text', 'a&b=c + %'), 'desk/text = a&b=c + %\n');
  t.is((await runToEnd(t, ['set', 'desk/go'], { PATCHBAY_URL: url })).output, 'desk/go = 1\n');
  t.deepEqual(changed, ['desk/lamp', 'desk/a b/ü?', 'desk/text', 'desk/go']);
});

const meant: [args: string[], status: number, printed: string][] = [
  [['desk/lamp', 'TRUE'], 0, 'desk/lamp = true'],
  [['desk/lamp'], 0, 'desk/lamp = true'],
  [['desk/lamp', 'on'], 1, 'desk/lamp: expected true or false, got "on", did you mean true?'],
  [['desk/lamp', 'Off'], 1, 'desk/lamp: expected true or false, got "Off", did you mean false?'],
  [['desk/lamp', '2'], 1, 'desk/lamp: expected true or false, got "2"'],
  [['desk/lamp', ''], 1, 'desk/lamp: expected true or false, got ""'],
  [['desk/level', '-12,5'], 1, 'desk/level: expected a number, got "-12,5": write -12.5, with a decimal point'],
  [['desk/level', '1.234,5'], 1, 'desk/level: expected a number, got "1.234,5": write 1234.5, with a decimal point'],
  [['desk/level', '1,234.5'], 1, 'desk/level: expected a number, got "1,234.5": write 1234.5'],
  [['desk/level', '-12.5'], 0, 'desk/level = -12.5'],
  [['desk/level', '-.5', '--json'], 1, "too many arguments for 'set'"],
  [['desk/level', '-1e3'], 0, 'desk/level = -1000'],
  [['desk/text', '-hello'], 0, 'desk/text = -hello'],
  [
    ['desk/text', '--hello'],
    1,
    'unknown option "--hello"; put a value that looks like an option after --: patchbay set <address> -- --hello',
  ],
  [['desk/text', '--', '--hello'], 0, 'desk/text = --hello'],
  [['desk/lamq', '1'], 1, 'desk/lamq: no parameter has this address, did you mean "desk/lamp"?'],
];
test.serial('set asks back about a probably unintended value', async (t) => {
  const { hub, url } = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: ['lamp,B,false', 'level,F,7', 'text,S'] } },
  }).then((hub) => ({ hub, url: `http://127.0.0.1:${hub.port}` }));
  /** What has no option, or what looks like one, is called in this process. */
  const setWith = async (args: readonly string[]) => {
    const [address = '', value] = args;
    if (args.length !== 2 || value!.startsWith('-')) return runToEnd(t, ['set', ...args], { PATCHBAY_URL: url });
    const called = call((console) => set(address, value, options(url), console));
    return called.catch(({ message }: Error) => ({ status: 1, output: '', errors: message }));
  };
  for (const [args, status, printed] of meant) {
    const before = hub.revision;
    const { status: ended, output, errors } = await setWith(args);
    t.is(ended, status, args.join(' '));
    t.true((output + errors).includes(printed), `${args.join(' ')}: ${output}${errors}`);
    if (status === 1) t.is(hub.revision, before, 'nothing was written');
  }
});

test.serial('the nearest address is suggested, from those that the user may see', async (t) => {
  const { url } = await startTestHub(t, {
    connections: {
      api: {
        ...api,
        users: { ann: { token: 'YQ==', read: ['desk/**'] }, eve: { token: 'ZQ==', read: ['other/**'] } },
      },
      desk: { type: 'dummy', parameters: ['lamp,B,false'] },
    },
  }).then((hub) => ({ url: `http://127.0.0.1:${hub.port}` }));
  await t.throwsAsync(
    call((console) => get('DESK/Lamp', { ...options(url), token: 'YQ==' }, console)),
    { message: 'DESK/Lamp: no parameter has this address, did you mean "desk/lamp"?' },
  );
  for (const [token, hint] of [
    ['YQ==', ', did you mean "desk/lamp"?'],
    ['ZQ==', ''],
  ] as const)
    for (const command of [get, explain, watch])
      await t.throwsAsync(
        call((console) => command('desk/lmap', { ...options(url), token }, console, async () => 'SIGINT')),
        { message: `desk/lmap: no parameter has this address${hint}` },
      );
});

type Command = (options: RemoteOptions, console: PacedConsole) => Promise<number>;

const refusals: [what: string, command: Command, message: string][] = [
  ['get desk/nothing', (...rest) => get('desk/nothing', ...rest), 'desk/nothing: no parameter has this address'],
  ['get desk/unknown', (...rest) => get('desk/unknown', ...rest), 'desk/unknown: the state is unknown'],
  [
    'get --json desk/unknown',
    (url, console) => get('desk/unknown', { ...url, json: true }, console),
    'desk/unknown: the state is unknown',
  ],
  [
    'set desk/unknown loud',
    (...rest) => set('desk/unknown', 'loud', ...rest),
    'desk/unknown: expected a number, got "loud" (string)',
  ],
  [
    'set clock/pulse/1',
    (...rest) => set('clock/pulse/1', '1', ...rest),
    'clock/pulse/1: expected a writable parameter, but this one is read-only',
  ],
  [
    'watch desk/nothing',
    (...rest) => watch('desk/nothing', ...rest, () => new Promise(() => {})),
    'desk/nothing: no parameter has this address',
  ],
];
for (const [what, command, message] of refusals)
  test.serial(`the refusal is the sentence of the hub: ${what}`, async (t) => {
    const { hub, url } = await startDesk(t);
    await t.throwsAsync(
      call((console) => command(options(url), console)),
      { message },
    );
    expectQuietLog(t, hub);
  });

test.serial('a refusal of the hub goes to standard error, with exit status 1', async (t) => {
  const { url } = await startDesk(t);
  const { status, output, errors } = await runToEnd(t, ['set', 'desk/unknown', 'loud'], { PATCHBAY_URL: url });
  t.deepEqual([status, output, errors], [1, '', 'desk/unknown: expected a number, got "loud" (string)\n']);
});

const urls: [url: string, message: RegExp][] = [
  ['http://127.0.0.1:49', /^http:\/\/127\.0\.0\.1:49: cannot reach a hub: .*ECONNREFUSED/],
  ['http://127.0.0.1:1', /^http:\/\/127\.0\.0\.1:1: cannot reach a hub: /],
  ['localhost:17011', /^--url: expected a URL such as http:\/\/localhost:17011, got "localhost:17011"$/],
  ['ftp://localhost', /^--url: expected a URL such as/],
  ['http://', /^--url: expected a URL such as/],
];
for (const [url, message] of urls)
  test.serial(`a missing hub at ${url} is one sentence`, async (t) => {
    for (const command of [get, watch])
      await t.throwsAsync(
        call((console) => command('desk/lamp', options(url), console, () => new Promise(() => {}))),
        { message },
      );
  });

test.serial('S-13: credentials are set by options or by environment', async (t) => {
  const { url } = await startDesk(t, { username: 'ann', password: 'pä:1', token: 'YQ==' });
  const run = (credentials: Partial<RemoteOptions>) =>
    call((console) => get('desk/lamp', { ...options(url), ...credentials }, console));
  await t.throwsAsync(run({}), { message: 'Authorization: expected valid credentials for this hub' });
  await t.throwsAsync(run({ username: 'ann', password: 'pä' }), { message: /^Authorization/ });
  t.is((await run({ username: 'ann', password: 'pä:1' })).output, 'true\n');
  t.is((await run({ token: 'YQ==' })).output, 'true\n');
  t.is((await runToEnd(t, ['set', 'desk/lamp', '0'], { PATCHBAY_URL: url, PATCHBAY_TOKEN: 'YQ==' })).status, 0);
  const watching = watchHere(t, 'desk/lamp', { url, username: 'ann', password: 'pä:1' });
  await watching.shows(/^false\n/);
});

test.serial('watch prints the value and every change until SIGINT, and ends with status 0', async (t) => {
  const { url, hub } = await startDesk(t);
  const watching = start(t, ['watch', 'desk/lamp', '--url', url]);
  await watching.shows(/^true\n/);
  await ask(t, hub.port, 'GET /update?parameter=desk/lamps&value=4');
  for (const value of ['false', 'true', 'false'])
    await ask(t, hub.port, `GET /update?parameter=desk/lamp&value=${value}`);
  await watching.shows(/^true\nfalse\ntrue\nfalse\n/);
  watching.process.kill('SIGINT');
  const { status, output, errors } = await watching.ended();
  t.deepEqual([status, output, errors], [0, 'true\nfalse\ntrue\nfalse\n', '']);
});

test.serial('watch waits for the first value of an unknown state, and prints each fire of a trigger', async (t) => {
  const { url, hub } = await startDesk(t);
  const trigger = watchHere(t, 'desk/go', { url });
  const unknown = watchHere(t, 'desk/unknown', { url });
  const fire = setInterval(() => hub.write('desk/go', 1, { kind: 'client', name: 'test' }), 20);
  t.teardown(() => clearInterval(fire));
  await trigger.shows(/^1\n1\n1\n/);
  let count = 0;
  const change = setInterval(() => hub.write('desk/unknown', ++count, { kind: 'client', name: 'test' }), 20);
  t.teardown(() => clearInterval(change));
  const [, first, second] = await unknown.shows(/^(\d+)\n(\d+)\n/);
  t.is(Number(second), Number(first) + 1);
});

test.serial('D-01: watch follows the longest address there may be', async (t) => {
  const id = '('.repeat(255);
  const hub = await startTestHub(t, {
    connections: { api, ['x'.repeat(64)]: { type: 'dummy', parameters: [`${id},I,1`] } },
  });
  const watching = watchHere(t, `${'x'.repeat(64)}/${id}`, { url: `http://127.0.0.1:${hub.port}` });
  t.truthy(await watching.shows(/^1\n/));
});

test.serial('watch reports the end of the hub, with status 1', async (t) => {
  const { url, hub } = await startDesk(t);
  const watching = start(t, ['watch', 'desk/lamp', '--url', url]);
  await watching.shows(/^true\n/);
  await hub.stop();
  const { status, errors } = await watching.ended();
  t.deepEqual([status, errors], [1, `${url}: the connection was closed (1001, the hub is shutting down)\n`]);
});

test.serial('watch keeps only the newest value while nobody reads its output', async (t) => {
  const { url, hub } = await startDesk(t);
  const watching = start(t, ['watch', 'desk/text', '--url', url]);
  await watching.shows(/^hällo\n/);
  watching.process.stdout!.pause();
  const last = 300;
  const text = (number: number) => `${number} ${'x'.repeat(20_000)}`;
  for (let number = 1; number <= last; number++) {
    hub.write('desk/text', text(number), { kind: 'client', name: 'test' });
    if (number % 10 === 0) await ask(t, hub.port, 'GET /hub/health'); // a round of the hub
  }
  await ask(t, hub.port, 'GET /hub/health');
  watching.process.stdout!.resume();
  await watching.shows(new RegExp(`^${last} x`, 'm'));
  watching.process.kill('SIGINT');
  const { status, output } = await watching.ended();
  t.is(status, 0);
  const numbers = output.trim().split('\n').map(Number.parseInt);
  t.true(numbers.length < last, `${numbers.length} values`);
});

test.serial('watch ends silently when its reader has left', async (t) => {
  const { url, hub } = await startDesk(t);
  const watching = start(t, ['watch', 'desk/lamps', '--url', url]);
  await watching.shows(/^3\n/);
  watching.process.stdout?.destroy();
  let value = 3;
  const change = setInterval(() => hub.write('desk/lamps', ++value, { kind: 'client', name: 'test' }), 20);
  t.teardown(() => clearInterval(change));
  const { status, errors } = await watching.ended();
  t.deepEqual([status, errors], [0, '']);
});
