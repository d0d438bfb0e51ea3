import test from 'ava';
import type { ConnectionEvent } from '../../../lib/connections/connection.ts';
import { StateReporter } from '../../../lib/connections/store/keeper.ts';

test('a state is reported once, and again when it changes', (t) => {
  const reported: ConnectionEvent[] = [];
  const state = new StateReporter((event) => reported.push(event));
  state.set(undefined);
  state.set();
  state.set('no room', undefined, 'two values were lost');
  state.set('no room', 'two values were lost');
  state.set('two values were lost');
  state.set(undefined, undefined);
  t.deepEqual(reported, [
    { state: 'running' },
    { state: 'degraded', reason: 'no room; two values were lost' },
    { state: 'degraded', reason: 'two values were lost' },
    { state: 'running' },
  ]);
});

test('the first state is always reported', (t) => {
  const reported: ConnectionEvent[] = [];
  new StateReporter((event) => reported.push(event)).set('no room');
  t.deepEqual(reported, [{ state: 'degraded', reason: 'no room' }]);
});
