// The RxJS that flows get: it has all of RxJS, and nothing in it waits for the machine's clock, which somebody may set.

import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import * as plain from 'rxjs';
import * as plainOperators from 'rxjs/operators';
import * as rxjs from '../../lib/flow/rxjs.ts';
import * as operators from '../../lib/flow/rxjs-operators.ts';
import { within } from '../support/deadline.ts';
import '../support/own-process.ts';

const hour = 3_600_000;
const clock = Date.now;
/** How wrong the machine's clock is. */
let wrongMs = 0;
Date.now = () => clock() + wrongMs;

type Stream = rxjs.Observable<unknown>;

/** Returns the results of values that arrive before and after the clock is set. */
const streams: Readonly<Record<string, (source: rxjs.Subject<number>) => [stream: Stream, expected: unknown]>> = {
  debounceTime: (source) => [source.pipe(rxjs.debounceTime(30)), 2],
  throttleTime: (source) => [
    source.pipe(rxjs.throttleTime(30, rxjs.asyncScheduler, { leading: false, trailing: true })),
    2,
  ],
  auditTime: (source) => [source.pipe(rxjs.auditTime(30)), 2],
  sampleTime: (source) => [source.pipe(rxjs.sampleTime(30)), 2],
  delay: (source) => [source.pipe(rxjs.delay(30), rxjs.skip(1)), 2],
  bufferTime: (source) => [source.pipe(rxjs.bufferTime(30)), [1, 2]],
  'bufferTime with a creation interval': (source) => [source.pipe(rxjs.bufferTime(40, 20)), [1, 2]],
  windowTime: (source) => [
    source.pipe(
      rxjs.windowTime(30),
      rxjs.mergeMap((one) => one.pipe(rxjs.count())),
    ),
    2,
  ],
  timeout: (source) => [source.pipe(rxjs.skip(2), rxjs.timeout({ first: 30, with: () => rxjs.of('late') })), 'late'],
  'timeout each': (source) => [
    source.pipe(rxjs.skip(1), rxjs.timeout({ each: 30, with: () => rxjs.of('late') }), rxjs.skip(1)),
    'late',
  ],
  timeoutWith: (source) => [source.pipe(rxjs.skip(2), rxjs.timeoutWith(30, rxjs.of('late'))), 'late'],
  timer: (source) => [source.pipe(rxjs.switchMap((value) => rxjs.timer(30).pipe(rxjs.map(() => value)))), 2],
  interval: (source) => [
    source.pipe(
      rxjs.switchMap((value) => rxjs.interval(10).pipe(rxjs.map((n) => [value, n]))),
      rxjs.skip(2),
    ),
    [2, 2],
  ],
  repeat: (source) => [
    source.pipe(
      rxjs.skip(1),
      rxjs.switchMap((value) => rxjs.of(value).pipe(rxjs.repeat({ count: 3, delay: 10 }))),
      rxjs.bufferCount(3),
    ),
    [2, 2, 2],
  ],
  retry: (source) => [
    source.pipe(
      rxjs.skip(1),
      rxjs.switchMap(() => {
        let tries = 0;
        const failing = rxjs.defer(() => (++tries < 3 ? rxjs.throwError(() => new Error('not yet')) : rxjs.of(tries)));
        return failing.pipe(rxjs.retry({ delay: 10 }));
      }),
    ),
    3,
  ],
  observeOn: (source) => [source.pipe(rxjs.observeOn(rxjs.asyncScheduler, 20), rxjs.skip(1)), 2],
  queueScheduler: (source) => [source.pipe(rxjs.debounceTime(30, rxjs.queueScheduler)), 2],
  asapScheduler: (source) => [source.pipe(rxjs.debounceTime(30, rxjs.asapScheduler)), 2],
  'rxjs/operators': (source) => [source.pipe(operators.debounceTime(30)), 2],
};

for (const by of [-hour, -24 * hour, 24 * hour, 7300 * 24 * hour])
  for (const [name, make] of Object.entries(streams))
    test.serial(`${name} when the clock is set by ${by / hour} h`, async (t) => {
      wrongMs = 0;
      const source = new rxjs.Subject<number>();
      const [stream, expected] = make(source);
      const emitted = rxjs.firstValueFrom(stream);
      const startedMs = performance.now();
      source.next(1);
      wrongMs = by;
      source.next(2);
      t.deepEqual(await within(emitted, `${name} emits`), expected);
      t.true(performance.now() - startedMs < 2000);
    });

for (const by of [-hour, 7300 * 24 * hour])
  test.serial(`replayed values and intervals are right when the clock is set by ${by / hour} h`, async (t) => {
    wrongMs = 0;
    const replay = new rxjs.ReplaySubject<number>(10, 200);
    const source = new rxjs.Subject<number>();
    const shared = source.pipe(rxjs.shareReplay({ bufferSize: 10, windowTime: 200, refCount: false }));
    const published = source.pipe(rxjs.shareReplay(10, 200));
    const intervals: number[] = [];
    source.pipe(rxjs.timeInterval()).subscribe(({ interval }) => intervals.push(interval));
    for (const stream of [shared, published]) stream.subscribe();
    const next = (value: number) => {
      replay.next(value);
      source.next(value);
    };
    const seen = (stream: Stream) => {
      const values: unknown[] = [];
      stream.subscribe((value) => values.push(value)).unsubscribe();
      return values;
    };
    next(1);
    wrongMs = by;
    next(2);
    t.deepEqual(
      [replay, shared, published].map(seen),
      [
        [1, 2],
        [1, 2],
        [1, 2],
      ],
      'it is not too old',
    );
    await wait(250);
    t.deepEqual([replay, shared, published].map(seen), [[], [], []], 'and now it is');
    t.true(
      intervals.every((ms) => ms >= 0 && ms < 2000),
      intervals.join(),
    );
  });

test.serial('a date is a time of day: the wait until then is computed when it begins', async (t) => {
  wrongMs = 0;
  const startedMs = performance.now();
  const at = (ms: number) => new Date(Date.now() + ms);
  const waiting = [
    rxjs.firstValueFrom(rxjs.timer(at(60))),
    rxjs.firstValueFrom(rxjs.of('late').pipe(rxjs.delay(at(60)))),
    rxjs.firstValueFrom(rxjs.NEVER.pipe(rxjs.timeout({ first: at(60), with: () => rxjs.of('late') }))),
  ];
  const far = rxjs.timer(at(30 * 24 * hour)).subscribe(() => t.fail('no timer waits for so long'));
  wrongMs = -hour;
  t.deepEqual(await within(Promise.all(waiting), 'all of them'), [0, 'late', 'late']);
  t.true(performance.now() - startedMs >= 50);
  far.unsubscribe();
  wrongMs = 5 * hour;
  const [{ timestamp }] = [await rxjs.firstValueFrom(rxjs.of(1).pipe(rxjs.timestamp()))];
  t.true(Math.abs(timestamp - Date.now()) < 1000, 'a time stamp is what people see');
});

test('it exports all that RxJS exports', (t) => {
  t.deepEqual(
    Object.keys(rxjs).sort(),
    Object.keys(plain)
      .filter((name) => name !== 'default' && name !== 'module.exports')
      .sort(),
  );
  t.deepEqual(
    Object.keys(operators).sort(),
    Object.keys(plainOperators)
      .filter((name) => name !== 'default' && name !== 'module.exports')
      .sort(),
  );
});
