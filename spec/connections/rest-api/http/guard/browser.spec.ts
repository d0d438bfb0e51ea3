// A page of the Document Root in Chromium (S-12, S-10) shows a pulse live and switches a lamp. A page of another site can do neither.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import { browser } from '../../../../support/browser/own-browser.ts';
import { deadlineMs } from '../../../../support/deadline.ts';
import { createFolder } from '../../../../support/folder.ts';
import { api, expectQuietLog, startTestHub } from '../../../../support/hub.ts';

const page = `<!doctype html>
<meta charset="utf-8" />
<title>Panel</title>
<link rel="stylesheet" href="panel.css" />
<output id="count">0</output>
<output id="lamp">?</output>
<button id="switch">Switch</button>
<script type="module" src="panel.js"></script>
`;

const script = `
const socket = new WebSocket(\`ws://\${location.host}/ws?snapshot=true&filter=lamp&filter=pulse\`);
const [count, lamp] = ['count', 'lamp'].map((id) => document.getElementById(id));
socket.onmessage = ({ data }) => {
  const { p, v } = JSON.parse(data);
  if (p === 'clock/pulse/1') count.textContent = Number(count.textContent) + 1;
  if (p === 'desk/lamp') lamp.textContent = v === 'true' ? 'on' : 'off';
};
document.getElementById('switch').onclick = () =>
  socket.send(JSON.stringify({ p: 'desk/lamp', v: lamp.textContent === 'off' }));
`;

const deadline = { timeout: deadlineMs };

test('S-12, S-10: a page shows a pulse live, and a button switches a lamp', async (t) => {
  const folder = await createFolder(t, {
    'www/index.html': page,
    'www/panel.js': script,
    'www/panel.css': '#lamp { color: rgb(255, 0, 0) }',
  });
  const hub = await startTestHub(t, {
    connections: {
      api: { ...api, documentRoot: join(folder, 'www') },
      desk: { type: 'dummy', parameters: ['lamp,B,false'] },
      clock: { type: 'timer', pulses: [{ interval: 25 }] },
    },
  });
  const tab = await browser.newPage();
  const faults: string[] = [];
  tab.on('pageerror', (error) => faults.push(String(error)));
  await tab.goto(`http://127.0.0.1:${hub.port}/`);
  t.is(await tab.title(), 'Panel');
  t.is(await tab.evaluate('getComputedStyle(lamp).color'), 'rgb(255, 0, 0)');
  await tab.waitForFunction('Number(count.textContent) >= 5', undefined, deadline);
  await tab.waitForFunction('lamp.textContent === "off"', undefined, deadline);
  await tab.click('#switch');
  await tab.waitForFunction('lamp.textContent === "on"', undefined, deadline);
  t.is(hub.find('desk/lamp')?.value, true);
  hub.write('desk/lamp', false, { kind: 'client', name: 'test' });
  await tab.waitForFunction('lamp.textContent === "off"', undefined, deadline);
  t.deepEqual(faults, []);
  await tab.close();
});

test('D-15: a page of another site can neither write nor open a socket, one of allowedOrigins can', async (t) => {
  const site = createServer((_, response) => response.end('<title>another site</title>')).listen(0, '127.0.0.1');
  t.teardown(() => site.close());
  await once(site, 'listening');
  const { port } = site.address() as AddressInfo;
  const origin = `http://localhost:${port}`;
  const hub = await startTestHub(t, {
    connections: {
      api: { ...api, allowedOrigins: [origin] },
      desk: { type: 'dummy', parameters: ['lamp,I,0'] },
    },
  });
  const attempt = `
    (async () => {
      const hub = '127.0.0.1:${hub.port}';
      const outcome = (socket) => new Promise((resolve) => {
        socket.onopen = () => { socket.send('{"p":"desk/lamp","v":1}'); };
        socket.onmessage = () => resolve('open');
        socket.onclose = () => resolve('closed');
      });
      const load = (url) => new Promise((resolve) => {
        const image = new Image();
        image.onerror = image.onload = resolve;
        image.src = url;
      });
      const send = (url, init) => fetch(url, { mode: 'no-cors', ...init }).catch(() => {}); // a refusal cannot be embedded
      await send('http://' + hub + '/update?parameter=desk/lamp&value=2');
      const body = new URLSearchParams({ parameter: 'desk/lamp', value: '3' });
      await send('http://' + hub + '/update', { method: 'POST', body });
      await load('http://' + hub + '/update?parameter=desk/lamp&value=4');
      return outcome(new WebSocket('ws://' + hub + '/ws'));
    })()`;
  const tab = await browser.newPage();
  await tab.goto(`http://127.0.0.1:${port}/`);
  t.is(await tab.evaluate(attempt), 'closed');
  t.is(hub.find('desk/lamp')?.value, 0);
  const { revision } = hub;
  await tab.goto(`${origin}/`);
  t.is(await tab.evaluate(attempt), 'open');
  t.is(hub.find('desk/lamp')?.value, 1);
  t.is(hub.revision, revision + 2, 'the post and the socket: a no-cors GET and an image carry no Origin');
  await tab.close();
  expectQuietLog(t, hub);
});
