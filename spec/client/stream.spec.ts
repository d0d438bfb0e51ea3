// Streams of the client library: what RxJS makes of them, and observers that come, go and throw.

import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import test from 'ava';
import { combineLatest, from, type Observable } from 'rxjs';
import { map, take, toArray } from 'rxjs/operators';
import { createStream, Emitter } from '../../lib/client/stream.ts';
import type { Value } from '../../lib/model/value.ts';
import { playHub } from '../support/sockets/scripted/hub.ts';

test('RxJS takes parameters, fires, selections, batches and states for Observables', async (t) => {
  const { hub, socket } = playHub();
  const lamp$: Observable<Value | undefined> = from(hub.param('desk/lamp'));
  const both = combineLatest([lamp$, from(hub.param('desk/level'))]).pipe(take(2), toArray());
  const reported: unknown[] = [];
  const ends = [
    both.subscribe((value) => reported.push(value)),
    from(hub.fired('desk/go')).subscribe((value) => reported.push(value)),
    from(hub.select().batches)
      .pipe(map(({ changes }) => changes.length))
      .subscribe((value) => reported.push(value)),
    from(hub.select())
      .pipe(take(1))
      .subscribe(({ address }) => reported.push(address)),
  ];
  await from(hub.stale$)
    .pipe(take(1))
    .forEach((isStale) => {
      reported.push(isStale);
    });
  socket
    .accept()
    .says({
      def: [
        [1, 'desk/lamp', 'B', 'rw'],
        [2, 'desk/level', 'F', 'rw'],
        [3, 'desk/go', 'T', 'rw'],
      ],
    })
    .says({
      set: [
        [1, true],
        [2, 0.5],
        [1, false],
      ],
    })
    .says({ fired: [3] });
  t.deepEqual(reported, [
    true,
    0,
    3,
    'desk/lamp',
    [
      [true, 0.5],
      [false, 0.5],
    ],
    1,
    1,
  ]);
  socket.heard();
  for (const end of ends) end.unsubscribe();
  await new Promise(setImmediate);
  t.deepEqual(socket.heard(), [{ unsub: 1 }, { unsub: 2 }]);
});

test('a replaying stream can end at its first value', (t) => {
  const emitter = new Emitter<number>();
  const stream = createStream<number>((observer) => emitter.add(observer, 1, 2));
  const reported: number[] = [];
  from(stream)
    .pipe(take(1))
    .subscribe((value) => reported.push(value));
  t.deepEqual(reported, [1]);
  t.false(emitter.isObserved);
});

test('an observer that is added or removed during a round neither misses nor disturbs it', (t) => {
  const emitter = new Emitter<number>();
  const reported: string[] = [];
  const observer = { next: (value: number) => reported.push(`c${value}`) };
  const ends = [
    emitter.add({
      next(value) {
        reported.push(`a${value}`);
        ends[1]!();
        if (value === 1) ends.push(emitter.add(observer), emitter.add(observer));
      },
    }),
    emitter.add({ next: (value) => reported.push(`b${value}`) }),
  ];
  emitter.next(1);
  emitter.next(2);
  ends[2]!();
  emitter.next(3);
  t.deepEqual(reported, ['a1', 'b1', 'a2', 'c2', 'c2', 'a3', 'c3']);
});

test('an observer that throws does not affect others, and its error is uncaught', async (t) => {
  const program = `
    import { Emitter } from ${JSON.stringify(resolve('lib/client/stream.ts'))};
    const emitter = new Emitter();
    emitter.add({ next() { throw new Error('mine'); } });
    emitter.add({ next(value) { console.log('heard', value); } });
    emitter.next(1);
    console.log('went on');`;
  const { error, stdout, stderr } = await new Promise<{ error: unknown; stdout: string; stderr: string }>((done) =>
    execFile(process.execPath, ['--input-type=module', '-e', program], (error, stdout, stderr) =>
      done({ error, stdout, stderr }),
    ),
  );
  t.is((error as { code?: number } | null)?.code, 1);
  t.is(stdout, 'heard 1\nwent on\n');
  t.regex(stderr, /Error: mine/);
});
