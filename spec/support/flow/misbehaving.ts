// A hub with a flow in TypeScript that misbehaves, beside a neighbour in JSON5 that is asked all the while.

import { symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ExecutionContext } from 'ava';
import { filter, Subject } from 'rxjs';
import { flowOf, furtherFiles, type Parts, step } from '../../../bench/misbehave/flow.ts';
import { first } from '../deadline.ts';
import { api } from '../hub.ts';
import { openClient } from '../sockets/socket.ts';
import { type HubProcess, startHubProcess } from '../system/hub-process.ts';
import { slowness } from '../system/machine.ts';

/** The pace at which the neighbour is asked. */
const askEveryMs = 50;
const root = resolve(import.meta.dirname, '../../..');

const desk = {
  connections: { api, desk: { type: 'dummy', parameters: ['in,I', 'out,I', 'x,I', 'y,I', 'many,I'] } },
  rules: [{ name: 'neighbour', from: 'desk/in', to: 'desk/out' }],
};

/** The flow that is well; desk/y is desk/x and this much, a multiple of `step`. */
export const flow = (parts: Parts & { readonly plus?: number }) =>
  flowOf(parts, parts.plus ?? 0, join(root, 'lib/index.ts'));

/**
 * A hub with a neighbour in JSON5 and the flow in TypeScript, or one that runs already in the folder of such a hub; `said` looks
 * at what was logged since the last save.
 */
export async function startMisbehaving(t: ExecutionContext, running?: HubProcess) {
  const hub = running ?? (await startNeighbour(t));
  const client = await openClient(t, hub.port);
  const values = new Map<string, number>();
  const heard: number[] = [];
  /** The neighbour has answered. */
  const beats$ = new Subject<void>();
  let [sent, lastAt, longestGapMs] = [0, performance.now(), 0];
  const own = monitorEventLoopDelay();
  own.enable();
  const send = () => client.send({ p: 'desk/in', v: ++sent });
  client.frames.listen(({ p = '', v }) => {
    values.set(p, Number(v));
    if (p !== 'desk/out') return;
    heard.push(Number(v));
    longestGapMs = Math.max(longestGapMs, performance.now() - lastAt);
    lastAt = performance.now();
    beats$.next();
    setTimeout(send, askEveryMs);
  });
  send();
  let from = 0;
  const said = (pattern: RegExp) =>
    hub.finds(
      (output) =>
        messagesOf(output.slice(from), hub.folder).find((line) =>
          pattern.test(line.replace(/ \(\d+ times within a second\)$/, '')),
        ),
      `${pattern}`,
    );
  return {
    hub,
    said,
    /** That the neighbour heard all it asked for, and waited for nothing much longer than this process, being as busy. */
    expectNeighbourWell() {
      t.true(sent - heard.length <= 1);
      t.true(heard.every((value, index) => value === index + 1));
      const ownGapMs = own.max / 1e6;
      t.log(
        `longest gap of ${sent} changes ${Math.round(longestGapMs)} ms, of this process ${Math.round(ownGapMs)} ms`,
      );
      t.true(longestGapMs < 1500 * slowness() + 3 * ownGapMs);
    },
    async save(parts: Parameters<typeof flow>[0], isNews = true) {
      if (isNews) from = await hub.finds((output) => output.length, 'output');
      await writeFile(join(hub.folder, 'flow.ts'), flow(parts));
    },
    /** Sets desk/x until something has happened: to less and less, in steps, as some flows look at round numbers alone. */
    async setUntil(happened: Promise<unknown>) {
      let x = 0;
      const set = () => {
        x -= 10;
        client.send({ p: 'desk/x', v: x });
      };
      set();
      const setting = beats$.subscribe(set);
      await happened.finally(() => setting.unsubscribe());
    },
    /** Sets desk/x until desk/y says that the flow adds so much; returns how long that took. */
    async adds(plus: number, after = 'all well') {
      const start = performance.now();
      let x = 0;
      const setting = beats$.subscribe(() => client.send({ p: 'desk/x', v: ++x }));
      const isAdded = () => Math.floor((values.get('desk/y') ?? 0) / step) * step === plus;
      try {
        await first(beats$.pipe(filter(isAdded)), `the saved flow, after ${after}`);
      } catch (error) {
        const messages = await hub.finds((output) => messagesOf(output, hub.folder), 'its log');
        t.log(`desk/y is ${values.get('desk/y')}; the neighbour has answered ${heard.length} of ${sent}`);
        t.log(messages.slice(-8).join('\n'));
        throw error;
      } finally {
        setting.unsubscribe();
      }
      return performance.now() - start;
    },
  };
}

async function startNeighbour(t: ExecutionContext): Promise<HubProcess> {
  const hub = await startHubProcess(t, desk);
  await symlink(join(root, 'node_modules'), join(hub.folder, 'node_modules'));
  for (const [name, text] of Object.entries(furtherFiles)) await writeFile(join(hub.folder, name), text);
  return hub;
}

/** The messages of a log, with the files in the folder by their names. */
export function messagesOf(output: string, folder: string): string[] {
  return output
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { msg: string }).msg.replaceAll(`${folder}/`, ''));
}
