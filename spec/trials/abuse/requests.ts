// Endless requests over hundreds of connections: expensive ones, ones that the hub refuses, and ones with tokens and passwords to verify.

import { keepAsking } from './attack.ts';
import { asAbuser, manyParameters, type Scenario } from './scenario.ts';

const connections = 300;
const moreParameters = Array.from({ length: 100_000 }, (_, index) => `sensor-${index}/value,F,${index}`);
const widgets = Array.from({ length: 250 }, (_, index) => {
  const address = `desk/group-${index % 10}/sensor-${index}/value`;
  return `    { type: 'meter', label: 'Sensor number ${index}', address: '${address}', max: 100, unit: '%' },`;
});
/** 31 KB. */
const dashboard = `{\n  title: 'Plant',\n  columns: 12,\n  widgets: [\n${widgets.join('\n')}\n  ],\n}\n`;
const json = { 'Content-Type': 'application/json' };
const longBody = JSON.stringify({ parameter: 'desk/text', value: 'x'.repeat(64_000) });
const deepBody = JSON.stringify({ parameter: 'desk/text', value: Array.from({ length: 9000 }, () => [[1]]) });

/** Asks by 300 connections, as a user who may do everything. */
const ask =
  (...lines: readonly string[]): Scenario['attack'] =>
  (port) =>
    keepAsking(port, connections, (number) => ({ line: lines[number % lines.length]!, headers: asAbuser }));

const dashboards: Scenario = {
  about: '300 HTTP connections repeatedly request the same dashboard of 31 KB',
  limits: [],
  settings: { dashboards: 'dashboards' },
  files: { 'dashboards/plant.json5': dashboard },
  attack: ask('GET /hub/dashboards/plant'),
};

const files: Scenario = {
  about: '300 HTTP connections repeatedly request the console and files of 1 KB, 200 KB and 2 MB in the document root',
  limits: [],
  settings: { documentRoot: 'www' },
  files: { 'www/a.js': 'x'.repeat(1000), 'www/b.js': 'x'.repeat(200_000), 'www/c.js': 'x'.repeat(2_000_000) },
  attack: ask('GET /a.js', 'GET /b.js', 'GET /c.js', 'GET /hub/', 'GET /hub/client.js'),
};

const longLists: Scenario = {
  about: '300 HTTP connections repeatedly list 100,000 parameters',
  limits: [],
  parameters: moreParameters,
  attack: ask('GET /hub/parameters'),
};

const explanations: Scenario = {
  about: '300 HTTP connections request the causes of parameters with long text values',
  limits: [],
  rules: Array.from({ length: 30 }, (_, index) => ({
    name: `chain ${index}`,
    from: index === 0 ? 'desk/text' : `desk/chain/${index - 1}`,
    map: 'string(value) + "."',
    to: `desk/chain/${index}`,
  })),
  parameters: Array.from({ length: 30 }, (_, index) => `chain/${index}`),
  attack: (port) =>
    keepAsking(port, connections, (number) =>
      number % 100 === 0
        ? { line: 'POST /update', headers: { ...asAbuser, ...json }, body: longBody.replace('x', String(number)) }
        : { line: 'GET /hub/explain/desk/chain/29', headers: asAbuser },
    ),
};

const metrics: Scenario = {
  about: '300 HTTP connections request metrics, health and the OpenAPI document',
  limits: [],
  parameters: manyParameters,
  attack: ask('GET /hub/metrics', 'GET /hub/health', 'GET /hub/openapi.json'),
};

const logWatches: Scenario = {
  about: '300 HTTP connections watch the log while 300 rules fail continuously',
  limits: [],
  connections: { clock: { type: 'timer', pulses: [{ interval: 50 }] } },
  rules: Array.from({ length: 300 }, (_, index) => ({
    name: `fails ${index}`,
    from: 'clock/pulse/1',
    map: `int("${'x'.repeat(500)}${index}")`,
    to: 'desk/text',
  })),
  attack: ask('GET /hub/log', 'GET /hub/log?level=warn'),
};

