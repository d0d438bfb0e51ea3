// The schemas of the OpenAPI document, by name. Answers have all of their properties but those that may be left out.

import type { Dashboard } from '../../../../dashboard/format.ts';
import { type ErrorCode, errorCatalogue } from '../../../../model/error.ts';
import { connectionActions } from '../../../../model/reports/connection-status.ts';
import { type LogStatus, logLevels } from '../../../../model/reports/log-entry.ts';
import type { FileReport } from '../../../../model/reports/reload-report.ts';
import type { RuleStatus } from '../../../../model/reports/rule-status.ts';
import type { Value } from '../../../../model/value.ts';
import type { DashboardList } from '../../../../wire/http/dashboards.ts';
import type { CausedChange, Causes, Explanation } from '../../../../wire/http/explanation.ts';
import type { ClientList, ClientStatus, ClientSubscription } from '../../../../wire/http/operation/clients.ts';
import type {
  ConnectionControl,
  ConnectionList,
  ConnectionStatus,
} from '../../../../wire/http/operation/connections.ts';
import type { LoadReport } from '../../../../wire/http/operation/flow-files.ts';
import type { ConnectionHealth, Health, Probe } from '../../../../wire/http/operation/health.ts';
import type { LogEntry, LogPage } from '../../../../wire/http/operation/log.ts';
import type { RuleList, RuleSwitch } from '../../../../wire/http/operation/rules.ts';
import type { RuleRun, RuleRuns, RuleTraces } from '../../../../wire/http/operation/trace.ts';
import type { ParameterInfo, Update, Updated } from '../../../../wire/http/parameters.ts';
import type { Problem } from '../../../../wire/http/problem.ts';
import { protocolName } from '../../../../wire/protocol.ts';
import { type DescribedOfHubs, hubSchemas } from './hub-schemas.ts';
import { anyOf, describe, list, object, oneOf, type Properties, type Schema, schema } from './schema.ts';
import { type DescribedOfShadow, shadowSchemas } from './shadow-schemas.ts';
import { type DescribedOfStore, storeSchemas } from './store-schemas.ts';
import { type DescribedOfUsers, userSchemas } from './user-schemas.ts';
import { address, count, duration, flag, origin, text, texts, time, value, valueType } from './words.ts';

/** What each schema describes. */
interface Described extends DescribedOfStore, DescribedOfHubs, DescribedOfShadow, DescribedOfUsers {
  readonly Value: Value;
  readonly Update: Update;
  readonly Updated: Updated;
  readonly Problem: Problem;
  readonly Parameter: ParameterInfo;
  readonly Connection: ConnectionStatus;
  readonly Connections: ConnectionList;
  readonly Control: ConnectionControl;
  readonly Rule: RuleStatus;
  readonly Rules: RuleList;
  readonly Switch: RuleSwitch;
  readonly Files: LoadReport;
  readonly Log: LogPage;
  readonly Clients: ClientList;
  readonly Dashboards: DashboardList;
  readonly Dashboard: Dashboard;
  readonly Health: Health;
  readonly Probe: Probe;
  readonly Explanation: Explanation;
  readonly Traces: RuleTraces;
}

export type SchemaName = keyof Described;

const pattern = anyOf(text, object<{ readonly regex: string }>({ regex: text }));
const connection: Properties<ConnectionHealth> = {
  id: text,
  type: text,
  description: text,
  state: oneOf(['running', 'degraded', 'failed', 'disabled']),
  reason: describe(text, 'One sentence, empty while all is well'),
  since: time,
};

const causes = {
  chain: describe(
    list(
      object<CausedChange>(
        { parameter: address, type: valueType, value, origin, time },
        { previous: value, revision: count, afterMs: duration },
      ),
    ),
    'Newest change first',
  ),
  forgotten: schema<number>({
    type: 'integer',
    description: 'How many changes before the last of the chain are not kept',
  }),
};

