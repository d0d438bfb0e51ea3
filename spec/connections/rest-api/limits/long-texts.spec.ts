// Values have a room for long texts. Whoever writes when there is none is told, in each way to write; short values and others go on.

import { getHeapStatistics } from 'node:v8';
import test from 'ava';
import { mostTextCharacters } from '../../../../lib/graph/text-room.ts';
import { maxTextLength } from '../../../../lib/model/value.ts';
import { eventually } from '../../../support/deadline.ts';
import { ask } from '../../../support/http.ts';
import { api, startTestHub } from '../../../support/hub.ts';
import { openClient } from '../../../support/sockets/socket.ts';
import { openV1 } from '../../../support/sockets/v1.ts';

const text = 'x'.repeat(maxTextLength);
const parameters = Math.ceil(mostTextCharacters(getHeapStatistics().heap_size_limit) / 2 / maxTextLength);
const refusal =
  /^desk\/free: expected at most [\d,]+ characters in all long texts together, of which each writer leaves half free, got 30,000 more/;

test('D-44: the writer of long text above the limit gets an error, and so does a rule', async (t) => {
  const ids = Array.from({ length: parameters + 100 }, (_, index) => `texts/${index}`);
  const map = Array.from({ length: 8 }, () => 'value').join(' + ');
  const rules = [{ name: 'copies', from: 'desk/source', map, to: 'desk/free' }];
  const desk = { type: 'dummy', parameters: [...ids, 'free', 'source', 'i,I'] };
  const hub = await startTestHub(t, { connections: { api, desk }, rules });
  let writer = 0;
  const fill = (id: string, length: number) => {
    for (let tries = 0; tries < 2; tries++)
      try {
        return hub.write(`desk/${id}`, text.slice(0, length), { kind: 'client', name: `writer ${writer}` });
      } catch {
        writer++; // each writer in turn takes half of what is free
      }
    return undefined;
  };
  for (const [index, id] of ids.entries())
    fill(id, index < parameters ? text.length : index < parameters + 50 ? 8000 : 1100);
  t.true(writer > 5, `${writer}`);

  const value = 'y'.repeat(30_000);
  const body = JSON.stringify({ parameter: 'desk/free', value });
  const answer = await ask(t, hub.port, 'POST /update', { headers: { 'content-type': 'application/json' }, body });
  t.is(answer.status, 409);
  t.regex(answer.text, refusal);
  const plain = await openClient(t, hub.port);
  plain.send({ p: 'desk/free', v: value });
  t.regex(((await plain.next()) as unknown as { error: string }).error, refusal);
  const v1 = await openV1(t, hub.port);
  v1.send({
    set: [
      ['desk/free', value],
      ['desk/i', 5],
    ],
    ack: 1,
  });
  const { errors } = (await v1.next()) as { errors: [string, string][] };
  t.regex(errors[0]![1], refusal);
  t.is(hub.find('desk/i')!.value, 5, 'others of the same message are written');

  hub.write('desk/source', 'z'.repeat(1000), { kind: 'client', name: 'spec' });
  await eventually(() => hub.rules()[0]!.state === 'failing');
  t.is(hub.find('desk/free')!.value, undefined);
  hub.write('desk/texts/0', value, { kind: 'client', name: 'spec' }); // in the place of one that is longer
});