const manyRules: Scenario = {
  about: '300 HTTP connections request the states of 5,000 rules and their files',
  limits: [],
  parameters: manyParameters,
  rules: Array.from({ length: 5000 }, (_, index) => ({
    name: `rule ${index}`,
    from: `desk/group-${index % 10}/sensor-${index}/value`,
    map: `value * ${index}`,
    to: `desk/group-${(index + 5000) % 10}/sensor-${index + 5000}/value`,
  })),
  attack: ask('GET /hub/rules', 'GET /hub/files', 'GET /hub/connections'),
};

const reloads: Scenario = {
  about: '20 HTTP connections repeatedly reload flow files with 1,000 rules',
  limits: [],
  parameters: manyParameters,
  rules: manyRules.rules!.slice(0, 1000),
  attack: (port) =>
    keepAsking(port, 20, () => ({ line: 'POST /hub/reload', headers: { ...asAbuser, ...json }, body: '{}' })),
};

const bodies: Scenario = {
  about: '300 HTTP connections send valid and invalid bodies of 64 KB',
  limits: [],
  attack: (port) =>
    keepAsking(port, connections, (number) => ({
      line: 'POST /update',
      headers: json,
      body: number % 2 === 0 ? longBody.replace('x', String(number)) : deepBody,
    })),
};

const notFound: Scenario = {
  about: '300 HTTP connections request things that do not exist',
  limits: [],
  settings: { documentRoot: 'www' },
  files: { 'www/index.html': 'index' },
  attack: (port) =>
    keepAsking(port, connections, (number) => {
      const paths = ['/none.html', '/hub/none', '/parameters/desk/none', '/hub/explain/desk/none', '/hub/history/none'];
      return paths[number % paths.length]!;
    }),
};

const unauthorized: Scenario = {
  about: '300 HTTP connections send requests without credentials',
  limits: [],
  isClosed: true,
  attack: (port) => keepAsking(port, connections, (number) => ['/parameters/desk/lamp', '/hub/log', '/'][number % 3]!),
};

const wrongCredentials: Scenario = {
  about: '300 HTTP connections send requests with wrong tokens and passwords',
  limits: ['wrongCredentials'],
  isClosed: true,
  attack: (port) =>
    keepAsking(port, connections, (number) => ({
      line: 'GET /parameters/desk/lamp',
      headers: {
        Authorization:
          number % 2 === 0 ? `Bearer ${btoa(`token ${number}`)}` : `Basic ${btoa(`nobody${number}:password`)}`,
      },
    })),
};

const signIns: Scenario = {
  about: '300 HTTP connections try to sign in with wrong passwords',
  limits: ['wrongCredentials', 'passwords'],
  isClosed: true,
  attack: (port) =>
    keepAsking(port, connections, (number) => ({
      line: 'POST /hub/sign-in',
      headers: { ...json, Origin: 'http://localhost' },
      body: JSON.stringify({ user: number % 2 === 0 ? 'operator' : `nobody${number}`, password: `wrong ${number}` }),
    })),
};

const past: Scenario = {
  about: '300 HTTP connections repeatedly request history, events and audit entries',
  limits: [],
  parameters: manyParameters,
  connections: { store: { type: 'store', folder: 'data', history: [{ include: ['desk/**'], raw: '1d' }], audit: {} } },
  attack: ask(
    'GET /hub/history?filter=.*&points=20',
    'GET /hub/history/desk/neighbour/0?points=10000',
    'GET /hub/events/desk/neighbour/0?limit=1000',
    'GET /hub/audit?limit=1000',
    'GET /hub/store',
  ),
};

/** Abuses by HTTP, by name. */
export const requestAbuses: Readonly<Record<string, Scenario>> = {
  dashboards,
  files,
  'long-lists': longLists,
  explanations,
  metrics,
  'log-watches': logWatches,
  'many-rules': manyRules,
  reloads,
  bodies,
  'not-found': notFound,
  unauthorized,
  'wrong-credentials': wrongCredentials,
  'sign-ins': signIns,
  past,
};
