// A hub with a flow in TypeScript that misbehaves, beside a neighbour in JSON5 that is asked all the while.

import { symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ExecutionContext } from 'ava';
import { flowOf, furtherFiles, type Parts } from '../../trials/misbehave/flow.ts';
import { api } from '../hub.ts';
import { openClient } from '../sockets/socket.ts';
import { type HubProcess, startHubProcess } from '../system/hub-process.ts';
import { messagesOf } from '../system/log-messages.ts';
import { AskedDesk } from './asked-desk.ts';

const root = resolve(import.meta.dirname, '../../..');

const desk = {
  connections: { api, desk: { type: 'dummy', parameters: ['in,I', 'out,I', 'x,I', 'y,I', 'many,I'] } },
  rules: [{ name: 'neighbour', from: 'desk/in', to: 'desk/out' }],
};

type FlowParts = Parts & { readonly plus?: number };

/** The flow that is well; desk/y is desk/x and this much, a multiple of `step`. */
export const flow = (parts: FlowParts) => flowOf(parts, parts.plus ?? 0, join(root, 'lib/index.ts'));

/** A hub with a neighbour in JSON5 and the flow in TypeScript, or one that runs already in the folder of such a hub. */
export async function startMisbehaving(t: ExecutionContext, running?: HubProcess) {
  const hub = running ?? (await startNeighbour(t));
  const asked = new AskedDesk(t, await openClient(t, hub.port));
  let savedFrom = 0;
  return {
    hub,
    expectNeighbourWell: () => asked.expectNeighbourWell(),
    setUntil: (happened: Promise<unknown>) => asked.setUntil(happened),
    /** Looks at what was logged since the last save. */
    said: (pattern: RegExp) => findMessage(hub, pattern, savedFrom),
    async save(parts: FlowParts, isNews = true) {
      if (isNews) savedFrom = await hub.finds((output) => output.length, 'output');
      await writeFile(join(hub.folder, 'flow.ts'), flow(parts));
    },
    /** Sets desk/x until the flow adds so much; returns how long that took. */
    async adds(plus: number, after = 'all well') {
      try {
        return await asked.setUntilAdds(plus, after);
      } catch (error) {
        const messages = await hub.finds((output) => messagesOf(output, hub.folder), 'its log');
        t.log(asked.describe());
        t.log(messages.slice(-8).join('\n'));
        throw error;
      }
    },
  };
}

async function startNeighbour(t: ExecutionContext): Promise<HubProcess> {
  const hub = await startHubProcess(t, desk);
  await symlink(join(root, 'node_modules'), join(hub.folder, 'node_modules'));
  for (const [name, text] of Object.entries(furtherFiles)) await writeFile(join(hub.folder, name), text);
  return hub;
}

/** Waits for a message that matches, from a place in the log on, whether or not it was said many times. */
function findMessage(hub: HubProcess, pattern: RegExp, from: number): Promise<string> {
  const once = (message: string) => message.replace(/ \(\d+ times within a second\)$/, '');
  return hub.finds(
    (output) => messagesOf(output.slice(from), hub.folder).find((message) => pattern.test(once(message))),
    `${pattern}`,
  );
}
