// `patchbay check`, and what every command refuses to load (S-06, D-20, D-01, D-08, D-11): each
// mistake with its file, line and path, all of them at once, exit status 1.

import { execFileSync } from 'node:child_process';
import { chmod, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { env } from 'node:process';
import test from 'ava';
import { check } from '../../lib/command/check-command.ts';
import { loadFlows } from '../../lib/hub/index.ts';
import { createFolder } from '../support/folder.ts';
import { call, runToEnd } from '../support/system/process.ts';

const ten = `{
  connections: {
    api: { type: 'rest-api', port: 65536, webSocketFilters: ['('] },
    'Desk': { type: 'dummy' },
    desk: { type: 'dummy', parameters: ['level,F,loud', 'lamp,B', 'lamp,B'] },
    clock: { type: 'timer', timers: [${'1,'.repeat(17)}], pulses: [{ intervall: 5 }] },
    tymer: { type: 'timmer' },
    spare: { type: 'timer', pulses: [{}] },
  },
  rules: [
    { from: 'spare/pulse/2', to: 'spare/pulse/1' },
  ],
}`;

test('D-20: check names ten mistakes at once, with file, line, column and path, and ends with status 1', async (t) => {
  const folder = await createFolder(t, { 'ten.json5': ten });
  const { status, output, errors } = await runToEnd(t, ['check', folder]);
  t.is(status, 1);
  t.is(output, '');
  const file = join(folder, 'ten.json5');
  const lines = errors.trimEnd().split('\n');
  t.is(lines.pop(), '10 errors');
  t.true(lines.every((line) => line.startsWith(`${file}:`)));
  t.deepEqual(
    lines.map((line) => line.slice(file.length + 1).replace(/(expected a regular expression, got "\("): .*/, '$1')),
    [
      '3:30: connections.api.port: expected an integer 0..65535, got 65536 (number)',
      '3:62: connections.api.webSocketFilters[0]: expected a regular expression, got "("',
      '4:5: connections.Desk: expected a Connection ID of 1 to 64 characters a-z, 0-9 and -, got "Desk" (string)',
      '5:41: connections.desk.parameters[0]: expected a number, got "loud" (string)',
      '5:67: connections.desk.parameters[2]: expected each Parameter ID once, got "lamp" twice',
      '6:29: connections.clock.timers: expected at most 16 timers, got [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] (array)',
      '6:86: connections.clock.pulses[0].intervall: unknown setting "intervall", did you mean "interval"?',
      '7:14: connections.tymer.type: unknown connection type "timmer", did you mean "timer"?',
      '11:7: rules[0].from: unknown parameter "spare/pulse/2", did you mean "spare/pulse/1"?',
      '11:30: rules[0].to: expected a writable parameter, but "spare/pulse/1" is read-only',
    ],
  );
});

test('D-20: check of good files prints counts, and ends with status 0', async (t) => {
  const folder = await createFolder(t, {
    'a.json5': { connections: { api: { type: 'rest-api', port: 0 }, desk: { type: 'dummy', parameters: 'a\nb' } } },
    'more/b.json5': { rules: [{ from: 'desk/a', to: 'desk/b' }] },
  });
  const { status, output, errors } = await call((console) => check([folder], console));
  t.deepEqual([status, output, errors], [0, 'ok: 2 connections, 1 rule\n', '']);
});

const settings: [what: string, connections: object | string, expected: string[]][] = [
  [
    'out-of-range and wrong ports',
    {
      a: { type: 'rest-api', port: -1 },
      b: { type: 'rest-api', port: 1.5 },
      c: { type: 'rest-api', port: '80' },
      d: { type: 'rest-api', port: null },
    },
    [
      'connections.a.port: expected an integer 0..65535, got -1 (number)',
      'connections.b.port: expected an integer 0..65535, got 1.5 (number)',
      'connections.c.port: expected an integer 0..65535, got "80" (string)',
      'connections.d.port: expected an integer 0..65535, got null',
    ],
  ],
  [
    'unknown settings of a REST API connection',
    { api: { type: 'rest-api', prot: 1, documentroot: '', tls: { cert: '' } } },
    [
      'connections.api.tls.cert: unknown setting "cert", did you mean "certFile"?',
      'connections.api.tls.keyFile: expected text, got nothing',
      'connections.api.prot: unknown setting "prot", did you mean "port"?',
      'connections.api.documentroot: unknown setting "documentroot", did you mean "documentRoot"?',
    ],
  ],
  [
    'wrong types, secrets not shown',
    {
      api: { type: 'rest-api', bindIp: 'localhost', password: 17, token: ['x'], maxClients: 0, allowedOrigins: ['x'] },
    },
    [
      'connections.api.bindIp: expected an IP address, got "localhost"',
      'connections.api.password: expected text, got ***',
      'connections.api.token: expected text, got ***',
      'connections.api.allowedOrigins[0]: expected an origin such as https://panel.example, got "x" (string)',
      'connections.api.maxClients: expected an integer 1..1000000, got 0 (number)',
    ],
  ],
  [
    'hosts that no request would have',
    { api: { type: 'rest-api', allowedHosts: ['hub.example', 'https://hub.example', 'hub:80', '*.example', ''] } },
    ['https://hub.example', 'hub:80', '*.example', ''].map(
      (host, index) =>
        `connections.api.allowedHosts[${index + 1}]: expected a name without scheme, port and wildcard, such as hub.example, got "${host}" (string)`,
    ),
  ],
  [
    'two connections on one port',
    {
      a: { type: 'rest-api', port: 18_000 },
      b: { type: 'rest-api', port: 18_000, bindIp: '127.0.0.1' },
      c: { type: 'rest-api', port: 18_001, bindIp: '127.0.0.1' },
      d: { type: 'rest-api', port: 18_001, bindIp: '0.0.0.0' },
      e: { type: 'rest-api', port: 18_002, bindIp: '127.0.0.1' },
      f: { type: 'rest-api', port: 18_002, bindIp: '127.0.0.2' },
      g: { type: 'rest-api', port: 18_000, enabled: false },
      h: { type: 'rest-api', port: 0 },
      i: { type: 'rest-api', port: 0 },
    },
    [
      'connections.b: expected exclusive use of port 18000, but "a" also uses it',
      'connections.d: expected exclusive use of port 18001, but "c" also uses it',
    ],
  ],
  [
    'a Connection ID twice in one file',
    `{ connections: { desk: { type: 'dummy' }, desk: { type: 'timer' } } }`,
    ['connections.desk: expected "desk" once, got several'],
  ],
  [
    'no connection at all in the settings',
    { a: 1, b: null, c: ['dummy'], d: {}, e: { type: 7 } },
    [
      'connections.a: expected the settings of a connection, got 1 (number)',
      'connections.b: expected the settings of a connection, got null',
      'connections.c: expected the settings of a connection, got ["dummy"] (array)',
      'connections.d.type: expected one of TYPES, got nothing',
      'connections.e.type: expected one of TYPES, got 7 (number)',
    ],
  ],
];
for (const [what, connections, expected] of settings)
  test(`D-20: ${what}: each is a mistake of its own`, async (t) => {
    const flow = typeof connections === 'string' ? connections : { connections };
    const folder = await createFolder(t, { 'flow.json5': flow });
    const { status, errors } = await call((console) => check([folder], console));
    t.is(status, 1);
    const lines = errors.trimEnd().split('\n').slice(0, -1);
    t.deepEqual(
      lines.map((line) =>
        line.replace(/^.*flow\.json5:\d+:\d+: /, '').replace(/one of [a-z-]+, [a-z, -]+,/, 'one of TYPES,'),
      ),
      expected,
    );
  });

test('D-01: a Connection ID in two files is a mistake that names both', async (t) => {
  const folder = await createFolder(t, {
    'one.json5': { connections: { desk: { type: 'dummy' } } },
    'two.json5': { connections: { desk: { type: 'timer' } } },
  });
  const { status, errors } = await call((console) =>
    check([join(folder, 'one.json5'), join(folder, 'two.json5')], console),
  );
  t.is(status, 1);
  t.regex(errors, /two\.json5:\d+:\d+: connections\.desk: .*"desk" is also in .*one\.json5\n1 error\n$/);
});

test('D-20: missing, empty and malformed files are named, one line each', async (t) => {
  const folder = await createFolder(t, { 'bad.json5': '{ connections: { ', 'empty.json5': '', 'list.json5': '[]' });
  const names = ['nothing.json5', 'bad.json5', 'empty.json5', 'list.json5'].map((name) => join(folder, name));
  const { status, errors } = await call((console) => check([...names], console));
  t.is(status, 1);
  const lines = errors.trimEnd().split('\n');
  t.is(lines.length, 5);
  t.is(lines[0], `${names[0]}: expected a file or folder, but nothing with this name exists`);
  t.regex(lines[1]!, /bad\.json5:1:16: expected \} to close \{, got the end of the file$/);
  t.regex(lines[2]!, /empty\.json5:1:1: expected \{ … \}, got an empty file$/);
  t.regex(lines[3]!, /list\.json5:1:1: expected an object such as .*, got \[\] \(array\)$/);
});

test('check alone warns of valid but probably unintended settings, each in a line with its place', async (t) => {
  env.PATCHBAY_SPEC_PASSWORD = 'pass-from-env';
  const users = {
    ann: { password: 'geheim', read: ['desk/**', 'dekc/**'], write: ['**/b', '*/z'], deny: ['hub/started'] },
    hashed: { password: '$scrypt$ln=4,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$bm9ib2R5IGhhcyB0aGlzIG9uZQ', metrics: true },
    idle: { token: { file: 'open.txt' }, deny: ['desk/a'] },
    door: { token: { file: 'closed.txt' }, dashboards: ['door'] },
  };
  const api = { type: 'rest-api', password: { env: 'PATCHBAY_SPEC_PASSWORD' }, users, anonymous: { read: ['desk/c'] } };
  const tls = { certFile: 'cert.pem', keyFile: 'open.txt' };
  const folder = await createFolder(t, {
    'flow.json5': { connections: { api: { ...api, tls }, desk: { type: 'dummy', parameters: ['a', 'b'] } } },
    'open.txt': 'open-token',
    'closed.txt': 'closed-token',
  });
  await chmod(join(folder, 'open.txt'), 0o644);
  await chmod(join(folder, 'closed.txt'), 0o640);
  const { status, output, errors } = await call((console) => check([folder], console));
  t.deepEqual([status, output], [0, 'ok: 2 connections, 0 rules\n']);
  const lines = errors.trimEnd().split('\n');
  for (const line of lines) t.regex(line, /^warning: \S+flow\.json5:\d+:\d+: /);
  const noneSuch = 'expected a glob that matches a parameter, got';
  const forAll = `expected a file that only the hub can read (chmod o-r), but everybody on this machine can read ${join(folder, 'open.txt')}`;
  t.deepEqual(lines.map((line) => line.replace(/^.*?connections\.api\./, '')).sort(), [
    `anonymous.read[0]: ${noneSuch} "desk/c" (string)`,
    `tls.keyFile: ${forAll}`,
    'users.ann.password: expected { env }, { file } or, for a user, a hash from "patchbay password", got a password in plain text',
    `users.ann.read[1]: ${noneSuch} "dekc/**" (string)`,
    `users.ann.write[1]: ${noneSuch} "*/z" (string)`,
    `users.idle.token.file: ${forAll}`,
    'users.idle: expected one of the rights read, write, dashboards, edit, manage and metrics; this user has none',
  ]);
  t.deepEqual((await loadFlows([folder])).warnings, [], 'a hub that starts says nothing of it');
});

/** A hub with a folder of dashboards; `widgets` are those of the file `wall.json5`, on a line each from the third line on. */
const withDashboard = (widgets: readonly string[], more: Readonly<Record<string, unknown>> = {}) => ({
  'flow.json5': {
    connections: {
      api: { type: 'rest-api', port: 0, dashboards: 'dashboards' },
      desk: { type: 'dummy', parameters: ['lamp,B', 'level,F'] },
    },
  },
  'dashboards/wall.json5': `{\n  widgets: [\n    ${widgets.join(',\n    ')}\n  ] }`,
  ...more,
});

test('D-20: mistakes in dashboards are named with file, line and column, and unknown addresses with the nearest', async (t) => {
  const folder = await createFolder(
    t,
    withDashboard(
      [
        `{ type: 'lamp', address: 'desk/lmap' }`,
        `{ type: 'lamp', adress: 'desk/lamp' }`,
        `{ type: 'button', address: 'desk/lamp', lamp: 'dekc/lamp' }`,
        `{ type: 'plot', addresses: ['desk/level', 'desk/levle'] }`,
        `{ type: 'group', size: [2, 1], widgets: [{ type: 'value', address: 'desk' }, { type: 'meter', address: 'hub/start' }] }`,
        `{ each: { n: ['lamp', 'lamb'] }, type: 'value', address: 'desk/\${n}' }`,
      ],
      {
        'dashboards/broken.json5': '{ widgets: [',
        'dashboards/_note.json5': 'no dashboard',
        'dashboards/note.txt': 'none either',
      },
    ),
  );
  execFileSync('mkfifo', [join(folder, 'dashboards/pipe.json5')]);
  await symlink('wall.json5', join(folder, 'dashboards/other.json5'));
  await mkdir(join(folder, 'dashboards/more.json5'));
  const { status, output, errors } = await runToEnd(t, ['check', join(folder, 'flow.json5')]);
  t.deepEqual([status, output], [1, '']);
  const lines = errors.trimEnd().replaceAll(`${folder}/`, '').split('\n');
  const noFile = 'expected a file (the hub does not follow links here), got';
  t.deepEqual(lines.splice(0, 3).sort(), [
    `dashboards/more.json5: ${noFile} a folder`,
    `dashboards/other.json5: ${noFile} a link`,
    `dashboards/pipe.json5: ${noFile} a named pipe`,
  ]);
  t.deepEqual(lines, [
    'dashboards/broken.json5:1:12: expected ] to close [, got the end of the file',
    'dashboards/wall.json5:3:21: widgets[0].address: unknown parameter "desk/lmap", did you mean "desk/lamp"?',
    'dashboards/wall.json5:4:21: widgets[1].adress: unknown setting "adress", did you mean "address"?',
    'dashboards/wall.json5:5:45: widgets[2].lamp: unknown connection "dekc", did you mean "desk"? (address "dekc/lamp")',
    'dashboards/wall.json5:6:47: widgets[3].addresses[1]: unknown parameter "desk/levle", did you mean "desk/level"?',
    'dashboards/wall.json5:7:63: widgets[4].widgets[0].address: expected <Connection ID>/<Parameter ID>, got "desk" (string)',
    'dashboards/wall.json5:7:99: widgets[4].widgets[1].address: unknown parameter "hub/start", did you mean "hub/started"?',
    'dashboards/wall.json5:8:53: widgets[5].address: unknown parameter "desk/lamb", did you mean "desk/lamp"? (n = "lamb")',
    '11 errors',
  ]);
});

test('mistakes in dashboards are listed with those in flow files, and none prevents the start of a hub', async (t) => {
  const files = withDashboard([`{ type: 'lamp', address: 'desk/lmap' }`]);
  const folder = await createFolder(t, files);
  await t.notThrowsAsync(loadFlows([folder]));
  const both = await createFolder(t, { ...files, 'rules.json5': { rules: [{ from: 'desk/level', to: 'desk/lmap' }] } });
  const { status, errors } = await call((console) => check([both], console));
  t.is(status, 1);
  const lines = errors.trimEnd().split('\n');
  t.is(lines.length, 3);
  t.regex(lines[0]!, /rules\.json5:.*unknown parameter "desk\/lmap", did you mean "desk\/lamp"\?$/);
  t.regex(lines[1]!, /dashboards\/wall\.json5:3:21: widgets\[0\]\.address: unknown parameter/);
});

test('check ignores addresses of other hubs, and is silent about good dashboards', async (t) => {
  const files = withDashboard([
    `{ type: 'lamp', address: 'desk/lamp' }`,
    `{ type: 'lamp', address: 'west-desk/lamp' }`,
  ]);
  const nats = { type: 'nats', servers: ['nats://127.0.0.1:1'], domain: 'house', hub: 'east' };
  const folder = await createFolder(t, { ...files, 'nats.json5': { connections: { nats } } });
  const { status, output, errors } = await call((console) => check([folder], console));
  t.deepEqual([status, output, errors], [0, 'ok: 3 connections, 0 rules\n', '']);
});

test('a missing folder of dashboards is probably a mistake', async (t) => {
  const { 'flow.json5': flow } = withDashboard([]);
  const folder = await createFolder(t, { 'flow.json5': flow });
  const { status, errors } = await call((console) => check([folder], console));
  t.is(status, 0);
  const expected = `: connections.api.dashboards: expected a folder of dashboards at ${join(folder, 'dashboards')}, got no folder\n`;
  t.true(errors.endsWith(expected), errors);
});
