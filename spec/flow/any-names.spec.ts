// Names that every object of JavaScript has are ordinary names: of connections, parameters, users, outputs, alarms, entries,
// variables, instances, and keys of tables.

import { env } from 'node:process';
import test from 'ava';
import { api, startHubFrom, writer } from '../support/hub.ts';

const names = [
  ...['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'prototype'],
  ...['isPrototypeOf', '__defineGetter__', 'toLocaleString', '😀', 'שלום'],
];
/** Names that expressions can read: the language reserves two, and the check says so. */
const variables = names.filter((name) => /^\w+$/.test(name) && name !== '__proto__' && name !== 'prototype');
const byName = (textOf: (name: string, index: number) => string, of = names) =>
  `{ ${of.map((name, index) => `${JSON.stringify(name)}: ${textOf(name, index)}`).join(', ')} }`;
const listed = (itemOf: (name: string) => string, of = names) => `[${of.map(itemOf).join(', ')}]`;
const text = (one: string) => JSON.stringify(one);
const users = names.filter((name) => /^[\p{L}_]+$/u.test(name));

const files = {
  'flow.json5': `{
    connections: {
      api: { type: 'rest-api', port: 0, bindIp: '${api.bindIp}',
        users: ${byName((name) => `{ token: ${text(`token-${users.indexOf(name)}`)}, read: ['**'] }`, users)} },
      constructor: { type: 'dummy', parameters: ${listed((name) => text(`${name},S`))} },
      flags: { type: 'dummy', parameters: ${listed((name) => text(`${name},B,true`))} },
      out: { type: 'dummy', parameters: ${listed((name) => text(`${name},I`))} },
      both: { type: 'dummy', parameters: ${listed((name) => text(`${name},B`))} },
      made: { type: 'dummy', parameters: ${listed((name) => text(`${name},S`))} },
      core: { type: 'virtual-core',
        inputs: ${byName((name) => text(`flags/${name}`), variables)},
        outputs: { all: { type: 'B', expression: ${text(variables.join(' && '))} } } },
      outputs: { type: 'virtual-core', inputs: { x: 'flags/valueOf' },
        outputs: ${byName(() => `{ type: 'B', expression: 'x' }`)} },
      blocks: { type: 'virtual-core', inputs: { x: 'flags/valueOf' },
        outputs: ${byName(() => `{ block: 'TON', in: 'x', pt: 0 }`)} },
      alarms: { type: 'alarms', alarms: ${byName((name) => `{ when: ${text(`flags/${name}`)} }`)} },
      plan: { type: 'schedule', zone: 'UTC', entries: ${byName(() => '{}')} },
    },
    rules: [
      ${names.map((name) => `{ from: ${text(`constructor/${name}`)}, to: ${text(`out/${name}`)}, pipe: [{ lookup: { table: ${byName((_, index) => String(index))}, otherwise: -1 } }] }`).join(',\n')},
      ${variables.map((name) => `{ from: { ${name}: ${text(`flags/${name}`)}, other: 'flags/valueOf' }, map: '${name} && other', atStart: true, to: ${text(`both/${name}`)} }`).join(',\n')},
    ],
    instances: { template: './_each.json5', each: ${byName((name) => `{ mine: ${text(name)}, ${variables.map((one) => `${one}: '${one}'`).join(', ')} }`)} },
  }`,
  '_each.json5': `{ rules: [{ name: '\${mine}', from: 'constructor/\${mine}', map: "'\${instance} ${variables.map((name) => `\${${name}}`).join(' ')}'", to: 'made/\${mine}' }] }`,
};

test('names that every object has are ordinary names', async (t) => {
  const hub = await startHubFrom(t, files);
  for (const [index, name] of names.entries()) {
    hub.write(`constructor/${name}`, name, writer);
    t.is(hub.find(`out/${name}`)?.value, index, name);
    t.is(hub.find(`made/${name}`)?.value, `${name} ${variables.join(' ')}`);
    t.is(hub.find(`outputs/${name}`)?.value, true, name);
    t.is(hub.find(`blocks/${name}`)?.value, true, name);
    t.is(hub.find(`alarms/${name}/active`)?.value, true, name);
    t.is(hub.find(`plan/${name}`)?.value, true, name);
    if (variables.includes(name)) t.is(hub.find(`both/${name}`)?.value, true, name);
  }
  t.is(hub.find('core/all')?.value, true);
  for (const name of ['watch', 'toJSON', '__lookupGetter__']) {
    hub.write('constructor/valueOf', name, writer);
    t.is(hub.find('out/valueOf')?.value, -1, 'what the table lacks, it lacks');
  }
});

test('users may have such names, and nobody signs in as one that does not exist', async (t) => {
  const hub = await startHubFrom(t, files);
  for (const [index, name] of users.entries()) {
    const { status, text: body } = await fetchAs(hub.port, '/hub/me', `token-${index}`);
    t.is(status, 200);
    t.is((JSON.parse(body) as { user: string }).user, name);
  }
  t.is((await fetchAs(hub.port, '/hub/me', 'toString')).status, 401);
});

async function fetchAs(port: number, path: string, token: string) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, text: await response.text() };
}

test('a missing secret of the environment is reported, whatever its name', async (t) => {
  for (const name of ['constructor', 'toString', '__proto__']) {
    t.false(Object.hasOwn(env, name));
    const flow = { connections: { api: { ...api, token: { env: name } } } };
    const error = await t.throwsAsync(startHubFrom(t, { 'flow.json5': flow }));
    t.regex(error!.message, /connections\.api\.token\.env: expected the name of a variable in the hub's environment, /);
    t.false(error!.message.includes(name), 'it may be the secret itself');
  }
});
