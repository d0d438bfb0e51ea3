// The schemas of the OpenAPI document. Answers have all of their properties but those that are told to be left out.

import { connectionActions } from '../../../../model/connection-status.ts';
import { errorCatalogue } from '../../../../model/error.ts';
import { logLevels } from '../../../../model/log-entry.ts';

const text = { type: 'string' };
const flag = { type: 'boolean' };
const count = { type: 'integer', minimum: 0 };
const time = { type: 'string', format: 'date-time' };
const texts = list(text);
const address = { type: 'string', description: '<Connection ID>/<Parameter ID>' };
const valueType = { enum: ['S', 'B', 'I', 'F', 'T'], description: 'text, boolean, integer, float, trigger' };
const value = { type: ['string', 'number', 'boolean'] };
const connectionState = { enum: ['running', 'degraded', 'failed', 'disabled'] };
const connection = {
  ...{ id: text, type: text, description: text, state: connectionState },
  reason: { type: 'string', description: 'One sentence, empty while all is well' },
  since: time,
};
const origin = object({ kind: { enum: ['connection', 'rule', 'client'] }, name: text }, { file: text });
const pattern = { anyOf: [text, object({ regex: text })] };

/** What a rule computed, before its conversion: null for an infinite number. */
const result = { type: ['string', 'number', 'boolean', 'null'] };

export const schemas = {
  Value: value,
  Update: object({ parameter: address, value }),
  Updated: object({ p: address, v: value }),
  Problem: object({
    ...{ type: text, title: text, status: count },
    detail: { type: 'string', description: 'One sentence: where, what was expected, what came' },
    code: { enum: Object.keys(errorCatalogue) },
  }),
  Parameter: object(
    {
      ...{ parameter: address, type: valueType },
      access: { enum: ['read-only', 'write-only', 'read-write'] },
      state: { enum: ['known', 'unknown'] },
    },
    { value, revision: count, time, origin },
  ),
  Connection: object({
    ...connection,
    enabled: { type: 'boolean', description: 'As its settings say' },
    parameters: count,
    file: text,
  }),
  Connections: object({ connections: list(ref('Connection')) }),
  Control: object({ action: { enum: connectionActions } }),
  Rule: object({
    ...{ name: text, file: text },
    folder: { ...texts, description: 'The folders that it is in, outermost first' },
    enabled: flag,
    from: list(address),
    to: list(address),
    state: { enum: ['running', 'limited', 'failing', 'waiting', 'disabled'] },
    ...{ reason: text, faults: count, dropped: count },
  }),
  Rules: list(ref('Rule')),
  Switch: object({ rule: text, enabled: flag }, { file: text }),
  Files: object({
    time,
    loaded: { type: 'boolean', description: 'false: what ran before runs on' },
    reason: text,
    files: list(object({ path: text, connections: count, rules: count, mistakes: texts })),
  }),
  Log: object({
    entries: list(
      object({ n: count, time, level: { enum: logLevels }, message: text }, { connection: text, rule: text }),
    ),
    next: { type: 'integer', description: 'What to ask for `after` next time' },
  }),
  Clients: object({
    count,
    clients: list(
      object(
        {
          ...{ id: count, address: text, protocol: { enum: ['plain', 'patchbay.v1'] }, since: time },
          state: { enum: ['live', 'catching up', 'stalled'] },
          ...{ unreadBytes: count, lagMs: count, sentBytes: count, sentFrames: count, receivedMessages: count },
        },
        {
          filters: { ...texts, description: 'Of a plain client' },
          subscriptions: list(
            object({
              ...{ id: count, include: list(pattern), exclude: list(pattern) },
              rate: { type: 'number', minimum: 0 },
              delivery: { enum: ['latest', 'all'] },
            }),
          ),
        },
      ),
    ),
  }),
  Dashboards: object({ dashboards: texts }),
  Dashboard: { type: 'object' },
  Health: object({
    status: { enum: ['ok', 'degraded'] },
    ...{ version: text, epoch: text, revision: count, uptimeSeconds: count },
    log: object({ state: { enum: ['running', 'degraded'] }, reason: text, lost: count }),
    connections: list(object(connection)),
  }),
  Explanation: object(
    {
      parameter: address,
      chain: {
        ...list(
          object(
            { parameter: address, type: valueType, value, origin, time },
            { previous: value, revision: count, afterMs: { type: 'number', minimum: 0 } },
          ),
        ),
        description: 'Newest change first',
      },
      forgotten: { type: 'integer', description: 'How many changes before the last of the chain are not kept' },
    },
    { value },
  ),
  Traces: list(
    object({
      ...{ rule: text, file: text, isAlwaysRecorded: flag },
      runs: list(
        object(
          {
            ...{ revision: count, time, to: list(address) },
            outcome: { enum: ['wrote', 'stopped', 'held', 'waited', 'failed'] },
          },
          { source: address, value, result, error: text, durationUs: count },
        ),
      ),
    }),
  ),
};

/** An object of exactly these properties, of which those of `optional` may be left out. */
function object(required: object, optional: object = {}) {
  return {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional },
    additionalProperties: false,
  };
}

function list(items: object) {
  return { type: 'array', items };
}

function ref(schema: string) {
  return { $ref: `#/components/schemas/${schema}` };
}
