// What loads and scripts ask a hub over HTTP: the answers, and that what is refused does not pass unseen.

import test from 'ava';
import { AskedHub } from './asked-hub.ts';
import { api, startTestHub } from './hub.ts';

const flow = {
  connections: {
    api,
    desk: { type: 'dummy', parameters: ['mic,B,false', 'lamp,B'] },
    lab: { type: 'dummy', parameters: ['x,I'] },
  },
  rules: [{ name: 'light', from: 'desk/mic', to: 'desk/lamp' }],
};

test('a client sets and reads parameters, their explanations, connections and rules of a hub', async (t) => {
  const hub = new AskedHub((await startTestHub(t, flow)).port);
  await hub.set('desk/mic', true);
  t.is(await hub.value('desk/lamp'), 'true');
  t.deepEqual(await hub.values('desk'), [true, true]);
  t.deepEqual(
    (await hub.parameters()).map(({ parameter }) => parameter).filter((address) => !address.startsWith('hub/')),
    ['desk/mic', 'desk/lamp', 'lab/x'],
  );
  const { chain } = await hub.explain('desk/lamp');
  t.deepEqual(
    chain.map(({ origin }) => origin.kind),
    ['rule', 'client'],
  );
  t.is((await hub.connection('lab')).state, 'running');
  t.is(await hub.ruleState('light'), 'running');
});

test('a refused write or query is an error with its status', async (t) => {
  const hub = new AskedHub((await startTestHub(t, flow)).port);
  await t.throwsAsync(hub.set('lab/x', 'no number'), { message: /^\/update: expected an answer, got 400: / });
  await t.throwsAsync(hub.set('desk/unknown', 1), { message: /^\/update: expected an answer, got 404: / });
  await t.throwsAsync(hub.explain('desk/unknown'), { message: /^\/hub\/explain\/desk\/unknown: .* 404: / });
  await t.throwsAsync(hub.value('lab/x'), { message: /^\/parameters\/lab\/x: / });
});
