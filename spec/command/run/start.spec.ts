// `patchbay run`: starts or says in one sentence why not, with nothing half-started (D-20, D-19, D-31).

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import { createFolder } from '../../support/folder.ts';
import { ask } from '../../support/http.ts';
import { api, startTestHub } from '../../support/hub.ts';
import { openClient } from '../../support/sockets/socket.ts';
import { startHubProcess } from '../../support/system/hub-process.ts';
import { freePort, isListening } from '../../support/system/port.ts';
import { runToEnd, start } from '../../support/system/process.ts';

const desk = { type: 'dummy', parameters: ['lamp,B,true'] };

test.serial(
  'D-31: a port that another process holds ends the start with one sentence and status 1, nothing half-started',
  async (t) => {
    const server = createServer().listen(0, '127.0.0.1');
    t.teardown(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const otherPort = await freePort();
    const folder = await createFolder(t, {
      'flow.json5': {
        connections: { first: { ...api, port: otherPort }, second: { ...api, port }, desk },
      },
    });
    const { status, output, errors } = await runToEnd(t, ['run', '--log-format', 'json', folder]);
    t.is(status, 1);
    t.is(
      errors,
      `connection "second": port: expected a free port, 127.0.0.1 port ${port} is in use or not of this machine\n`,
    );
    t.false(output.includes('patchbay 0'));
    t.false(await isListening(otherPort));
  },
);

test.serial('D-31: two hubs never share a port, also when one listens on all interfaces', async (t) => {
  const port = await freePort();
  await startTestHub(t, { connections: { api: { type: 'rest-api', port, token: 'YQ==' }, desk } });
  for (const bindIp of ['', '127.0.0.1']) {
    const flow = { connections: { api: { ...api, bindIp, port }, desk } };
    const { status, errors } = await runToEnd(t, ['run', await createFolder(t, { 'flow.json5': flow })]);
    t.is(status, 1);
    t.regex(errors, /^connection "api": port: expected a free port, [^\n]+ is in use or not of this machine\n$/);
  }
  t.is((await ask(t, port, 'GET /hub/', { headers: { authorization: 'Bearer YQ==' } })).status, 200);
});

test.serial('S-06: bindIp listens on that address alone', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...api, bindIp: '127.0.0.2' } } });
  await t.throwsAsync(ask(t, hub.port, 'GET /hub/'));
  const message =
    /^connection "api": port: expected a free port, 203\.0\.113\.7 port 0 is in use or not of this machine$/;
  await t.throwsAsync(startTestHub(t, { connections: { api: { ...api, bindIp: '203.0.113.7' } } }), { message });
});

const refusals: [what: string, args: string[], errors: RegExp][] = [
  [
    'a file that is not there',
    ['run', 'nothing.json5'],
    /^nothing\.json5: expected a file or folder, there is none of this name\n$/,
  ],
  ['the same without the word run', ['nothing.json5'], /^nothing\.json5: expected a file or folder/],
  ['an unknown log level', ['run', '--log-level', 'loud'], /^--log-level: expected one of .*, got "loud"\n$/],
  [
    'an unknown option',
    ['run', '--bogus'],
    /^error: unknown option '--bogus'\n\(patchbay --help shows what there is\)\n$/,
  ],
  ['a missing argument', ['get'], /^error: missing required argument 'address'\n/],
];
for (const [what, args, expected] of refusals)
  test.serial(`D-30: ${what} is one clear sentence and exit status 1`, async (t) => {
    const { status, output, errors } = await runToEnd(t, args);
    t.is(status, 1);
    t.is(output, '');
    t.regex(errors, expected);
  });

test.serial('D-20: run with mistakes names all of them and starts nothing', async (t) => {
  const folder = await createFolder(t, {
    'flow.json5': {
      connections: { api, desk: { type: 'dummy', parameters: ['a,I,x', 'b,Q'] } },
      rules: [{ from: 'desk/a', to: 'no/where' }],
    },
  });
  const { status, output, errors } = await runToEnd(t, ['run', folder]);
  t.is(status, 1);
  t.is(output, '');
  t.is(errors.trimEnd().split('\n').length, 3);
});

