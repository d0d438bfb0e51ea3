// Server-sent events, however the stream is cut.

import test from 'ava';
import { EventReader, maxEventLength } from '../../lib/device/http-message.ts';

const stream =
  '\ufeff: welcome\r\n\r\nid: 1\r\ndata: a\r\ndata: b\r\n\r\nevent: x\rdata\r\rretry: 5\n\ndata: 2\n\n\r\r\n\ndata: last\r\n\n';
const events = [
  { name: 'message', id: '1', data: 'a\nb', retryMs: undefined },
  { name: 'x', id: '1', data: '', retryMs: undefined },
  { name: 'message', id: '1', data: '2', retryMs: 5 },
  { name: 'message', id: '1', data: 'last', retryMs: 5 },
];

test('events are the same wherever the stream is cut', (t) => {
  for (let length = 1; length <= stream.length; length++) {
    const reader = new EventReader();
    const found = [];
    for (let at = 0; at < stream.length; at += length) found.push(...reader.push(stream.slice(at, at + length)));
    t.deepEqual(found, events, `parts of ${length}`);
  }
});

test('a long line in many parts takes no more time than in one', (t) => {
  const reader = new EventReader();
  const part = 'x'.repeat(16);
  const started = process.cpuUsage();
  reader.push('data: ');
  for (let length = 0; length < maxEventLength - 100; length += part.length) reader.push(part);
  t.is(reader.push('\n\n').length, 1);
  const { user } = process.cpuUsage(started);
  t.true(user < 500_000, `${user} µs`);
  t.throws(() => reader.push('x'.repeat(maxEventLength + 1)), { message: /an event is longer than/ });
});
