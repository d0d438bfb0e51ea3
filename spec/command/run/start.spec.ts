// `patchbay run`: starts or says in one sentence why not, with nothing half-started (D-20, D-19, D-31).

import { EventEmitter, once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createEnding } from '../../../lib/command/ending.ts';
import { type RunOptions, run } from '../../../lib/command/run/run.ts';
import { schema } from '../../../lib/command/schema-command.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { ask } from '../../support/http.ts';
import { api, startTestHub } from '../../support/hub.ts';
import { openClient } from '../../support/sockets/socket.ts';
import { freePort, isListening } from '../../support/system/port.ts';
import { call, runToEnd, start } from '../../support/system/process.ts';

const desk = { type: 'dummy', parameters: ['lamp,B,true'] };

/** Starts a path as `patchbay run <path> --log-format json` does, but in this process. */
async function startHere(t: ExecutionContext, path: string, options: Partial<RunOptions> = {}) {
  const log = join(await createFolder(t), 'log');
  const logDescriptor = openSync(log, 'w'); // it stays open: a line may be on its way, and a socket would get the number next
  const readLog = () => readFileSync(log, 'utf8');
  const { console } = globalThis;
  const host = Object.assign(new EventEmitter(), {
    stdout: new EventEmitter(),
    stderr: new EventEmitter(),
    exitCode: null as number | null,
    exit() {},
  });
  const stopped = Promise.withResolvers<string>();
  const called = call(async (console) => {
    const running = run([path], {
      ...{ logLevel: 'info', logFormat: 'json', logDescriptor, watch: true, warmUp: false },
      supervisor: { ready() {}, stopping() {} },
      createGuard: () => ({ protect() {} }),
      onReloadSignal() {},
      untilStopped: () => stopped.promise,
      onExit: (work) => host.once('exit', work),
      ...options,
    });
    await createEnding(host as unknown as NodeJS.Process, console).finish(running);
    return 0;
  });
  const ended = async () => {
    const { errors } = await called;
    globalThis.console = console; // it was that of flow files
    host.emit('exit');
    return { status: host.exitCode, output: readLog(), errors };
  };
  return { readLog, stop: () => stopped.resolve('SIGTERM'), ended };
}

const runHere = async (...args: Parameters<typeof startHere>) => (await startHere(...args)).ended();

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
    const { status, output, errors } = await runHere(t, folder);
    t.is(status, 1);
    const why = `connections.second.port: expected a free port, but 127.0.0.1 port ${port} is in use or does not belong to this machine: set another port, or stop the program that uses it`;
    t.is(errors.replace(/:\d+:\d+:/, ':'), `${join(folder, 'flow.json5')}: ${why}\n`);
    t.false(output.includes('expected a free port'), 'the log does not repeat it');
    t.false(output.includes('patchbay 0'));
    t.false(await isListening(otherPort));
  },
);

test.serial('D-31: two hubs never share a port, also when one listens on all interfaces', async (t) => {
  const port = await freePort();
  await startTestHub(t, { connections: { api: { type: 'rest-api', port, token: 'YQ==' }, desk } });
  for (const bindIp of ['', '127.0.0.1']) {
    const flow = { connections: { api: { ...api, bindIp, port }, desk } };
    const { status, errors } = await runHere(t, await createFolder(t, { 'flow.json5': flow }));
    t.is(status, 1);
    t.regex(
      errors,
      /: connections\.api\.port: expected a free port, but [^\n]+ is in use or does not belong to this machine: set another port, or stop the program that uses it\n$/,
    );
  }
  const { status, headers, text } = await ask(t, port, 'GET /hub/', { headers: { authorization: 'Bearer YQ==' } });
  t.is(status, 200, JSON.stringify({ headers, text }));
});

