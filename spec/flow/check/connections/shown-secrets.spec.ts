// The value of a setting that may hold a secret is shown nowhere, whatever is wrong with it.

import { join, resolve } from 'node:path';
import test from 'ava';
import { check } from '../../../../lib/command/check-command.ts';
import { checkFlowFiles } from '../../../../lib/flow/check/check.ts';
import { checkFlows, startHub } from '../../../../lib/hub/index.ts';
import { formatMistake, MistakeList } from '../../../../lib/json5/mistake.ts';
import { readJson5 } from '../../../../lib/json5/read-json5.ts';
import { isSecretName, mayHoldSecret } from '../../../../lib/model/secret.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { connectionTypes } from '../../../support/connection-types.ts';
import { eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { ask } from '../../../support/http.ts';
import { api, portsOf } from '../../../support/hub.ts';
import { sampled } from '../../../support/random.ts';
import { call, start } from '../../../support/system/process.ts';

const secrets = ['q7Zx9KpwV2', 'dG9rZW4tQ3Jv', 'Wm4ysR8uTe', 'kJ6hB3nX0c', 'SUAGYb5Lq2Ft', 'Ph1Vd8Go5Ia'];
const [password, token, annas, kiosks, nkey, nats] = secrets;
const installation = `{
  connections: {
    api: { type: 'rest-api', port: 0, username: 'op', password: '${password}',
      token: '${token}', users: { anna: { password: '${annas}', read: ['**'] },
        kiosk: { token: '${kiosks}' },
      } },
    net: {
      type: 'nats', domain: 'd', hub: 'h', servers: ['nats://10.0.0.5:4222'],
      credentials: {
        user: 'bob',
        password: '${nats}',
        nkey: '${nkey}',
      },
    },
  },
}`;

/** Whether four consecutive letters of a secret are shown. */
function isReported(text: string): string | undefined {
  for (const secret of secrets)
    for (let at = 0; at + 4 <= secret.length; at++) if (text.includes(secret.slice(at, at + 4))) return secret;
  return undefined;
}

function mistakesOf(text: string): string[] {
  const mistakes = new MistakeList();
  try {
    const { data, duplicates, positionOf } = readJson5(text);
    const file = { name: 'a.json5', folder: '/', data, positionOf };
    for (const { path, message, position } of duplicates) mistakes.add(file, path, message, position);
    checkFlowFiles([file], connectionTypes, mistakes);
  } catch (error) {
    mistakes.addFile('a.json5', (error as Error).message);
  }
  return mistakes.items.map(formatMistake);
}

test('a character omitted, added or replaced anywhere reveals no secret', (t) => {
  const signs = ["'", ':', '=', '\n', ' '];
  const isTried = sampled(t, 6);
  let [wrong, tried, made] = [0, 0, 0];
  for (let at = 0; at < installation.length; at++)
    for (const sign of ['', ...signs])
      for (const left of sign === '' || /\W/.test(installation[at]!) ? [1] : [0]) {
        if (sign !== '' && made++ % 3 > 0) continue; // each place has two of the five signs
        if (!isTried(tried++)) continue;
        const text = installation.slice(0, at) + sign + installation.slice(at + left);
        const reported = mistakesOf(text);
        if (reported.length > 0) wrong++;
        const secret = isReported(reported.join('\n'));
        if (secret !== undefined) return t.fail(`${reported.join('\n')}\n${text}`);
      }
  t.log(`${wrong} texts`);
  t.true(tried > 1000 && wrong > tried / 12);
});

const [secret] = secrets;
/** Values in place of text, an object or a list. */
const odd = (value: string) => [
  value,
  `[${value}]`,
  `['${value}']`,
  `{ value: '${value}' }`,
  `{ env: ['${value}'] }`,
  `{ file: 1, env: '${value}' }`,
  `{ env: '${value}' }`,
  `{ file: '${value}' }`,
  `{ '${value}': 1 }`,
  `{ ${value}: 1, ${value}: 2 }`,
  `'${value}`,
  `"${value}'`,
  `'a' ${value}`,
  `'a'${value}'`,
  `= '${value}'`,
  `: '${value}'`,
  `('${value}')`,
  `\`${value}\``,
  `“${value}”`,
  `'\${${value}}'`,
  `'a\${${value}'`,
  `'\${ x } ${value}'`,
  `+${value}`,
  `0x${value}`,
  `/* a */ ${value}`,
  `\n      ${value}\n`,
  `'$scrypt$${value}'`,
];
const places: readonly [what: string, write: (value: string) => string][] = [
  ['password', (value) => `{ connections: { api: { type: 'rest-api', password: ${value} } } }`],
  ['token', (value) => `{ connections: { api: { type: 'rest-api', token: ${value}, port: 0 } } }`],
  ['a misspelt password', (value) => `{ connections: { api: { type: 'rest-api', pasword: ${value}, port: 'x' } } }`],
  ['a misspelt token', (value) => `{ connections: { api: { type: 'rest-api', tokn: ${value} } } }`],
  ['a key without a colon', (value) => `{ connections: { api: { type: 'rest-api', password ${value} } } }`],
  ['a key with quotes', (value) => `{ connections: { api: { type: 'rest-api', 'token': ${value} } } }`],
  ['users', (value) => `{ connections: { api: { type: 'rest-api', users: ${value} } } }`],
  ['a user', (value) => `{ connections: { api: { type: 'rest-api', users: { anna: ${value} } } } }`],
  [
    "a user's password",
    (value) => `{ connections: { api: { type: 'rest-api', users: { a: { password: ${value} } } } } }`,
  ],
  ["a user's token", (value) => `{ connections: { api: { type: 'rest-api', users: { a: { token: ${value} } } } } }`],
  ['credentials', (value) => `{ connections: { n: { type: 'nats', domain: 'd', hub: 'h', credentials: ${value} } } }`],
  [
    'credentials within',
    (value) => `{ connections: { n: { type: 'nats', domain: 'd', hub: 'h', credentials: { nkey: ${value} } } } }`,
  ],
  ['a connection in a list', (value) => `{ connections: [{ type: 'rest-api', password: ${value} }] }`],
  ['a type', (value) => `{ connections: { api: { type: { password: ${value} } } } }`],
  ['all in a list', (value) => `[{ connections: { api: { token: ${value} } } }]`],
  ['a variable', (value) => `{ instances: { template: './_t.json5', each: { a: { password: ${value} } } } }`],
  ['a file without braces', (value) => `connections: { api: { token: ${value} } }`],
];

test('no secret is shown, whatever form it has and wherever it stands', async (t) => {
  const template = {
    connections: {
      '${instance}': { type: 'rest-api', port: '${password}', bindIp: 'a${password}', token: '${password}' },
    },
  };
  const isTried = sampled(t, 3);
  for (const [place, [what, write]] of places.entries()) {
    const files = odd(secret!).map((value, index) => [`${index}/a.json5`, write(value)]);
    const templates = odd(secret!).map((_, index) => [`${index}/_t.json5`, template]);
    const folder = await createFolder(t, Object.fromEntries([...files, ...templates]));
    for (const [index, value] of odd(secret!).entries()) {
      if (!isTried(place + index)) continue; // all forms, all places
      if (what === 'users' && /^\{ '?q7/.test(value)) continue; // that is the name of a user
      const { mistakes, plan } = await checkFlows([join(folder, `${index}/a.json5`)]);
      const reported = [...mistakes, ...(plan.warnings ?? []), ...(plan.hints?.() ?? [])].join('\n');
      // a port is no secret, whatever was put into the variable
      const rest = reported.split('\n').filter((line) => what !== 'a variable' || !/\.(port|bindIp):/.test(line));
      t.is(isReported(rest.join('\n')), undefined, `${what}: ${value}: ${reported}`);
    }
  }
});

test('user and password in an address, and a key in place of its file, are shown nowhere', async (t) => {
  const key = `-----BEGIN PRIVATE KEY-----\\n${secret}\\n-----END PRIVATE KEY-----`;
  const made = (net: string) => `{ connections: { net: { type: 'nats', domain: 'd', hub: 'h', ${net} } } }`;
  for (const text of [
    made(`servers: 'nats://bob:${secret}@10.0.0.5:4222'`),
    made(`servers: ['nats://bob:${secret}@10.0.0.5:4222']`),
    made(`servers: [nats://bob:${secret}@10.0.0.5:4222]`),
    made(`servers: { a: 'nats://${secret}@10.0.0.5' }`),
    made(`servers: ['bob:${secret}@10.0.0.5']`),
    `{ connections: { api: { type: 'rest-api', allowedOrigins: ['bob:${secret}@panel.example'], trustedProxies: ['bob:${secret}@10.0.0.1'] } } }`,
    `{ connections: { api: { type: 'rest-api', allowedHosts: ['bob:${secret}@hub.example'] } } }`,
    `{ connections: { api: { type: 'rest-api', anonymous: '${secret}' } } }`,
    `{ connections: { api: 'rest-api ${secret}' } }`,
    made(`credentials: { password: { file: '${key}' } }`),
    made(`mirrors: '${key}'`),
    `{ connections: { api: { type: 'rest-api', password: { file: '${key}' } } } }`,
  ]) {
    const reported = mistakesOf(text).join('\n');
    t.not(reported, '');
    t.is(isReported(reported), undefined, reported);
  }
  const folder = await createFolder(t, {
    'secret.txt': secret,
    'a.json5': made(`mirrors: 'secret.txt'`),
  });
  const { mistakes } = await checkFlows([join(folder, 'a.json5')]);
  t.regex(mistakes.join(), /got "secret\.txt": it is not JSON$/);
});

test('a flow in TypeScript, the log, GET /hub/files and commands show no secret', async (t) => {
  const lib = JSON.stringify(resolve(import.meta.dirname, '../../../../lib/index.ts'));
  const program = (settings: string) =>
    `import { defineFlow } from ${lib};\nexport default defineFlow({ connections: { ts: { type: 'rest-api', ${settings} } } });`;
  const folder = await createFolder(t, {
    'a.json5': {
      connections: { api: api, desk: { type: 'dummy', parameters: ['a'] } },
    },
    'package.json': { type: 'module' },
  });
  const log = createLogRecorder();
  const hub = await startHub({ paths: [folder], log });
  t.teardown(() => hub.stop());
  const [port] = portsOf(log);
  const { writeFile, rm } = await import('node:fs/promises');
  const isTried = sampled(t, 2);
  let checks = 0;
  for (const [round, [name, text]] of (
    [
      ['b.ts', program(`token: ${secret}`)],
      ['b.ts', program(`token: ${secret} 5`)],
      ['b.ts', program(`\n token:\n  ${secret},\n`)],
      ['b.ts', program(`users: { a: '${secret}' }`)],
      ['b.ts', program(`password: ['${secret}']`)],
      ['b.json5', `{ connections: { x: { type: 'rest-api', token: ${secret} } } }`],
      ['b.json5', `{ connections: { x: { type: 'rest-api', users: ['${secret}'] } } }`],
    ] as const
  ).entries()) {
    if (!isTried(round)) continue;
    await writeFile(join(folder, name), text);
    await t.throwsAsync(hub.reload());
    const files = (await ask(t, port!, 'GET /hub/files')).text;
    t.regex(files, /b\.(ts|json5)/);
    t.is(isReported(files), undefined, files);
    const checked =
      checks++ === 0 // the process prints what the function does
        ? start(t, ['check', folder]).ended()
        : call((console) => check([folder], console));
    const { output, errors, status } = await checked;
    t.is(status, 1);
    t.is(isReported(output + errors), undefined, errors);
    await rm(join(folder, name));
  }
  t.is(isReported(JSON.stringify(log.lines)), undefined);
  await eventually(() => log.lines.length > 0);
});

test('commands show neither a value in the place of a password nor the password in an address', async (t) => {
  for (const args of [
    ['get', 'a/b', `--pasword=${secret}`],
    ['get', 'a/b', '--password', 'x', secret!],
    ['set', 'a/b', `--tokn=${secret}`],
    ['get', 'a/b', '--url', `http://bob:${secret}@localhost:1`],
    ['watch', 'a/b', '--url', `http://${secret}@localhost:1`],
    ['get', 'a/b', '--url', `bob:${secret}@localhost`],
    ['check', `http://bob:${secret}@localhost`],
    [`http://bob:${secret}@localhost`],
    ['get', 'a/b', '--url', 'http://localhost:1', '--password', secret!, '--token', secret!],
  ]) {
    const { output, errors, status } = await start(t, args).ended();
    t.is(status, 1, args.join(' '));
    t.is(isReported(output + errors), undefined, errors);
  }
});

test('names of settings that may hold a secret are recognized, even misspelt; others are not', (t) => {
  for (const name of [
    'password',
    'passwrod',
    'Passwort',
    'token',
    'tokne',
    'nkey',
    'credentials',
    'secret',
    'apiKey',
    'pass',
  ])
    t.true(isSecretName(name), name);
  for (const name of [
    'port',
    'type',
    'parameters',
    'username',
    'rules',
    'path',
    'folder',
    'timers',
    'keyFile',
    'inputKeys',
  ])
    t.false(isSecretName(name), name);
  t.true(mayHoldSecret(['connections', 'api', 'users', 'anna']));
  t.false(mayHoldSecret(['connections', 'api', 'users', 'anna', 'read', 0]));
  t.false(mayHoldSecret(['connections', 'token', 'port']));
  t.false(mayHoldSecret(['tests', 0, 'set', 'desk/token']));
});
