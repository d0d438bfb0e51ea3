// The list by hand: what a developer would write in some fifty lines of uWebSockets.js. Parameters in a map, rules as functions, and for all
// dashboards one JSON list of what a round of the event loop has brought. It has no types, no rights, no limits and no store.

import { createApp, listen } from '../../lib/net/uws.ts';
import { runTask } from '../../spec/support/system/task.ts';
import { type StudioName, studios } from '../load/flows/studio.ts';

type Message = { readonly p: string; readonly v: unknown };
type Rule = { readonly to: string; readonly map: (value: number) => number };

await runTask(({ studio }: { readonly studio: StudioName }) => {
  const { sources, rules } = studios[studio];
  const values = new Map<string, number | undefined>();
  const rulesOf = new Map<string, Rule[]>();
  for (const address of [...sources, ...rules.map(({ to }) => to)]) values.set(address, undefined);
  for (const { from, to, factor, offset } of rules) {
    const rule = { to, map: (value: number) => value * factor + offset };
    rulesOf.set(from, [...(rulesOf.get(from) ?? []), rule]);
  }

  const app = createApp(undefined);
  const decoder = new TextDecoder();
  let list: { p: string; v: string }[] = [];
  const flush = () => {
    app.publish('all', JSON.stringify(list));
    list = [];
  };
  const write = (address: string, value: number) => {
    if (values.get(address) === value) return;
    values.set(address, value);
    if (list.length === 0) setImmediate(flush);
    list.push({ p: address, v: String(value) });
    for (const { to, map } of rulesOf.get(address) ?? []) write(to, map(value));
  };
  app.ws('/ws', {
    maxBackpressure: 64 * 1024 * 1024,
    open: (socket) => {
      socket.subscribe('all');
      const known = [...values].filter(([, value]) => value !== undefined);
      if (known.length > 0) socket.send(JSON.stringify(known.map(([p, value]) => ({ p, v: String(value) }))));
    },
    message: (socket, message) => {
      try {
        const data = JSON.parse(decoder.decode(message)) as Message | Message[];
        for (const { p, v } of Array.isArray(data) ? data : [data]) {
          const value = Number(v);
          if (values.has(p) && Number.isFinite(value)) write(p, value);
          else socket.send(JSON.stringify({ error: 'expected a parameter and a number', p }));
        }
      } catch {
        socket.send(JSON.stringify({ error: 'expected JSON' }));
      }
    },
  });
  return listen(app, '127.0.0.1', 0).port;
});
