// The types of the messages of `patchbay.v1` and the AsyncAPI document know the same messages with the same keys.

import test from 'ava';
import type { Ping, Subscribe, Unsubscribe, Write } from '../../../lib/wire/v1/client-messages.ts';
import type * as hub from '../../../lib/wire/v1/hub-messages.ts';
import { asyncApi, kindOf, kinds } from '../../support/sockets/asyncapi.ts';

/** What the hub tells, by the name that the document has for it; with every key, so that it is seen that both know it. */
const reported: {
  readonly hello: Required<hub.Hello>;
  readonly subscribed: Required<hub.Subscribed>;
  readonly unsubscribed: Required<hub.Unsubscribed>;
  readonly definitions: Required<hub.Definitions>;
  readonly removals: Required<hub.Removals>;
  readonly values: Required<hub.Values>;
  readonly fires: Required<hub.Fires>;
  readonly complete: Required<hub.Complete>;
  readonly losses: Required<hub.Losses>;
  readonly stale: Required<hub.Stale>;
  readonly fresh: Required<hub.Fresh>;
  readonly pending: Required<hub.Pending>;
  readonly metadata: Required<hub.Metadata>;
  readonly acknowledgement: Required<hub.Acknowledgement>;
  readonly mistakes: Required<hub.Mistakes>;
  readonly pong: Required<hub.Pong>;
  readonly error: Required<hub.Refusal>;
  readonly goodbye: Required<hub.Goodbye>;
} = {
  hello: {
    hello: {
      epoch: '1f0c',
      hub: 'patchbay 1.0.0',
      limits: { messageBytes: 65_536, subscriptions: 32, patterns: 2048, regexes: 16, rate: 1000 },
    },
  },
  subscribed: { sub: 1, mode: 'snapshot', rate: 60, delivery: 'latest' },
  unsubscribed: { unsub: 1 },
  definitions: { def: [[7, 'desk/lamp', 'B', 'rw']] },
  removals: { undef: [7] },
  values: { set: [[7, true]], rev: 130 },
  fires: { fired: [9, 9], rev: 131 },
  complete: { end: 1, rev: 130 },
  losses: { lost: { 9: 3 } },
  stale: { stale: [7, 9], ageMs: 3012 },
  fresh: { fresh: [7, 9] },
  pending: {
    wanted: [
      [7, 3],
      [9, null],
    ],
  },
  metadata: { about: [[7, { label: 'Mic 1', unit: 'dB', min: -90, max: 10 }]] },
  acknowledgement: { ack: 5, errors: [['desk/x', 'unknown parameter']] },
  mistakes: { errors: [[7, 'read-only']] },
  pong: { pong: 1 },
  error: { error: 'expected JSON', sub: 1, ack: 5 },
  goodbye: { bye: { code: 1001, reason: 'the hub is shutting down', retry: true } },
};

/** What clients send. */
const heard: {
  readonly subscribe: Required<Subscribe>;
  readonly unsubscribe: Required<Unsubscribe>;
  readonly write: Required<Write>;
  readonly ping: Required<Ping>;
} = {
  subscribe: {
    sub: 1,
    include: ['desk/**'],
    exclude: [{ regex: 'x' }],
    rate: 60,
    delivery: 'all',
    since: { epoch: '1f0c', rev: 130 },
  },
  unsubscribe: { unsub: 1 },
  write: { set: [['desk/lamp', true]], ack: 5, traceparent: '' },
  ping: { ping: 1 },
};

for (const [direction, messages] of [
  ['send', reported],
  ['receive', heard],
] as const)
  test(`the types and asyncapi.json have the same messages: what the hub is to ${direction}`, (t) => {
    t.deepEqual(Object.keys(messages).sort(), kinds(direction).sort());
    for (const [kind, message] of Object.entries(messages)) {
      t.is(kindOf(direction, message), kind);
      const { properties } = asyncApi.components.messages[kind].payload;
      t.deepEqual(Object.keys(message).sort(), Object.keys(properties).sort(), kind);
    }
  });
