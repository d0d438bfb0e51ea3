// Inputs that once made an internal error, and others like them: each is answered as the mistake that it is. `npm run trial -- fuzz` looks for
// more.

import test from 'ava';
import { ask } from '../../../support/http.ts';
import { api, expectQuietLog, startTestHub } from '../../../support/hub.ts';
import { opcodes, openRawClient } from '../../../support/sockets/socket.ts';
import { oddOrigins } from '../../../trials/fuzz/http-input.ts';

const desk = { type: 'dummy', parameters: ['lamp,B', 'text', 'count,I'] };
const internal = 'the request failed; see the log of the hub for the reason';

/** JSON that is nested as deep as a message can be. */
const depth = 30_000;
const deepList = '['.repeat(depth) + ']'.repeat(depth);
const deepObject = `${'{"a":'.repeat(10_000)}0${'}'.repeat(10_000)}`;

const bodies: [what: string, path: string, body: string][] = [
  ['a list', '/update', deepList],
  ['an object', '/update', deepObject],
  ['a value', '/update', `{"parameter":"desk/lamp","value":${deepList}}`],
  ['a value for text', '/update', `{"parameter":"desk/text","value":${deepObject}}`],
  ['an address', '/update', `{"parameter":${deepList},"value":1}`],
  ['an action', '/hub/connections/desk', `{"action":${deepObject}}`],
  ['a name of a rule', '/hub/rules', `{"rule":${deepList},"enabled":true}`],
  ['JSON without end', '/update', '['.repeat(60_000)],
];
test('deeply nested JSON is a mistake of its sender: HTTP', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk } });
  for (const [what, path, body] of bodies) {
    const headers = { 'content-type': 'application/json' };
    const { status, text } = await ask(t, hub.port, `POST ${path}`, { headers, body });
    t.is(status, 400, `${what}: ${text.slice(0, 200)}`);
    t.true(text.length < 500, what);
  }
  expectQuietLog(t, hub);
});

/** What a terminal obeys, or shows in another order: ESC, CSI of C1, a change of direction. */
const obeyed = '\u001b[2J\u009b31m\u202e';
test('an error quotes the text of the client, without an effect on a terminal', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk } });
  const asJson = { 'content-type': 'application/json' };
  for (const accept of ['*/*', 'application/json'])
    for (const [path, headers, body] of [
      ['POST /update', asJson, JSON.stringify({ parameter: 'desk/count', value: obeyed })],
      ['POST /update', asJson, JSON.stringify({ parameter: `desk/${obeyed}`, value: 1 })],
      ['POST /update', { 'content-type': `text/${obeyed.slice(0, 1)}x` }, '{}'],
      ['POST /hub/rules', asJson, JSON.stringify({ rule: obeyed, enabled: true })],
      [`GET /hub/parameters?filter=${encodeURIComponent(`(${obeyed}`)}`, {}, ''],
      [`GET /hub/parameters/desk/${encodeURIComponent(obeyed)}`, {}, ''],
    ] as const) {
      const { status, text } = await ask(t, hub.port, path, { headers: { ...headers, accept }, body });
      t.true(status >= 400, `${path} ${body}`);
      for (const sign of ['\u001b', '\u009b', '\u202e']) t.false(text.includes(sign), `${path} ${body} ${accept}`);
    }
});

const messages: [protocol: 'plain' | 'patchbay.v1', message: string][] = [
  ['plain', deepList],
  ['plain', deepObject],
  ['plain', `{"p":"desk/lamp","v":${deepList}}`],
  ['plain', `{"p":${deepObject},"v":1}`],
  ['plain', '{"p":'.repeat(12_000)],
  ['patchbay.v1', deepList],
  ['patchbay.v1', deepObject],
  ['patchbay.v1', `{"set":${deepList}}`],
  ['patchbay.v1', `{"set":[["desk/lamp",${deepObject}]],"ack":1}`],
  ['patchbay.v1', `{"set":[],"ack":${deepList}}`],
  ['patchbay.v1', `{"sub":1,"include":[${deepObject}]}`],
  ['patchbay.v1', `{"sub":${deepList}}`],
  ['patchbay.v1', `{"ping":${deepList}}`],
  ['patchbay.v1', `{"unsub":${deepObject}}`],
];
test('deeply nested JSON is a mistake of its sender: sockets', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk } });
  for (const [protocol, message] of messages) {
    const headers = protocol === 'plain' ? {} : { 'Sec-WebSocket-Protocol': protocol };
    const client = await openRawClient(t, hub.port, '', undefined, headers);
    client.send(opcodes.text, message);
    const [frame] = (await client.frames.until(({ payload }) => /"errors?":/.test(payload.toString()))).slice(-1);
    const text = frame!.payload.toString();
    t.false(text.includes(internal), `${protocol} ${message.slice(0, 40)}: ${text}`);
    t.true(text.length < 500);
    client.cut();
  }
  expectQuietLog(t, hub);
});

test('an Origin that is not a URL, or barely one, is a foreign one', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk } });
  for (const origin of oddOrigins) {
    const { status, text } = await ask(t, hub.port, 'GET /parameters/desk/lamp', { headers: { origin } });
    t.is(status, 403, `${JSON.stringify(origin)}: ${text}`);
  }
  expectQuietLog(t, hub);
});
