// Requests and answers in virtual time: answers that are late, lost, doubled or in another order.

import test from 'ava';
import { VirtualAction, VirtualTimeScheduler } from 'rxjs';
import { type Outcome, Requests } from '../../../lib/connections/device/requests.ts';
import { Message, parseMatcher } from '../../../lib/device/message.ts';
import type { Value } from '../../../lib/model/value.ts';

const matcher = (text: string) => parseMatcher(text, false, () => () => 1);

function create(window = 8) {
  const scheduler = new VirtualTimeScheduler(VirtualAction, 0);
  const sent: string[] = [];
  const failed: string[] = [];
  const requests = new Requests({
    window,
    spacingMs: 0,
    scheduler,
    send: (texts) => sent.push(...texts),
    isUnasked: (message) => message.text.startsWith('!'),
    fail: (reason) => failed.push(reason),
    idle: () => {},
  });
  requests.hold(false);
  const told: string[] = [];
  const add = (
    name: string,
    reply: string,
    more: { known?: Record<string, Value>; retry?: number; until?: string } = {},
  ) =>
    requests.add(
      {
        name,
        write: () => [name],
        known: new Map(Object.entries(more.known ?? {})),
        replies: [matcher(reply)],
        fail: [matcher('ERR{_}')],
        retryIf: [matcher('BUSY')],
        timeoutMs: 1000,
        retry: more.retry ?? 0,
        retryBusy: more.retry ?? 0,
        until: more.until === undefined ? undefined : matcher(more.until),
        takesAny: false,
        done: (outcome: Outcome, isLate) =>
          told.push(
            `${name}: ${'message' in outcome ? (outcome.found.get('value') ?? 'ok') : 'refused' in outcome ? outcome.refused : 'unchanged'}${isLate ? ' (late)' : ''}`,
          ),
      },
      false,
    );
  const pass = async (ms: number) => {
    await undefined;
    scheduler.maxFrames += ms;
    scheduler.flush();
    await undefined;
  };
  const take = (text: string) => requests.take(new Message(text)) !== undefined;
  return { requests, add, sent, told, failed, pass, take };
}

test('the window limits the requests in flight, and answers find their requests in any order', async (t) => {
  const { add, sent, told, take, pass } = create(2);
  for (const n of [1, 2, 3]) add(`GET ${n}`, '{n:int}={value:int}', { known: { n } });
  await pass(0);
  t.deepEqual(sent, ['GET 1', 'GET 2']);
  t.true(take('2=20'));
  t.true(take('1=10'));
  t.false(take('1=11'), 'a doubled answer answers nobody');
  await pass(0);
  t.deepEqual(sent, ['GET 1', 'GET 2', 'GET 3']);
  t.deepEqual(told, ['GET 2: 20', 'GET 1: 10']);
});

test('a late answer never answers the next request', async (t) => {
  const { add, told, take, pass } = create(1);
  add('FREQ?', '{value:int}');
  add('LEVEL?', '{value:int}');
  await pass(1000);
  t.deepEqual(told, ['FREQ?: no answer to FREQ? within 1 s']);
  t.true(take('145000000'));
  t.true(take('7'));
  t.deepEqual(told.slice(1), ['FREQ?: 145000000 (late)', 'LEVEL?: 7']);
});

test('if an answer is lost and the owners of the others are unknown, the link is reopened', async (t) => {
  const { add, told, failed, take, pass } = create(1);
  add('FREQ?', '{value:int}');
  add('LEVEL?', '{value:int}');
  await pass(1000);
  t.true(take('7'));
  t.deepEqual(told, ['FREQ?: no answer to FREQ? within 1 s', 'FREQ?: 7 (late)']);
  await pass(1000);
  t.deepEqual(failed, ['no answer to LEVEL? within 1 s']);
});

test('the first answer answers a repeated question, and the second answer none', async (t) => {
  const { add, sent, told, take, pass } = create();
  add('GET 1', '1={value:int}', { retry: 1 });
  await pass(1000);
  t.deepEqual(sent, ['GET 1', 'GET 1']);
  t.true(take('1=5'));
  t.true(take('1=6'));
  t.deepEqual(told, ['GET 1: 5', 'GET 1: 6 (late)']);
});

test('an answer of several frames ends at its last frame, without unsolicited messages', async (t) => {
  const { add, told, take, pass } = create();
  add('STATUS', 'a: {_}\nb: {value:int}', { until: 'OK' });
  add('SONG', '{value}', { until: 'OK' });
  await pass(0);
  for (const line of ['a: 1', '!changed', 'b: 2', 'OK', 'title', 'OK']) take(line);
  t.deepEqual(told, ['STATUS: 2', 'SONG: title']);
});

test('an answer of several frames is given to the request that it fits, and dropped if it fits none', async (t) => {
  const { add, told, take, pass } = create();
  add('STATUS', 'a: {value:int}', { until: 'OK' });
  add('SONG', 'title: {value}', { until: 'OK' });
  await pass(0);
  t.false(take('OK'), 'the end of an answer before');
  for (const line of ['garbage', 'title: Blue', 'OK']) t.true(take(line), line);
  t.deepEqual(told, ['SONG: Blue'], 'the answer to STATUS is late');
  for (const line of ['b: 1', 'OK']) take(line);
  for (const line of ['a: 1', 'OK']) t.true(take(line), line);
  t.deepEqual(told, ['SONG: Blue', 'STATUS: 1']);
});

test('a request whose answer is not the expected one is refused after the timeout, and not repeated', async (t) => {
  const { add, sent, told, take, pass } = create();
  add('STATUS', 'a: {value:int}', { until: 'OK', retry: 1 });
  await pass(0);
  for (const line of ['a: x', 'OK']) take(line);
  await pass(1000);
  t.deepEqual(told, ['STATUS: expected a matching answer to STATUS']);
  t.is(sent.length, 1);
});

test('a busy device is asked again after a pause, and refused in the end', async (t) => {
  const { add, sent, told, take, pass } = create();
  add('ON', 'OK', { retry: 1 });
  await pass(0);
  take('BUSY');
  t.is(sent.length, 1);
  await pass(500);
  t.is(sent.length, 2);
  take('BUSY');
  t.deepEqual(told, ['ON: the device reported: BUSY']);
});

test('a link that breaks refuses all waiting requests, and sends none of them later', async (t) => {
  const { requests, add, sent, told, pass } = create(1);
  add('A', 'a');
  add('B', 'b');
  await pass(0);
  requests.clear('away');
  requests.hold(false);
  await pass(5000);
  t.deepEqual(sent, ['A']);
  t.deepEqual(told, ['A: away', 'B: away']);
});