const whereOthersListen: readonly (readonly [what: string, port: string, place: string])[] = [
  ['written', ', port: 17011', '4:51'],
  ['left out', '', '4:5'],
];
for (const [what, setting, place] of whereOthersListen)
  test.serial(
    `D-31: a port, ${what}, that another process holds is named with file and line, and the store ends cleanly each time`,
    async (t) => {
      const server = createServer().listen(17_011, '127.0.7.9');
      t.teardown(() => server.close());
      await Promise.race([once(server, 'listening'), once(server, 'error')]); // whoever has it
      const text = (api: string) =>
        `{\n  connections: {\n    store: { type: 'store', folder: 'data' },\n    api: { ${api} },\n  },\n}\n`;
      const folder = await createFolder(t, {
        'flow.json5': text(`type: 'rest-api', bindIp: '127.0.7.9'${setting}`),
      });
      const path = join(folder, 'flow.json5');
      for (const _ of [1, 2]) {
        const { status, output, errors } = await runHere(t, folder);
        t.is(status, 1);
        t.true(errors.startsWith(`${path}:${place}: connections.api.port: expected a free port`), errors);
        t.false(output.includes('not ended cleanly'), output);
      }
      await writeFile(path, text("type: 'rest-api', port: 0, bindIp: '127.0.0.1'"));
      const { readLog, stop, ended } = await startHere(t, folder);
      await eventually(() => readLog().includes('the hub was restarted: it had ended cleanly'), 'the end before');
      stop();
      t.is((await ended()).status, 0);
    },
  );

test.serial('S-06: bindIp listens on that address only', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...api, bindIp: '127.0.0.2' } } });
  await t.throwsAsync(ask(t, hub.port, 'GET /hub/'));
  const message =
    /: connections\.api\.port: expected a free port, but 203\.0\.113\.7 port 0 is in use or does not belong to this machine: set another port, or stop the program that uses it$/;
  await t.throwsAsync(startTestHub(t, { connections: { api: { ...api, bindIp: '203.0.113.7' } } }), { message });
});

const noFile = /^nothing\.json5: expected a file or folder, but nothing with this name exists\n$/;
const refusals: [what: string, run: (t: ExecutionContext) => ReturnType<typeof runHere>, errors: RegExp][] = [
  ['a file that is not there', (t) => runHere(t, 'nothing.json5'), noFile],
  ['the same on the command line, without the word run', (t) => runToEnd(t, ['nothing.json5']), noFile],
  [
    'an unknown log level',
    (t) => runHere(t, 'nothing.json5', { logLevel: 'loud' }),
    /^--log-level: expected one of .*, got "loud"\n$/,
  ],
  [
    'an unknown option',
    (t) => runToEnd(t, ['run', '--bogus']),
    /^error: unknown option '--bogus'\n\(patchbay --help lists all commands\)\n$/,
  ],
  ['a missing argument', (t) => runToEnd(t, ['get']), /^error: missing required argument 'address'\n/],
  [
    'a misspelt command, without what stands behind it',
    (t) => runToEnd(t, ['passwrd', 'pass-word']),
    /^passwrd: expected a command, a file or a folder, did you mean "\S.* password"\?\n$/,
  ],
  [
    'a short option, without what stands behind it',
    (t) => runToEnd(t, ['get', 'desk/lamp', '-ppass-word']),
    /^error: unknown option '-p\*\*\*'\n/,
  ],
  [
    'a hub that is not there, without the query of its URL',
    (t) => runToEnd(t, ['get', 'desk/lamp', '--url', 'http://127.0.0.1:9/?token=pass-word']),
    /^http:\/\/127\.0\.0\.1:9: cannot reach a hub: .+\n$/,
  ],
];
for (const [what, run, expected] of refusals)
  test.serial(`D-30: ${what} causes one clear sentence and exit status 1`, async (t) => {
    const { status, output, errors } = await run(t);
    t.is(status, 1);
    t.is(output, '');
    t.regex(errors, expected);
  });

