// An answer that equals the one before it is not read again, in bounded memory.

import test from 'ava';
import { LastAnswers } from '../../../lib/connections/device/last-answers.ts';
import { HttpMessage } from '../../../lib/device/http-message.ts';

/** Reads answers and counts the bodies that were decoded. */
class Reader {
  readonly answers = new LastAnswers();
  count = 0;

  read(question: string, body: string, status = 200): HttpMessage {
    const head = { status, statusText: '', headers: {} };
    return this.answers.read(question, Buffer.from(body), head, () => {
      this.count++;
      return new HttpMessage(body, 'json', head, undefined);
    });
  }
}

test('an equal body is neither decoded nor parsed again, and has the head of its own answer', (t) => {
  const reader = new Reader();
  const { tree } = reader.read('GET /a', '{"level":1}');
  const again = reader.read('GET /a', '{"level":1}', 206);
  t.is(reader.count, 1);
  t.is(again.tree, tree);
  t.is(again.head!.status, 206);
  t.is(again.text, '{"level":1}');
});

test('another body, another question and an empty body are read', (t) => {
  const reader = new Reader();
  reader.read('GET /a', '{"level":1}');
  t.deepEqual(reader.read('GET /a', '{"level":2}').tree, { level: 2 });
  t.deepEqual(reader.read('GET /b', '{"level":2}').tree, { level: 2 });
  t.is(reader.read('GET /a', '', 304).text, '');
  t.is(reader.count, 4);
  reader.read('GET /a', '{"level":2}');
  t.is(reader.count, 4, 'the empty body of the status 304 does not replace the one before');
});

test('long bodies are not kept, and many are kept only up to a bound', (t) => {
  const reader = new Reader();
  const long = JSON.stringify('x'.repeat(65_536));
  reader.read('GET /a', long);
  reader.read('GET /a', long);
  t.is(reader.count, 2);
  const body = JSON.stringify('x'.repeat(60_000));
  for (const name of ['a', 'b', 'c', 'd', 'e']) reader.read(`GET /${name}`, body);
  reader.read('GET /e', body);
  t.is(reader.count, 7, 'the newest is kept');
  reader.read('GET /a', body);
  t.is(reader.count, 8, 'the oldest is not');
  reader.answers.clear();
  reader.read('GET /a', body);
  t.is(reader.count, 9);
});
