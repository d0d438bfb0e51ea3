// `patchbay types --remote`: what other hubs have, asked of both hubs of a pair.

import test, { type ExecutionContext } from 'ava';
import { remoteTypes } from '../../../lib/command/types-command.ts';
import { eventually } from '../../support/deadline.ts';
import { api, startTestHub } from '../../support/hub.ts';
import { startNats } from '../../support/nats/servers.ts';
import { needs } from '../../support/programs.ts';
import { call } from '../../support/system/process.ts';

needs('nats');

const type = 'dummy';
const other = { 'rack/light': { type: 'B', access: 'read-write', hub: 'edge' } };

async function remotesAt(port: number): Promise<unknown> {
  const options = { url: `http://127.0.0.1:${port}`, username: '', password: '', token: '' };
  return JSON.parse((await call((console) => remoteTypes(options, console))).output);
}

test('parameters of other hubs are printed; what a hub that stands by mirrors of its pair is none of them', async (t: ExecutionContext) => {
  const nats = await startNats();
  t.teardown(() => nats.end());
  const start = (house: object, connections: object) =>
    startTestHub(t, {
      connections: { house: { type: 'nats', servers: nats.urls, domain: 'd', ...house }, api, ...connections },
    });
  const pair = { hub: 'studio', pair: true };
  const desk = { type, parameters: ['lamp,B,true'] };
  await start({ hub: 'edge' }, { rack: { type, parameters: ['light,B,false'] } });
  const main = await start(pair, { desk });
  await eventually(() => main.leadership.term !== undefined);
  const standby = await start(pair, { desk });
  await eventually(() => standby.find('desk/lamp')?.remote?.staleSince === undefined);
  for (const hub of [main, standby]) {
    await eventually(() => hub.find('rack/light')?.value === false);
    t.deepEqual(await remotesAt(hub.port), other);
  }
  const alone = await startTestHub(t, { connections: { api, desk } });
  t.deepEqual(await remotesAt(alone.port), {});
});
