// Requests come in one piece, one behind the other (RFC 9112 section 9.3.2). The library ends a connection on which a request comes while an
// answer is due. So the hub answers all that it can before it looks at the next one.

import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { isOnLocalDisk } from '../../../../lib/connections/rest-api/files/reading.ts';
import { eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { openWire, request } from '../../../support/http.ts';
import { api, startTestHub } from '../../../support/hub.ts';
import { shared } from '../../../support/shared.ts';
import { startHubProcess } from '../../../support/system/hub-process.ts';

const large = randomBytes(1024 * 1024);

async function startSite(t: ExecutionContext) {
  const folder = await createFolder(t, {
    'www/index.html': 'index',
    'www/a.txt': 'small',
    'www/panel/index.html': 'panel',
    'pages/studio.json5': "{ title: 'Studio', columns: 12, widgets: [] }",
  });
  await writeFile(join(folder, 'www/large.bin'), large);
  await writeFile(join(folder, 'www/quarter.bin'), large.subarray(0, 256 * 1024));
  await mkdir(join(folder, 'www/empty'));
  if (!isOnLocalDisk(folder)) t.log('temporary files are on no local disk: files are answered later here');
  const hub = await startTestHub(t, {
    connections: {
      api: { ...api, documentRoot: join(folder, 'www'), dashboards: join(folder, 'pages') },
      desk: { type: 'dummy', parameters: ['lamp,B,true', 'i,I,0', 's'] },
      clock: { type: 'timer', pulses: [{ interval: 3_600_000 }] },
    },
    rules: [{ name: 'copy', from: 'desk/lamp', to: 'desk/i' }],
  });
  return Object.assign(hub, { isLocal: isOnLocalDisk(folder) });
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const json = { 'content-type': 'application/json' };
type Kind = [line: string, status: number, question?: { headers?: Record<string, string>; body?: string }];

const always: Kind[] = [
  ['GET /parameters/desk/lamp', 200],
  ['GET /parameters/desk/s', 503],
  ['GET /update?parameter=desk/i&value=1', 200],
  ['POST /update', 200, { headers: form, body: 'parameter=desk/i&value=2' }],
  ['POST /update', 200, { headers: json, body: '{"parameter":"desk/i","value":3}' }],
  ['POST /update', 413, { headers: form, body: 'x'.repeat(65_537) }],
  ['POST /update', 415, { headers: { 'content-type': 'text/plain' }, body: 'x' }],
  ['POST /hub/connections/clock', 200, { headers: json, body: '{"action":"restart"}' }],
  ['GET /hub/health', 200],
  ['HEAD /hub/health', 200],
  ['GET /hub/nothing', 404],
  ['GET /ws', 426],
  ['DELETE /update', 405],
  ['GET /hub', 302],
];
const ofFiles: Kind[] = [
  ['GET /', 200],
  ['GET /a.txt', 200],
  ['HEAD /a.txt', 200],
  ['GET /quarter.bin', 200],
  ['HEAD /large.bin', 200],
  ['GET /large.bin', 206, { headers: { range: 'bytes=1000-2000' } }],
  ['GET /large.bin', 416, { headers: { range: 'bytes=9999999-' } }],
  ['GET /a.txt', 304, { headers: { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' } }],
  ['GET /panel', 302],
  ['GET /panel/', 200],
  ['GET /nothing.txt', 404],
  ['GET /empty/', 404],
  ['GET /../etc/passwd', 404],
  ['GET /hub/dashboards', 200],
  ['GET /hub/dashboards/studio', 200],
  ['GET /hub/dashboards/nothing', 404],
  ['GET /hub/', 200],
  ['GET /hub/console/nothing.js', 404],
  ['GET /hub/client.js', 200],
];

test('RFC 9112 section 9.3: every pair of requests in one piece is answered, in order', async (t) => {
  const hub = await startSite(t);
  const kinds = hub.isLocal ? [...always, ...ofFiles] : always;
  const wire = await openWire(t, hub.port);
  for (const first of kinds)
    for (const second of kinds) {
      wire.send(Buffer.concat([first, second].map(([line, , question]) => request(line, question))));
      for (const [line, status] of [first, second]) {
        const answered = wire.answer({ isHead: line.startsWith('HEAD ') });
        const answer = await answered.catch(({ message }) => ({ status: message }));
        if (answer.status === status) continue;
        t.fail(`${first[0]}, ${second[0]}: ${line} was answered ${answer.status}`);
        return;
      }
    }
  t.pass();
});

test('RFC 9112 section 9.3: a late body, and the next request with it, are answered', async (t) => {
  const hub = await startSite(t);
  const wire = await openWire(t, hub.port);
  const post = request('POST /update', { headers: form, body: 'parameter=desk/i&value=2' });
  wire.send(post.subarray(0, post.length - 10));
  await new Promise(setImmediate);
  wire.send(Buffer.concat([post.subarray(post.length - 10), request('GET /parameters/desk/i')]));
  t.is((await wire.answer()).text, 'OK');
  t.is((await wire.answer()).text, '2');
});

test('a list of parameters, and a file of more than 256 KiB, may be the last request; a request after it ends the connection', async (t) => {
  const hub = await startSite(t);
  const last = await openWire(t, hub.port);
  last.send(Buffer.concat([request('GET /parameters/desk/lamp'), request('GET /large.bin')]));
  t.is((await last.answer()).text, 'true');
  t.true((await last.answer()).body.equals(large));
  last.send(request('GET /parameters/desk/lamp'));
  t.is((await last.answer()).text, 'true');
  last.send(Buffer.concat([request('GET /parameters/desk/lamp'), request('GET /hub/parameters')]));
  t.is((await last.answer()).text, 'true');
  t.is(JSON.parse((await last.answer()).text)[0].parameter, 'desk/lamp');
  const first = await openWire(t, hub.port);
  first.send(Buffer.concat([request('GET /large.bin'), request('GET /parameters/desk/lamp')]));
  t.notRegex((await first.closed()).toString('latin1'), /\r\n\r\ntrue$/);
});

/** It has just started when sixty-four clients come. */
const desk = shared((t) =>
  startHubProcess(t, { connections: { api, desk: { type: 'dummy', parameters: ['lamp,B,true'] } } }),
);

test.serial(
  'sixty-four clients with sixteen pending requests each are served by a hub that has just started',
  async (t) => {
    const hub = await desk();
    const wires = await Promise.all(Array.from({ length: 64 }, () => openWire(t, hub.port)));
    const sixteen = Buffer.concat(Array.from({ length: 16 }, () => request('GET /parameters/desk/lamp')));
    for (let round = 0; round < 4; round++) {
      for (const wire of wires) wire.send(sixteen);
      for (const wire of wires) for (let answer = 0; answer < 16; answer++) t.is((await wire.answer()).text, 'true');
    }
  },
);

/** So many requests are answered one by one until V8 has compiled what answers them. */
const compiledAfter = 3000;

test.serial(
  'thirty clients with four pending requests each, more than 64 KiB in all, are served, also when the machine sometimes stops the hub',
  async (t) => {
    const hub = await desk();
    const one = request('GET /parameters/desk/lamp', { headers: { 'X-Filler': 'x'.repeat(900) } }); // few, so that a slow machine has time
    const four = Buffer.concat(Array.from({ length: 4 }, () => one));
    let [answered, closed] = [0, 0];
    for (let client = 0; client < 30; client++) {
      const socket = connect(hub.port, '127.0.0.1', () => socket.write(one));
      t.teardown(() => socket.removeAllListeners('close').destroy());
      socket.on('error', () => {});
      socket.on('close', () => closed++);
      let [length, unread, due] = [0, 0, 1];
      socket.on('data', (answers) => {
        length ||= answers.length;
        unread += answers.length;
        if (unread < due * length) return;
        answered += due;
        unread -= due * length;
        due = answered < compiledAfter ? 1 : 4;
        socket.write(due === 1 ? one : four);
      });
    }
    await eventually(() => answered > compiledAfter, 'code that V8 has compiled');
    for (let stop = 0; stop < 40; stop++) {
      await after(30);
      hub.process.kill('SIGSTOP'); // mostly in the middle of a round, which then lasts long
      await after(60);
      hub.process.kill('SIGCONT');
    }
    t.true(answered > compiledAfter + 30 * 4, `${answered}`);
    t.is(closed, 0);
  },
);
