// GET /hub/metrics: what it counts, and that Prometheus takes it.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createMetricsPage } from '../../../../lib/connections/rest-api/endpoints/metrics.ts';
import type { MetricsContext } from '../../../../lib/connections/rest-api/metrics/metric-registry.ts';
import { eventually, within } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { ask } from '../../../support/http.ts';
import { api, startTestHub, writer } from '../../../support/hub.ts';
import { needs, pathOf } from '../../../support/programs.ts';
import { openClient } from '../../../support/sockets/socket.ts';
import { openV1 } from '../../../support/sockets/v1.ts';
import { dependent } from '../../../support/system/dependent.ts';
import { freePort } from '../../../support/system/port.ts';

needs('prometheus');

const startDesk = (t: ExecutionContext, count = 2) =>
  startTestHub(t, {
    connections: {
      api,
      desk: { type: 'dummy', parameters: [...Array.from({ length: count }, (_, n) => `p${n},I`), 'text,S', 'go,T'] },
      later: { type: 'timer', enabled: false },
    },
    rules: [
      { from: 'desk/p0', to: 'desk/p1' },
      { from: 'desk/text', to: 'desk/p1' },
    ],
  });

const read = async (t: ExecutionContext, port: number) => (await ask(t, port, 'GET /hub/metrics')).text;

/** The values of a metric, by its labels: `origin="rule"` → 2. */
function valuesOf(page: string, name: string): Record<string, number> {
  const lines = page.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return Object.fromEntries(
    lines.map((line) => /^[\w]+(?:\{(.*)\})? (.*)$/.exec(line)!).map(([, l = '', v]) => [l, Number(v)]),
  );
}

test('changes, writes, rules, clients and connections are counted', async (t) => {
  const hub = await startDesk(t);
  await openClient(t, hub.port);
  const client = await openV1(t, hub.port);
  for (const [parameter, value] of [
    ['p0', 1],
    ['p0', 2],
    ['p0', 'x'],
    ['none', 1],
    ['text', 'a'],
  ])
    await ask(t, hub.port, 'POST /update', {
      body: JSON.stringify({ parameter: `desk/${parameter}`, value }),
      headers: { 'content-type': 'application/json' },
    });
  client.send({
    set: [
      ['desk/none', 1],
      ['desk/p0', 3],
    ],
    ack: 1,
  });
  await client.sync();
  for (let count = 0; count < 64; count++) hub.write('desk/go', true, writer);
  const page = await read(t, hub.port);
  t.like(valuesOf(page, 'patchbay_changes_total'), { 'origin="client"': 68, 'origin="rule"': 3 });
  t.deepEqual(valuesOf(page, 'patchbay_writes_total'), {
    'result="ok"': 4,
    'result="not-convertible"': 1,
    'result="unknown-parameter"': 2,
  });
  t.deepEqual(valuesOf(page, 'patchbay_clients'), { 'protocol="plain"': 1, 'protocol="patchbay.v1"': 1 });
  t.deepEqual(valuesOf(page, 'patchbay_rule_errors_total'), { '': 1 });
  t.deepEqual(valuesOf(page, 'patchbay_parameters'), { '': hub.size });
  t.like(valuesOf(page, 'patchbay_connection_state'), {
    'id="api",state="running"': 1,
    'id="later",state="running"': 0,
    'id="later",state="disabled"': 1,
  });
  t.deepEqual(valuesOf(page, 'patchbay_turn_duration_seconds_count'), { '': 1 });
  t.true(valuesOf(page, 'process_resident_memory_bytes')['']! > 1e7);
});

test('invalid writes are counted, in every way', async (t) => {
  const hub = await startDesk(t);
  const plain = await openClient(t, hub.port);
  plain.send('{"v":1}');
  await plain.next();
  const client = await openV1(t, hub.port);
  client.send({ set: [['desk/p0']], ack: 1 });
  await client.sync();
  const post = (body: string, type: string) =>
    ask(t, hub.port, 'POST /update', { body, headers: { 'content-type': type } });
  t.is((await post('{"parameter":"desk/p0"}', 'application/json')).status, 400);
  t.is((await post(`{"value":"${'x'.repeat(70_000)}"}`, 'application/json')).status, 413);
  t.is((await post('1', 'text/xml')).status, 415);
  t.deepEqual(valuesOf(await read(t, hub.port), 'patchbay_writes_total'), {
    'result="ok"': 0,
    'result="bad-request"': 3,
    'result="body-too-large"': 1,
    'result="body-type"': 1,
  });
});

