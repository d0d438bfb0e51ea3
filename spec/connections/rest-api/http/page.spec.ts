// Pages that take a while, of a visitor who has to leave meanwhile, and pages that are long.

import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import type { HubPort } from '../../../../lib/connections/hub-port.ts';
import type { Handler } from '../../../../lib/connections/rest-api/http/admission.ts';
import { jsonPieces, type Page, servePage } from '../../../../lib/connections/rest-api/http/page.ts';
import { FairQueue } from '../../../../lib/connections/rest-api/pacing/fair-queue.ts';
import { Round } from '../../../../lib/connections/rest-api/pacing/round.ts';
import { accountOf, noRights } from '../../../../lib/connections/rest-api/users/accounts.ts';
import { SignedInUser } from '../../../../lib/connections/rest-api/users/principal.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { eventually } from '../../../support/deadline.ts';
import { serveHandler } from '../../../support/handler.ts';
import { openWire, request } from '../../../support/http.ts';

const log = createLogRecorder();
const hub = { find: () => undefined } as unknown as HubPort;
const createGuest = () => new SignedInUser('ann', undefined, accountOf('ann', noRights, hub).rights, hub);

function startPage(t: ExecutionContext, read: () => Page | Promise<Page>, signedIn = createGuest()) {
  let isAsked = false;
  const serve = servePage(read, new FairQueue(new Round()), log);
  const handler: Handler = (...asked) => {
    serve(...asked);
    isAsked = true;
  };
  return { port: serveHandler(t, '/page', handler, signedIn), isAsked: () => isAsked };
}

test('a late page is sent to each client that is still there, and to no other', async (t) => {
  const answerOf = async (leaves: boolean) => {
    const page = Promise.withResolvers<Page>();
    const signedIn = createGuest();
    const { port, isAsked } = startPage(t, () => page.promise, signedIn);
    const wire = await openWire(t, port);
    wire.send(request('GET /page'));
    await eventually(isAsked);
    if (leaves) signedIn.leave();
    page.resolve({ secret: 7 } as unknown as Page);
    const { status, text } = await wire.answer();
    return [status, text.includes('secret')];
  };
  t.deepEqual(await answerOf(false), [200, true]);
  t.deepEqual(await answerOf(true), [401, false]);
});

test('a page of at most 1 MiB has an ETag, a longer one is streamed, and both match their data', async (t) => {
  for (const items of [0, 1, 5000, 200_000]) {
    let made = 0;
    const list = function* () {
      for (; made < items; made++) yield { item: made };
    };
    const { port } = startPage(t, list);
    const wire = await openWire(t, port);
    wire.send(request('GET /page'));
    const { text, headers } = await wire.answer();
    t.is(made, items);
    t.true(text === `${JSON.stringify(Array.from({ length: items }, (_, item) => ({ item })))}\n`, `${items} items`);
    t.is('etag' in headers, text.length < 1024 * 1024);
  }
});

test('of the long pages of one user at most eight are generated at once, and all of them arrive', async (t) => {
  let inMaking = 0;
  let most = 0;
  const list = function* () {
    most = Math.max(most, ++inMaking);
    for (let item = 0; item < 20_000; item++) yield { item: `${item}`.padStart(20) };
    inMaking--;
  };
  const { port } = startPage(t, list);
  const wires = await Promise.all(Array.from({ length: 40 }, () => openWire(t, port)));
  for (const wire of wires) wire.send(request('GET /page'));
  for (const wire of wires.slice(0, 5)) wire.socket.destroy(); // who goes keeps nobody waiting
  const answers = await Promise.all(wires.slice(5).map((wire) => wire.answer()));
  t.deepEqual(new Set(answers.map(({ text }) => text.length)), new Set([answers[0]!.text.length]));
  t.true(most > 1 && most <= 14, `${most}: eight, the one whose first slice it is, and the five that were left`);
});

test('the connection of a client that leaves in the middle of a long page is cut', async (t) => {
  const signedIn = createGuest();
  const list = function* () {
    for (let item = 0; ; item++) {
      if (item === 100_000) signedIn.leave();
      yield { item };
    }
  };
  const wire = await openWire(t, startPage(t, list, signedIn).port);
  wire.send(request('GET /page'));
  t.false((await wire.closed()).toString('latin1').endsWith(']\n'));
});

test('pieces of JSON add up to the output of JSON.stringify', (t) => {
  const data = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.jsonValue(), fc.constant(undefined), tie('record'), tie('list')),
    record: fc.dictionary(fc.string(), tie('value')),
    list: fc.array(tie('value')),
  }));
  fc.assert(
    fc.property(data.record as fc.Arbitrary<object>, (one) => {
      t.is([...jsonPieces(one)].join(''), JSON.stringify(one));
      t.is([...jsonPieces([one, one])].join(''), JSON.stringify([one, one]));
      t.is([...jsonPieces(new Set([one]))].join(''), JSON.stringify([one]));
    }),
  );
});