test.serial('the help names the variables of credentials, and shows none', async (t) => {
  const env = {
    PATCHBAY_USERNAME: 'secret-1',
    PATCHBAY_PASSWORD: 'secret-2',
    PATCHBAY_TOKEN: 'secret-3',
    PATCHBAY_URL: 'http://secret-4',
  };
  const { status, output } = await runToEnd(t, ['get', '--help'], env);
  t.is(status, 0);
  t.false(output.includes('secret'), output);
  const unwrapped = output.replaceAll(/\s+/g, ' ');
  for (const name of Object.keys(env)) t.true(unwrapped.includes(`env: ${name}`), output);
});

test.serial('D-20: run with mistakes names all of them and starts nothing', async (t) => {
  const folder = await createFolder(t, {
    'flow.json5': {
      connections: { api, desk: { type: 'dummy', parameters: ['a,I,x', 'b,Q'] } },
      rules: [{ from: 'desk/a', to: 'no/where' }],
    },
  });
  const { status, output, errors } = await runHere(t, folder);
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
    const [, port] = await running.shows(/listening on http:\/\/127\.0\.0\.1:(\d+)\//);
    await running.shows(/patchbay \S+ started with 3 connections, 1 rule, 2 parameters/);
    await ask(t, Number(port), 'GET /update?parameter=desk/lamp&value=false');
    t.is((await ask(t, Number(port), 'GET /parameters/copy/lamp')).text, 'false');
    running.process.kill('SIGINT');
    const { status, output } = await running.ended();
    t.is(status, 0);
    t.false(output.includes('{"level"'));
  },
);

test.serial('D-30: the log is JSON lines for machines, without secrets, and ignores mistakes of clients', async (t) => {
  const secrets = { username: 'ann', password: 'pass-word', token: 'c2VjcmV0' };
  const flow = { connections: { api: { ...api, ...secrets }, desk } };
  const { readLog, stop, ended } = await startHere(t, await createFolder(t, { 'flow.json5': flow }));
  await eventually(() => /patchbay \S+ started with/.test(readLog()), 'it runs');
  const port = Number(/listening on [^"]*:(\d+)\//.exec(readLog())?.[1]);
  const headers = { authorization: 'Bearer c2VjcmV0' };
  await ask(t, port, 'GET /parameters/desk/lamp', { headers: { authorization: 'Bearer d3Jvbmc=' } });
  await ask(t, port, 'GET /update?parameter=desk/lamp', { headers });
  const client = await openClient(t, port, '', headers);
  client.send('nonsense');
  t.regex((await client.next()).error ?? '', /^expected JSON/);
  stop();
  const { status, output, errors } = await ended();
  t.is(status, 0);
  t.is(errors, '');
  const lines = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.true(lines.every(({ level, time, msg }) => level === 30 && Date.parse(time) > 0 && typeof msg === 'string'));
  for (const secret of ['pass-word', 'c2VjcmV0', 'd3Jvbmc=']) t.false(output.includes(secret));
});

test.serial('D-30: --version, --help and schema print completely to standard output', async (t) => {
  const version = await runToEnd(t, ['--version']);
  const help = await runToEnd(t, ['--help']);
  const flows = await runToEnd(t, ['schema']);
  const dashboards = await runToEnd(t, ['schema', '--dashboard']);
  t.true('widgets' in (JSON.parse(dashboards.output) as { properties: object }).properties);
  t.regex(version.output, /^\d+\.\d+\.\d+\n$/);
  for (const command of ['run', 'check', 'schema', 'get', 'set', 'watch'])
    t.regex(help.output, new RegExp(`^  ${command} `, 'm'));
  t.is(typeof JSON.parse(flows.output).properties.connections, 'object');
  t.is(flows.output, (await call((console) => schema({}, console))).output);
  t.true(flows.output.length > 3 * 65_536, 'several times what a pipe holds');
  t.deepEqual([version.status, help.status, flows.status, dashboards.status], [0, 0, 0, 0]);
});