test('transactions of a store are counted with their duration', async (t) => {
  const folder = await createFolder(t);
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: ['lamp,B'] }, store: { type: 'store', folder } },
  });
  hub.write('desk/lamp', true, writer);
  const flush = async (part: string) =>
    valuesOf(await read(t, hub.port), `patchbay_store_flush_seconds_${part}`)[''] ?? 0;
  await eventually(async () => (await flush('count')) > 0, 'a transaction');
  t.true((await flush('sum')) > 0);
});

test('there are as many series with 5,000 parameters as with two', async (t) => {
  const namesOf = async (count: number) => {
    const page = await read(t, (await startDesk(t, count)).port);
    return page.split('\n').map((line) => line.replace(/ \S+$/, ''));
  };
  t.deepEqual(await namesOf(5000), await namesOf(2));
});

test('docs/monitoring.md has exactly the metrics of the hub, and the dashboard and the alert rules use only these', async (t) => {
  const page = await read(t, (await startDesk(t)).port);
  const there = [...page.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!);
  const room = join(import.meta.dirname, '../../../../lib/connections/rest-api');
  const namesIn = async (file: string) =>
    [...(await readFile(join(room, file), 'utf8')).matchAll(/\b(?:patchbay|process|nodejs)_\w+/g)].map(([name]) =>
      name.replace(/_bucket$/, ''),
    );
  t.deepEqual([...new Set(await namesIn('../../../docs/monitoring.md'))].sort(), there.sort());
  for (const file of ['metrics/alerts.yml', 'metrics/grafana.json']) {
    const asked = await namesIn(file);
    t.true(asked.length > 5);
    t.deepEqual(
      asked.filter((name) => !there.includes(name)),
      [],
      file,
    );
  }
  const { status, stderr } = spawnSync(pathOf('promtool')!, ['check', 'rules', join(room, 'metrics/alerts.yml')]);
  t.is(status, 0, String(stderr));
});

test('the library is loaded soon after the start, also without a request', async (t) => {
  let isLoaded = false;
  const hub = () => {
    isLoaded = true;
  };
  createMetricsPage(Object.defineProperty({} as MetricsContext, 'hub', { get: hub }));
  await t.notThrowsAsync(eventually(() => isLoaded));
});

test('promtool reports no problem, and a Prometheus scrapes the endpoint', async (t) => {
  const hub = await startDesk(t);
  const { status, stderr } = spawnSync(pathOf('promtool')!, ['check', 'metrics'], { input: await read(t, hub.port) });
  t.is(status, 0, String(stderr));
  t.is(String(stderr), '');
  const port = await startPrometheus(t, hub.port);
  const asked = encodeURIComponent('patchbay_connection_state{id="desk",state="running"}');
  await eventually(async () => {
    const answer = (await (await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${asked}`)).json()) as Answer;
    return answer.data.result[0]?.value[1] === '1';
  }, 'a state in Prometheus');
});

interface Answer {
  readonly data: { readonly result: readonly { readonly value: readonly [time: number, text: string] }[] };
}

/** Starts a Prometheus that scrapes a hub five times a second; returns its port. */
async function startPrometheus(t: ExecutionContext, hubPort: number): Promise<number> {
  const folder = await createFolder(t, {});
  const port = await freePort();
  const scrape = {
    ...{ job_name: 'patchbay', metrics_path: '/hub/metrics', scrape_interval: '200ms', scrape_timeout: '200ms' },
    static_configs: [{ targets: [`127.0.0.1:${hubPort}`] }],
  };
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify({ scrape_configs: [scrape] }));
  const options = [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const prometheus = spawn(...dependent(pathOf('prometheus')!, options));
  const ended = once(prometheus, 'close');
  t.teardown(async () => {
    prometheus.kill();
    await ended;
  });
  let said = '';
  const ready = new Promise<void>((resolve, reject) => {
    prometheus.stderr.on('data', (data) => {
      said += data;
      if (said.includes('Server is ready')) resolve();
    });
    ended.then(() => reject(new Error(said)));
  });
  await within(ready, 'Prometheus ready');
  return port;
}
