// Limits of one client that the settings may change: `hello` tells them, and they are what holds.

import test, { type ExecutionContext } from 'ava';
import { eventually, within } from '../../../support/deadline.ts';
import { ask } from '../../../support/http.ts';
import { api, type HubUnderTest, startTestHub, writer } from '../../../support/hub.ts';
import { connectClient } from '../../../support/sockets/client.ts';
import { handshake, openClient, openRawClient } from '../../../support/sockets/socket.ts';
import { openV1 } from '../../../support/sockets/v1.ts';

const startDesk = (t: ExecutionContext, limits: object, others = {}) =>
  startTestHub(t, {
    connections: {
      api: { ...api, limits },
      desk: { type: 'dummy', parameters: ['a,I,1', 'b,I,2', 'c,I,3', 's'] },
      ...others,
    },
  });

const hitsOf = ({ lines }: HubUnderTest) =>
  lines.flatMap(({ message }) => / exceeded the limit (\w+) /.exec(message)?.[1] ?? []);

/** What the first message of a hub says that it takes. */
async function reported(t: ExecutionContext, port: number): Promise<unknown> {
  const raw = await openRawClient(t, port, '', undefined, { 'sec-websocket-protocol': 'patchbay.v1' });
  return JSON.parse((await raw.frames.next()).payload.toString()).hello.limits;
}

const regexes = (size: number) => [{ regex: `a{${size}}` }];

test('lower limits of subscriptions, patterns and steps are sent in hello, and apply', async (t) => {
  const hub = await startDesk(t, { subscriptions: 2, patterns: 3, patternSteps: 256, clientSteps: 300 });
  const all = { messageBytes: 65_536, subscriptions: 2, patterns: 3, regexes: 16, rate: 1000 };
  t.deepEqual(await reported(t, hub.port), all);
  const client = await openV1(t, hub.port);
  const refusal = async (message: { sub: number }) => (await client.subscribe(message)).at(-1)!.error ?? '';
  const four = { include: ['desk/a', 'desk/b'], exclude: ['x', 'y'] };
  t.is(await refusal({ sub: 1, ...four }), 'include, exclude: expected at most 3 patterns, got 4');
  t.regex(
    await refusal({ sub: 1, include: regexes(300) } as never),
    /^regex: .* at most 256 steps in total \(a part that is repeated n times/,
  );
  t.is(await refusal({ sub: 1, include: regexes(200) } as never), '');
  t.regex(await refusal({ sub: 2, include: regexes(200) } as never), /^sub: .* at most 300 steps in all /);
  t.is(await refusal({ sub: 2 }), '');
  t.is(await refusal({ sub: 3 }), 'sub: expected at most 2 subscriptions, got 3');
  t.deepEqual(hitsOf(hub), ['patterns', 'patternSteps', 'clientSteps', 'subscriptions']);
});

test('higher limits permit more, in all ways', async (t) => {
  const hub = await startDesk(t, { subscriptions: 40, patterns: 3000, patternSteps: 3000, clientSteps: 9000 });
  const client = await openV1(t, hub.port);
  for (let sub = 1; sub <= 40; sub++) {
    const include = sub < 3 ? [{ regex: `a{900}b{${300 * sub}}` }] : Array(3000).fill('desk/a');
    t.is((await client.subscribe({ sub, include })).at(-1)!.error, undefined);
  }
  const filter = `?filter=${encodeURIComponent('a{900}b{600}')}`;
  t.is((await ask(t, hub.port, `GET /hub/parameters${filter}`)).status, 200);
  await openClient(t, hub.port, filter);
  t.deepEqual(hitsOf(hub), []);
});

test('the step limit applies to regular expressions of lists and of a plain socket', async (t) => {
  const hub = await startDesk(t, { patternSteps: 256 }, { store: { type: 'store', folder: './data' } });
  const filter = `?filter=${encodeURIComponent('a{300}')}`;
  for (const [path, headers] of [
    ['/hub/parameters', {}],
    ['/hub/history', {}],
    ['/ws', handshake()],
  ] as const) {
    const { status, text } = await ask(t, hub.port, `GET ${path}${filter}`, { headers });
    t.is(status, 400, path);
    t.regex(text, /at most 256 steps /, path);
  }
});

test('the client library respects the limits of the hub for patterns', async (t) => {
  const hub = await startDesk(t, { patterns: 2 });
  const client = connectClient(t, hub.port);
  const values: unknown[] = [];
  for (const name of ['a', 'b', 'c']) client.param(`desk/${name}`).subscribe((value) => values.push(value));
  await within(client.whenLive(), 'being live');
  t.deepEqual(values, [1, 2, 3]);
  t.deepEqual(hitsOf(hub), []);
});

const mebibyte = 1024 * 1024;
for (const [unreadBytes, least, most] of [
  [mebibyte / 2, mebibyte / 4, (mebibyte * 3) / 4],
  [4 * mebibyte, 3 * mebibyte, 5 * mebibyte],
] as const)
  test(`the hub holds ${unreadBytes} bytes for a client that does not read, if so configured`, async (t) => {
    const hub = await startDesk(t, { unreadBytes });
    const stalled = await openRawClient(t, hub.port);
    stalled.pause();
    const held = async () => {
      const { clients } = JSON.parse((await ask(t, hub.port, 'GET /hub/clients')).text);
      return clients[0].unreadBytes as number;
    };
    let value = 0;
    await eventually(() => {
      for (let count = 0; count < 20; count++) hub.write('desk/s', `${++value}`.padStart(20_000, 'x'), writer);
      return hitsOf(hub).includes('unreadBytes');
    });
    const bytes = await held();
    t.true(bytes > least && bytes < most, `${bytes}`);
    hub.write('desk/s', 'last', writer);
    stalled.resume();
    await stalled.frames.until(({ payload }) => payload.toString() === '{"p":"desk/s","v":"last"}');
  });