export const schemas: { readonly [Name in SchemaName]: Schema<Described[Name]> } = {
  Value: value,
  Update: object<Update>({ parameter: address, value }),
  Updated: object<Updated>({ p: address, v: value }),
  Problem: object<Problem>({
    type: text,
    title: text,
    status: count,
    detail: describe(text, 'One sentence: where, what was expected, what came'),
    code: oneOf(Object.keys(errorCatalogue) as ErrorCode[]),
  }),
  Parameter: object<ParameterInfo>(
    {
      parameter: address,
      type: valueType,
      access: oneOf(['read-only', 'write-only', 'read-write']),
      state: oneOf(['known', 'unknown']),
    },
    {
      value,
      revision: count,
      time,
      origin,
      hub: describe(text, 'The hub that owns it; left out: this one does'),
      staleSince: describe(time, 'Since when nothing is heard of that hub'),
    },
  ),
  Connection: object<ConnectionStatus>({
    ...connection,
    enabled: describe(flag, 'As its settings say'),
    parameters: count,
    file: text,
  }),
  Connections: object<ConnectionList>({
    structure: describe(count, 'Counts the parameters that have come and gone, those of other hubs as well'),
    connections: list(ref('Connection')),
  }),
  Control: object<ConnectionControl>({ action: oneOf(connectionActions) }),
  Rule: object<RuleStatus>(
    {
      name: text,
      file: text,
      place: describe(text, 'Where it stands: file, line and column'),
      folder: describe(texts, 'The folders that it is in, outermost first'),
      enabled: flag,
      from: list(address),
      to: list(address),
      state: oneOf(['running', 'limited', 'failing', 'waiting', 'disabled']),
      reason: text,
      faults: count,
      dropped: count,
    },
    { shadow: describe(schema<true>({ const: true }), 'What it would write is noted, and not written') },
  ),
  Rules: list(ref('Rule')),
  Switch: object<RuleSwitch>({ rule: text, enabled: flag }, { file: text }),
  Files: object<LoadReport>({
    time,
    loaded: describe(flag, 'false: what ran before runs on'),
    reason: text,
    files: list(object<FileReport>({ path: text, connections: count, rules: count, mistakes: texts })),
  }),
  Log: object<LogPage>({
    entries: list(
      object<LogEntry>({ n: count, time, level: oneOf(logLevels), message: text }, { connection: text, rule: text }),
    ),
    next: schema<number>({ type: 'integer', description: 'What to ask for `after` next time' }),
    count: describe(text, 'Names the count of the numbers: another name says that they have begun anew'),
  }),
  Clients: object<ClientList>({
    count,
    clients: list(
      object<ClientStatus>(
        {
          id: count,
          user: describe(text, 'Empty: nobody in particular'),
          address: text,
          protocol: oneOf(['plain', protocolName]),
          since: time,
          state: oneOf(['live', 'catching up', 'stalled']),
          unreadBytes: count,
          lagMs: count,
          sentBytes: count,
          sentFrames: count,
          receivedMessages: count,
        },
        {
          filters: describe(texts, 'Of a plain client'),
          subscriptions: list(
            object<ClientSubscription>({
              id: count,
              include: list(pattern),
              exclude: list(pattern),
              rate: duration,
              delivery: oneOf(['latest', 'all']),
            }),
          ),
        },
      ),
    ),
  }),
  Dashboards: object<DashboardList>({ dashboards: texts }),
  Dashboard: schema({ type: 'object' }),
  Probe: object<Probe>({ status: oneOf(['live', 'ready']) }),
  Health: object<Health>({
    status: oneOf(['ok', 'degraded']),
    version: text,
    epoch: text,
    revision: count,
    uptimeSeconds: count,
    log: object<LogStatus>({ state: oneOf(['running', 'degraded']), reason: text, lost: count }),
    connections: list(object<ConnectionHealth>(connection)),
  }),
  Explanation: object<Explanation>(
    { parameter: address, ...causes },
    {
      value,
      would: describe(object<Causes>(causes, { value }), 'What it would be by the rules in shadow'),
      isNotKept: describe(
        schema<true>({ const: true }),
        'The store has no room for the value: who wrote it takes most of it',
      ),
    },
  ),
  Traces: list(
    object<RuleRuns>({
      rule: text,
      file: text,
      isAlwaysRecorded: flag,
      runs: list(
        object<RuleRun>(
          {
            revision: count,
            time,
            to: list(address),
            outcome: oneOf(['wrote', 'stopped', 'held', 'waited', 'failed']),
          },
          {
            source: address,
            value,
            result: schema<Value | null>({ type: ['string', 'number', 'boolean', 'null'] }),
            error: text,
            durationUs: count,
          },
        ),
      ),
    }),
  ),
  ...hubSchemas,
  ...storeSchemas,
  ...shadowSchemas,
  ...userSchemas,
};

function ref<Name extends SchemaName>(name: Name): Schema<Described[Name]> {
  return schema({ $ref: `#/components/schemas/${name}` });
}
