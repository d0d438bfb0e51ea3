// The hub under test: a real one in its own process, with connections of all six types and rules that fail.

import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../lib/model/error.ts';
import { within } from '../../support/deadline.ts';
import { createTemporaryFolder, thisTree } from '../../support/folder.ts';
import { encodeClientText, openWebSocket } from '../../support/load/web-socket.ts';
import { openDescriptorsOf } from '../../support/system/process-usage.ts';
import { type LogEntry, startHub } from '../../support/system/task-process.ts';
import { memoryOf, tellingMemory, type UsedMemory } from '../../support/system/used-memory.ts';
import type { Ports } from './deliver.ts';

const deadlineMs = 20_000;
/** How many descriptors the hub may have open by itself: files that it reads and writes. */
const maxFiles = 4;

export interface FuzzedHub {
  readonly ports: Ports;
  /** What it logged that it must not log, and how it was not well, so far. */
  readonly complaints: readonly string[];
  readonly logged: number;
  /** Errors: when it is not well, or an ordinary client does not get its changes. */
  check(): Promise<void>;
  memory(): Promise<UsedMemory>;
  /** How many connections of others it has, WebSocket clients and, where the system tells, descriptors more than at the start. */
  connections(): Promise<number>;
  /** Ends it, once. Errors: when it does not end well. */
  stop(): Promise<void>;
}

const files = {
  'root/index.html': '<!doctype html><title>Fuzz</title>',
  'root/empty.txt': '',
  'root/größe.txt': 'x'.repeat(10_000),
  'root/.hidden': 'hidden',
  'root/folder/page.html': '<!doctype html>',
  'dashboards/panel.json5': "{ widgets: [{ type: 'value', address: 'desk/text' }] }",
};

const api = { type: 'rest-api', port: 0, bindIp: '127.0.0.1' };
const flow = {
  connections: {
    api: { ...api, documentRoot: 'root', dashboards: 'dashboards' },
    locked: { ...api, documentRoot: 'root', username: 'a', password: 'b', token: 'YQ==', webSocketFilters: ['^desk/'] },
    desk: {
      type: 'dummy',
      parameters: ['text', 'flag,B', 'count,I', 'level,F', 'go,T', 'a/b/c', 'größe', 'x%20y z', 'known,S,x'],
    },
    loop: { type: 'dummy', parameters: ['a,I', 'b,I'] },
    clock: { type: 'timer', timers: [10], pulses: [{ interval: 50 }] },
    core: {
      type: 'virtual-core',
      inputs: { flag: 'desk/flag', level: 'desk/level', text: 'desk/text', go: 'desk/go' },
      outputs: {
        lit: { block: 'TOF', in: 'flag', pt: 20 },
        share: { type: 'F', expression: '1 / level' },
        many: { type: 'S', expression: 'text + text' },
        up: { block: 'CTU', up: 'go', reset: 'flag', pv: 3 },
      },
    },
    onair: { type: 'xml-file-output', filename: 'onair.xml', template: '<a b="$OnAir">$Title</a>' },
    keys: { type: 'keyboard', inputKeys: ['ctrl-f1'], outputKeys: ['a'] },
    probe: { type: 'dummy', parameters: ['value'] },
  },
  rules: [
    { name: 'text to number', from: 'desk/text', to: 'desk/count' },
    { name: 'share', from: 'desk/level', map: 'string(1 / value)', to: 'desk/a/b/c' },
    { name: 'cut', from: 'desk/text', map: 'value.substring(2, 5)', to: ['desk/größe', 'onair/Title'] },
    { name: 'later', from: 'desk/flag', pipe: [{ debounceTime: 5 }], to: 'onair/OnAir' },
    { name: 'there', from: 'loop/a', map: 'value + 1', to: 'loop/b' },
    { name: 'back', from: 'loop/b', map: 'value + 1', to: 'loop/a' },
    { name: 'timer', from: 'desk/go', map: '1', to: 'clock/timer/1/start' },
  ],
};

export async function startFuzzedHub(): Promise<FuzzedHub> {
  const { path: folder, remove } = await createTemporaryFolder('fuzz');
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, '..'), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const ports: number[] = [];
  const complaints: string[] = [];
  let logged = 0;
  const hear = (entry: LogEntry) => {
    logged++;
    if (entry.port !== undefined) ports.push(entry.port);
    if (entry.level >= 50 || 'err' in entry) complaints.push(JSON.stringify(entry).slice(0, 3000));
  };
  const options = { hubFolder: thisTree, isQuick: true };
  const hub = await startHub(flow, folder, options, tellingMemory, hear);
  const [open, locked] = ports as [number, number];
  const probe = await openProbe(open, () => complaints.push('the socket of an ordinary client has ended'));
  const ask = async (path: string) => {
    const headers = { connection: 'close' }; // one that is kept may be closed by the hub meanwhile
    const signal = AbortSignal.timeout(deadlineMs);
    const response = await fetch(`http://127.0.0.1:${open}${path}`, { headers, signal });
    return JSON.parse(await response.text()) as { status?: string; count?: number };
  };
  const descriptors = descriptorsOf(hub.pid) + maxFiles;
  const stop = async () => {
    probe.end();
    await hub.stop();
    await remove();
  };
  let stopped: Promise<void> | undefined;
  return {
    ports: { open, locked },
    complaints,
    get logged() {
      return logged;
    },
    async check() {
      try {
        const { status } = await ask('/hub/health');
        if (status !== 'ok' && status !== 'degraded') throw new Error(`expected a health, got ${status}`);
        await probe.exchange();
      } catch (error) {
        complaints.push(messageOf(error));
        throw error;
      }
    },
    memory: () => memoryOf(hub.pid),
    connections: async () => (await ask('/hub/clients')).count! - 1 + descriptorsOf(hub.pid) - descriptors,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** 0 where the system does not report it. */
function descriptorsOf(pid: number): number {
  try {
    return openDescriptorsOf(pid);
  } catch {
    return 0;
  }
}

/** An ordinary client that subscribes to one parameter and sets it. */
async function openProbe(port: number, onClose: () => void) {
  const seen = new EventTarget();
  let text = '';
  const onBytes = (chunk: Buffer, length: number) => {
    text = (text + chunk.toString('latin1', 0, length)).slice(-1000);
    seen.dispatchEvent(new Event('change'));
  };
  const socket = await openWebSocket(port, '/ws?filter=^probe/', { onBytes, onClose });
  let count = 0;
  return {
    async exchange() {
      const v = `check ${++count}`; // which no input has set before
      socket.write(encodeClientText(JSON.stringify({ p: 'probe/value', v })));
      const arrival = (async () => {
        while (!text.includes(`"probe/value","v":"${v}"`)) await once(seen, 'change');
      })();
      await within(arrival, 'an ordinary client to get its change', deadlineMs);
    },
    end: () => socket.destroy(),
  };
}
