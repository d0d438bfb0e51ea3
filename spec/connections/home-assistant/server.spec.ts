// The server of the specs is checked with Home Assistant's official client, home-assistant-js-websocket, which others have written: what it
// understands, and what it sends.

import test from 'ava';
import {
  callService,
  createConnection,
  createLongLivedTokenAuth,
  ERR_INVALID_AUTH,
  getConfig,
  getServices,
  getStates,
  getUser,
  type HassEntities,
  subscribeEntities,
} from 'home-assistant-js-websocket';
import { eventually } from '../../support/deadline.ts';
import { type HouseServer, startServer } from './peers.ts';

const connect = ({ port }: HouseServer, token = 'a-long-token') =>
  createConnection({ auth: createLongLivedTokenAuth(`http://127.0.0.1:${port}`, token) });

for (const version of ['2026.11.0', '2021.1.0'])
  test(`the official client works with the server of the specs as version ${version}`, async (t) => {
    const server = await startServer(t, { version });
    const connection = await connect(server);
    t.teardown(() => connection.close());
    t.is(connection.haVersion, version);
    await connection.ping();
    t.is((await getConfig(connection)).unit_system.temperature, '°C');
    t.is((await getUser(connection)).name, 'Hub');
    t.true('turn_on' in (await getServices(connection)).light!);
    t.is((await getStates(connection)).length, 18);
    let house: HassEntities = {};
    t.teardown(
      subscribeEntities(connection, (entities) => {
        house = entities;
      }),
    );
    await eventually(() => house['light.kitchen']?.state === 'off', 'the states');
    t.is(house['sensor.temperature']!.attributes.unit_of_measurement, '°C');
    const target = { entity_id: 'light.kitchen' };
    const answer = await callService(connection, 'light', 'turn_on', { brightness: 128 }, target);
    t.truthy((answer as { context: unknown }).context);
    await eventually(() => house['light.kitchen']!.attributes.brightness === 128, 'the written brightness');
    t.is(house['light.kitchen']!.state, 'on');
    await t.throwsAsync(() => callService(connection, 'light', 'no_such', {}, target) as Promise<never>, {
      any: true,
    });
    const refused = await callService(
      connection,
      'number',
      'set_value',
      { value: 200 },
      { entity_id: 'number.level' },
    ).catch((error: unknown) => error);
    t.like(refused, {
      code: 'service_validation_error',
      message: 'Value 200 for number.level is outside valid range 0 - 100',
    });
    server.tell({ set: ['sensor.temperature', '22.5'] });
    await eventually(() => house['sensor.temperature']!.state === '22.5', 'a change');
    t.is(house['sensor.temperature']!.attributes.device_class, 'temperature');
    server.tell({ drop: ['sensor.temperature', 'device_class'] });
    await eventually(() => !('device_class' in house['sensor.temperature']!.attributes), 'an attribute that is gone');
    server.tell({ remove: 'sun.sun' });
    await eventually(() => !('sun.sun' in house), 'an entity that is gone');
    await t.throwsAsync(connection.sendMessagePromise({ type: 'no_such_command' }), { any: true });
  });

test('the server of the specs refuses a wrong token, and the official client understands it', async (t) => {
  const error = await connect(await startServer(t), 'wrong').catch((one: unknown) => one);
  t.is(error, ERR_INVALID_AUTH);
});
