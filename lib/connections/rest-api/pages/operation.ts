// What operators ask and do below /hub/: connections, rules, flow files and the log.

import { z } from 'zod';
import { type ConnectionStatus, connectionActions } from '../../../model/connection-status.ts';
import { describe, HubError } from '../../../model/error.ts';
import { type LogEntry, type LogLevel, logLevels } from '../../../model/log-entry.ts';
import type { Origin } from '../../../model/parameter.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import { answerPost } from '../http/body.ts';
import { decodePath } from './parameters/read.ts';

/** How many characters of messages one answer has; the rest is asked for with its `next`. */
const maxLogLength = 256 * 1024;

export const connectionsPath = '/hub/connections';

/** `{"connections":[{"id":"desk","state":"running",…}]}`, in the order of the flow files. */
export function connectionsOf(hub: HubPort): object {
  return { connections: hub.connections().map(describeConnection) };
}

/** `{"time":…,"loaded":true,"reason":"","files":[{"path":…,"connections":2,"rules":5,"mistakes":[]}]}`. */
export function filesOf(hub: HubPort): object {
  const { time, isLoaded, reason, files } = hub.files();
  return { time: new Date(time).toISOString(), loaded: isLoaded, reason, files };
}

/** `{"entries":[{"n":7,"time":…,"level":"info",…}],"next":7}`; `?after=7&level=warn`. Errors: `bad-request`. */
export function logOf(hub: HubPort, query: string): object {
  const parameters = new URLSearchParams(query);
  const after = parameters.get('after') ?? '0';
  const level = parameters.get('level') ?? 'debug';
  if (!/^\d{1,15}$/.test(after))
    throw new HubError('bad-request', `after: expected the number of an entry, got ${describe(after)}`);
  if (!isLevel(level))
    throw new HubError('bad-request', `level: expected one of ${logLevels.join(', ')}, got ${describe(level)}`);
  const { entries, next } = hub.log(Number(after), level);
  const count = countOf(entries);
  return {
    entries: entries.slice(0, count).map(({ time, ...entry }) => ({ ...entry, time: new Date(time).toISOString() })),
    next: count < entries.length ? entries[count - 1]!.n : next,
  };
}

/** How many entries one answer has: as many as are not much longer than it may be. */
function countOf(entries: readonly LogEntry[]): number {
  let length = 0;
  for (const [index, { message }] of entries.entries()) {
    length += message.length;
    if (length > maxLogLength) return index + 1;
  }
  return entries.length;
}

/** Who asks for what: the connection that is asked, and what it answers with. */
export interface Operation {
  /** The REST API connection that the request came by. */
  readonly id: string;
  readonly hub: HubPort;
  readonly log: Log;
  readonly by: Origin;
}

const actionExpected = connectionActions.map((action) => `"${action}"`).join(', ');
const controlSchema = z.strictObject({
  action: z.enum(connectionActions, { error: `one of ${actionExpected}` }),
});

/** `POST /hub/connections/<id>`, `{"action":"restart"}`: answers with its status. Errors: `not-found`, `conflict`. */
export function controlConnection({ id, hub, log, by }: Operation, response: HttpResponse, request: HttpRequest): void {
  const target = decodePath(request.getUrl().slice(connectionsPath.length + 1));
  answerPost({ response, request, log }, controlSchema, ({ action }) => {
    if (target === id && action !== 'start')
      throw new HubError('conflict', `${action}: expected another connection, "${id}" is the one that you ask by`);
    return describeConnection(hub.control(target, action, by));
  });
}

const switchSchema = z.strictObject({
  rule: z.string({ error: 'the name of a rule' }),
  file: z.string({ error: 'the path of a flow file' }).optional(),
  enabled: z.boolean({ error: 'true or false' }),
});

/** `POST /hub/rules`, `{"rule":"lamp off","enabled":false}`: answers with its status. Errors: `not-found`, `conflict`. */
export function switchRule({ hub, log, by }: Operation, response: HttpResponse, request: HttpRequest): void {
  answerPost({ response, request, log }, switchSchema, ({ rule, file, enabled }) =>
    hub.switchRule(rule, file, enabled, by),
  );
}

function describeConnection({ since, ...status }: ConnectionStatus): object {
  return { ...status, since: new Date(since).toISOString() };
}

function isLevel(text: string): text is LogLevel {
  return (logLevels as readonly string[]).includes(text);
}
