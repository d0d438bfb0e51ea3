// Whatever clients subscribe to, and at whichever frame they stop reading: whatever revision a client may keep, it has been sent
// everything up to it; and what it was sent and what it has lost is all that there was. The readers are played.

import test from 'ava';
import fc from 'fast-check';
import { within } from '../../../../support/deadline.ts';
import { ScriptedDesk } from '../../../../support/sockets/scripted/desk.ts';
import { type ReaderWish, ScriptedReader } from '../../../../support/sockets/scripted/reader.ts';

const count = 60;
const readerCount = 4;
const writer = { kind: 'client', name: 'writer' } as const;
/** A few values fill a socket. A long one fills it alone, and a frame as well. */
const padding = 'x'.repeat(300);
const longPadding = 'x'.repeat(16_000);

type Step =
  | { readonly kind: 'sub'; readonly reader: number; readonly id: number; readonly wish: ReaderWish }
  | { readonly kind: 'unsub' | 'stop' | 'read' | 'round'; readonly reader: number; readonly id: number }
  | { readonly kind: 'write'; readonly places: readonly number[]; readonly isLong: boolean }
  | { readonly kind: 'reload'; readonly count: number };

/** Addresses alone, so that what changed is looked for among them. */
const listed = Array.from({ length: 12 }, (_, index) => `desk/p${index * 5}`);
const every: ReaderWish = { include: ['**'], rate: 0, delivery: 'all' };
const reader = fc.nat(readerCount - 1);
const id = fc.nat(1);
const wish = fc.record({
  include: fc.constantFrom(['**'], ['desk/p1*'], ['desk/p2*', 'desk/go'], ['desk/p5', 'desk/p15', 'desk/go'], listed),
  rate: fc.constantFrom(0, 0, 1000, 200),
  delivery: fc.constantFrom('latest' as const, 'all' as const),
});
const simple = fc.constantFrom('unsub' as const, 'stop' as const, 'stop' as const, 'read' as const, 'round' as const);
const places = fc.array(fc.nat(count), { minLength: 1, maxLength: 90 });
const isLong = fc.boolean();
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('sub' as const), reader, id, wish }) },
  { weight: 7, arbitrary: fc.record({ kind: simple, reader, id }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('write' as const), places, isLong }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('reload' as const), count: fc.integer({ min: 1, max: 3 }) }) },
);

class Play {
  readonly context = new ScriptedDesk([
    ...Array.from({ length: count }, (_, index) => ({ id: `p${index}`, type: 'S', access: 'read-write' }) as const),
    { id: 'go', type: 'T', access: 'read-write' },
  ]);
  readonly readers = Array.from({ length: readerCount }, () => new ScriptedReader(this.context));
  #writes = 0;
  #came = 0;

  async run(steps: readonly Step[]): Promise<void> {
    this.readers[0]!.subscribe(0, every); // it subscribes to nothing else, so that its changes can be counted
    for (const one of steps) {
      const played = 'reader' in one ? this.readers[one.reader]! : undefined;
      if (one.kind === 'write') for (const place of one.places) this.#write(place, one.isLong);
      else if (one.kind === 'reload') this.reload(one.count);
      else if (one.kind === 'round') await this.round();
      else if (one.kind === 'stop' || one.kind === 'read') played!.socket.isReading = one.kind === 'read';
      else if (one.reader === 0) continue;
      else if (one.kind === 'sub') played!.subscribe(one.id, one.wish);
      else played!.unsubscribe(one.id);
    }
    for (const { socket } of this.readers) socket.isReading = true;
    await within(this.#untilQuiet(), 'quiet', 10_000).catch((error) => {
      throw new Error(`${error.message}: ${this.#open().slice(0, 5).join('; ')}`);
    });
    this.#expectNoFaults();
  }

  async #untilQuiet(): Promise<void> {
    do await this.round();
    while (this.#open().length > 0);
  }

  #open(): string[] {
    return this.readers.flatMap((one, index) => [
      ...(one.socket.hasUnread ? [`${index} has not read all`] : []),
      ...(one.isComplete ? [] : [`${index} waits for an end`]),
      ...(one.client.subscriptions.length === 0 || one.state === 'live' ? [] : [`${index} is ${one.state}`]),
      ...one.differences(),
    ]);
  }

  #expectNoFaults(): void {
    const faults = this.readers.flatMap((one) => one.faults);
    const [{ reported, endedAt }] = this.readers as [ScriptedReader];
    const made = new Map<string, number>();
    for (const { address, revision } of this.context.changes)
      if (revision > endedAt) made.set(address, (made.get(address) ?? 0) + 1);
    for (const address of new Set([...made.keys(), ...reported.keys()]))
      if (made.get(address) !== reported.get(address))
        faults.push(`${address}: ${made.get(address)} changes, ${reported.get(address)} told or lost`);
    if (faults.length > 0) throw new Error(faults.slice(0, 5).join('; '));
  }

  #write(place: number, isLong: boolean): void {
    if (place === count) this.context.graph.write('desk/go', 1, writer);
    else this.context.graph.write(`desk/p${place}`, `${++this.#writes} ${isLong ? longPadding : padding}`, writer);
  }

  /** Parameters come, with values. */
  reload(came: number): void {
    for (let index = 0; index < came; index++)
      this.context.declare({
        id: `p1-new-${++this.#came}`,
        type: 'S',
        access: 'read-write',
        defaultValue: `${++this.#writes} ${padding}`,
      });
  }

  async round(): Promise<void> {
    await new Promise((done) => setImmediate(done));
    for (const one of this.readers) one.drain();
  }
}

test('every revision that may be kept is valid, none is older than its predecessor, and sent and lost changes add up to all', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 70, size: 'max' }), (steps) => new Play().run(steps)),
    { numRuns: 150, includeErrorInReport: true, interruptAfterTimeLimit: 20_000 },
  );
  t.pass();
});

test('no revision is older than its predecessor when all outboxes of a group are flushed together', async (t) => {
  const play = new Play();
  const [reader] = play.readers;
  reader!.subscribe(0, { include: ['desk/p1*'], rate: 1, delivery: 'all' });
  reader!.subscribe(1, { include: ['desk/p2*', 'desk/go'], rate: 1, delivery: 'latest' });
  const settled = async () => {
    while (reader!.state !== 'live') await play.round();
  };
  await within(settled(), 'an end', 10_000);
  for (const address of ['p10', 'p20', 'go', 'p11']) play.context.graph.write(`desk/${address}`, 1, writer);
  play.reload(1);
  await play.round();
  t.deepEqual(reader!.faults, []);
  t.is(reader!.values.get('desk/p11'), 1);
});
