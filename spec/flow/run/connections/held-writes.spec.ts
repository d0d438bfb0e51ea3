// Writes to a connection that has not started yet: the latest are held, up to a count per parameter and a number of bytes in all.

import test from 'ava';
import { HeldWrites } from '../../../../lib/flow/run/connections/supervisor.ts';
import { Graph } from '../../../../lib/graph/graph.ts';
import { held } from '../../../../lib/model/held-bytes.ts';
import type { Value } from '../../../../lib/model/value.ts';
import { createLogRecorder } from '../../../support/connection.ts';

const owner = { kind: 'connection', name: 'desk' } as const;
const client = { kind: 'client', name: 'spec' } as const;
const text = (index: number) => String(index).padEnd(60_000, '.');

function start() {
  const graph = new Graph();
  graph.declare(owner, [
    { id: 'a', type: 'S', access: 'write-only' },
    { id: 'b', type: 'S', access: 'write-only' },
    { id: 'n', type: 'I', access: 'write-only' },
  ]);
  const log = createLogRecorder();
  const writes = new HeldWrites(graph, owner, log);
  const holding = writes.hold();
  const write = (id: string, value: Value) => void graph.write(`desk/${id}`, value, client);
  const heardOf = (id: string) => {
    const heard: Value[] = [];
    writes.inbox(id).subscribe((value) => void heard.push(value));
    return heard;
  };
  return { log, writes, holding, write, heardOf };
}

test('the latest 1,024 writes to each parameter come first, in order, then later ones', (t) => {
  const { holding, write, heardOf, log } = start();
  for (let number = 0; number < 1500; number++) write('n', number);
  write('a', 'one');
  holding.unsubscribe();
  const heard = heardOf('n');
  write('n', 1500);
  t.deepEqual(
    heard,
    Array.from({ length: 1025 }, (_, index) => index + 476),
  );
  t.deepEqual(heardOf('a'), ['one']);
  t.regex(
    log.lines[0]!.message,
    /^n: more than 1,024 writes were waiting for the connection to start; the oldest one was dropped$/,
  );
  t.is(held.bytes.writes, 0);
});

test('held writes take at most 16 MB: the oldest to the same parameter are dropped, those to others stay', (t) => {
  const { write, heardOf, log } = start();
  write('b', text(0));
  for (let index = 0; index < 300; index++) write('a', text(index));
  t.true(held.bytes.writes <= 16 * 1024 * 1024);
  const heard = heardOf('a');
  t.is(heard.at(-1), text(299));
  t.is(heard[0], text(300 - heard.length));
  t.true(heard.length > 130 && heard.length < 140, `${heard.length}`);
  t.deepEqual(heardOf('b'), [text(0)]);
  t.true(
    log.lines.some(({ message }) =>
      /^a: more than 16 MB of writes were waiting for the connection to start/.test(message),
    ),
  );
  t.is(held.bytes.writes, 0);
});

test('a connection that ends holds nothing', (t) => {
  const { write, writes } = start();
  write('a', text(0));
  t.true(held.bytes.writes > 100_000);
  writes.forget();
  t.is(held.bytes.writes, 0);
});