test.serial(
  'D-30: run takes files and folders, and addresses reach across them; --log-format pretty is for people',
  async (t) => {
    const folder = await createFolder(t, {
      'desk.json5': { connections: { desk } },
      'more/api.json5': { connections: { api } },
      'more/rules.json5': {
        connections: { copy: { type: 'dummy', parameters: ['lamp,B'] } },
        rules: [{ from: 'desk/lamp', to: 'copy/lamp' }],
      },
      'more/notes.txt': 'no flow file',
    });
    const running = start(t, ['--log-format', 'pretty', join(folder, 'desk.json5'), join(folder, 'more')]);
    const [, port] = await running.shows(/listens on http:\/\/127\.0\.0\.1:(\d+)\//);
    await running.shows(/patchbay \S+ runs 3 connections, 1 rules, 2 parameters/);
    await ask(t, Number(port), 'GET /update?parameter=desk/lamp&value=false');
    t.is((await ask(t, Number(port), 'GET /parameters/copy/lamp')).text, 'false');
    running.process.kill('SIGINT');
    const { status, output } = await running.ended();
    t.is(status, 0);
    t.false(output.includes('{"level"'));
  },
);

test.serial(
  'D-30: the log is JSON lines for machines, without secrets, quiet about what clients do wrong',
  async (t) => {
    const secrets = { username: 'ann', password: 'pass-word', token: 'c2VjcmV0' };
    const running = await startHubProcess(t, { connections: { api: { ...api, ...secrets }, desk } });
    const headers = { authorization: 'Bearer c2VjcmV0' };
    await ask(t, running.port, 'GET /parameters/desk/lamp', { headers: { authorization: 'Bearer d3Jvbmc=' } });
    await ask(t, running.port, 'GET /update?parameter=desk/lamp', { headers });
    const client = await openClient(t, running.port, '', headers);
    client.send('nonsense');
    t.regex((await client.next()).error ?? '', /^expected JSON/);
    running.process.kill('SIGTERM');
    const { status, output, errors } = await running.ended();
    t.is(status, 0);
    t.is(errors, '');
    const lines = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    t.true(lines.every(({ level, time, msg }) => level === 30 && Date.parse(time) > 0 && typeof msg === 'string'));
    for (const secret of ['pass-word', 'c2VjcmV0', 'd3Jvbmc=']) t.false(output.includes(secret));
  },
);

test.serial('what is printed is whole, however long it is', async (t) => {
  // Several times what a pipe holds.
  const parameters = Array.from({ length: 5_000 }, (_, index) => `a-parameter-with-a-long-name-${index}`);
  const folder = await createFolder(t, { 'flow.json5': { connections: { desk: { type: 'dummy', parameters } } } });
  const { status, output } = await runToEnd(t, ['types', folder]);
  t.is(status, 0);
  t.is(output.match(/a-parameter-with-a-long-name-/g)?.length, 5_000);
});

test.serial('D-30: --version, --help and schema print to standard output', async (t) => {
  const version = await runToEnd(t, ['--version']);
  const help = await runToEnd(t, ['--help']);
  const schema = await runToEnd(t, ['schema']);
  const dashboards = await runToEnd(t, ['schema', '--dashboard']);
  t.true('widgets' in (JSON.parse(dashboards.output) as { properties: object }).properties);
  t.regex(version.output, /^\d+\.\d+\.\d+\n$/);
  for (const command of ['run', 'check', 'schema', 'get', 'set', 'watch'])
    t.regex(help.output, new RegExp(`^  ${command} `, 'm'));
  t.is(typeof JSON.parse(schema.output).properties.connections, 'object');
  t.deepEqual([version.status, help.status, schema.status], [0, 0, 0]);
});
