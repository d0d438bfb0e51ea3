// uWebSockets.js drops the body of an answer now and then, and would end the process for want of one (`http/router.ts`).

import { connect } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import test from 'ava';
import { startHubProcess } from '../../../support/system/hub-process.ts';

const requests = 'GET /parameters/desk/text HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(2000);
const api = { type: 'rest-api', port: 0, bindIp: '127.0.0.1' };
const desk = { type: 'dummy', parameters: [`text,S,${'x'.repeat(60_000)}`] };

test('a hub survives clients that pipeline requests of a long value, stop reading, and continue or leave', async (t) => {
  const hub = await startHubProcess(t, { connections: { api, desk } });
  const until = performance.now() + 5000;
  const open = () => {
    const socket = connect(hub.port, '127.0.0.1', () => {
      socket.pause();
      const pour = () => {
        while (socket.write(requests));
      };
      socket.on('drain', pour);
      pour();
    });
    socket.on('error', () => {});
    socket.on('close', () => performance.now() < until && setTimeout(open, Math.random() * 50));
    setTimeout(() => (Math.random() < 0.5 ? socket.resume() : socket.destroy()), Math.random() * 3000);
    setTimeout(() => socket.destroy(), until - performance.now());
  };
  for (let socket = 0; socket < 8; socket++) open();
  while (performance.now() < until) {
    await after(Math.random() * 200);
    hub.process.kill('SIGSTOP'); // as on a machine that does other things: rounds are long, and clients leave meanwhile
    await after(Math.random() * 150);
    hub.process.kill('SIGCONT');
  }
  t.is(hub.process.exitCode ?? hub.process.signalCode, null);
  t.is((await hub.get('/parameters/desk/text')).length, 60_000);
});
