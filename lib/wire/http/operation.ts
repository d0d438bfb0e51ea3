// The shapes for the state and operation of the hub: connections, rules, flow files, reloads, the log, health, clients, and the domain.

import { z } from 'zod';
import { connectionActions } from '../../model/reports/connection-status.ts';
import { logLevels } from '../../model/reports/log-entry.ts';
import { keptDeviations } from '../../model/reports/reload-report.ts';
import { protocolName } from '../protocol.ts';
import {
  address,
  addresses,
  count,
  duration,
  flag,
  named,
  origin,
  type Shape,
  text,
  texts,
  time,
  value,
  valueOrNull,
  valueType,
  yes,
} from './shape.ts';

const connectionHealth = z.strictObject({
  id: text,
  type: text,
  description: text,
  state: z.enum(['running', 'degraded', 'failed', 'disabled']),
  reason: text.describe('One sentence; empty if there is no problem'),
  /** The time at which this state began. */
  since: time,
});

/**
 * The state of a connection:
 * `{"id":"desk","type":"dummy","description":"","state":"running","reason":"","since":"2026-…","enabled":true,"parameters":5,"file":"…"}`.
 */
export const connectionStatus = named(
  'Connection',
  connectionHealth.extend({
    enabled: flag.describe('Whether the connection is enabled in its settings'),
    parameters: count,
    /** The path of the flow file that declares the connection. */
    file: text,
    wire: z
      .strictObject({
        framesIn: count,
        framesOut: count,
        bytesIn: count,
        bytesOut: count,
        refused: z.exactOptional(count.describe('The number of refused frames, or of refused messages in frames')),
      })
      .describe('The traffic of a connection to a device since the connection was started')
      .optional(),
    driver: yes.describe('The connection hosts a driver module: see /hub/drivers/{id}').optional(),
    device: z
      .strictObject({
        staleSince: time.describe('When the device went offline; omitted while it is online').optional(),
        pending: count.describe('How many writes the device has not confirmed yet'),
        simulated: yes.describe('true: the connection runs without the device').optional(),
      })
      .describe('Only for a connection to a device')
      .optional(),
  }),
);
export type ConnectionStatus = Shape<typeof connectionStatus>;

/** The response to `GET /hub/connections`: `{"structure":12,"connections":[{"id":"desk","type":"dummy","state":"running",…}]}`. */
export const connectionList = named(
  'Connections',
  z.strictObject({
    structure: count.describe(
      'A number that increases when parameters are added or removed, including those of other hubs',
    ),
    /** The connections in the order of the flow files. */
    connections: z.array(connectionStatus),
  }),
);
export type ConnectionList = Shape<typeof connectionList>;

/**
 * The response to `GET /hub/wire/<id>`, a list of frames: `{"number":7,"time":"…","direction":"in","text":"RPRT 0","hex":"52 50
 * …","length":6}`.
 */
export const wireFrames = named(
  'WireFrames',
  z.array(
    z.strictObject({
      number: count.describe('The number of the frame in this connection, from 1'),
      time,
      direction: z.enum(['in', 'out']),
      fault: z.exactOptional(text.describe('Why the frame was refused')),
      text: z.string().describe('Control characters are escaped'),
      hex: text.describe('Omitted if it contains a secret').optional(),
      length: count.describe('In bytes'),
    }),
  ),
);
export type WireFrames = Shape<typeof wireFrames>;

const actionExpected = connectionActions.map((action) => `"${action}"`).join(', ');
const term = {
  until: z
    .union([z.string(), z.null()], { error: 'a time such as "2026-11-29T22:00:00Z", or null for good' })
    .describe('When the switch ends; null: never. Either way, it outlasts saves, reloads and restarts')
    .optional(),
  reason: z.string({ error: 'text' }).max(300, { error: 'at most 300 characters' }).optional(),
};

/**
 * The body of `POST /hub/connections/<id>`: `{"action":"restart"}`, or
 * `{"action":"stop","until":"2026-11-29T22:00:00Z","reason":"repairs"}`.
 */
export const connectionControl = named(
  'Control',
  z.strictObject({ action: z.enum(connectionActions, { error: `one of ${actionExpected}` }), ...term }),
);
export type ConnectionControl = Shape<typeof connectionControl>;

/** A rule and its state: `{"name":"lamp off","state":"running",…}`. */
export const ruleStatus = named(
  'Rule',
  z.strictObject({
    name: text,
    file: text,
    place: text.describe('The source location: file, line and column'),
    folder: texts.describe('The folders, outermost first'),
    enabled: flag,
    from: addresses,
    to: addresses,
    when: z.exactOptional(text.describe('The condition')),
    map: z.exactOptional(text.describe('The expression')),
    pipe: z.exactOptional(z.array(z.unknown()).describe('The steps, as written')),
    names: z.exactOptional(z.record(text, address).describe('The names of `from`, each with its address')),
    split: z.exactOptional(z.record(address, text).describe('The destinations, each with its expression')),
    state: z.enum(['running', 'limited', 'failing', 'waiting', 'disabled']),
    reason: text,
    faults: count,
    dropped: count,
    shadow: z.exactOptional(yes.describe('The rule is in shadow: its writes are recorded but not made')),
  }),
);

/** The response to `GET /hub/rules`: a list of rules, in the order of the flow files. */
export const ruleList = named('Rules', z.array(ruleStatus));
export type RuleList = Shape<typeof ruleList>;

/**
 * The response to `GET /hub/ways`:
 * `{"structure":12,"ways":[{"connection":"clock","type":"timer","from":["clock/timer/1/start"],"to":["clock/timer/1/trigger"]}]}`.
 */
export const wayList = named(
  'Ways',
  z.strictObject({
    /** A number that increases when parameters are added or removed. */
    structure: count,
    ways: z.array(z.strictObject({ connection: text, type: text, from: addresses, to: addresses })),
  }),
);
export type WayList = Shape<typeof wayList>;

/** The body of `POST /hub/rules`: `{"rule":"lamp off","enabled":false}`. */
export const ruleSwitch = named(
  'Switch',
  z.strictObject({
    rule: z.string({ error: 'the name of a rule' }),
    /** The path of the flow file with the rule; omitted if only one rule has this name. */
    file: z.string({ error: 'the path of a flow file' }).optional(),
    enabled: z.boolean({ error: 'true or false' }),
    ...term,
  }),
);

/**
 * The response to `GET /hub/overrides`: `{"overrides":[{"kind":"rule","name":"lamp","isOn":false,"by":"api desk
 * 10.0.0.7","until":"…",…}]}`.
 */
export const overrideList = named(
  'Overrides',
  z.strictObject({
    overrides: z.array(
      z.strictObject({
        kind: z.enum(['rule', 'connection']),
        name: text,
        file: text,
        isOn: flag,
        by: text,
        reason: text,
        since: time,
        isLasting: flag.describe('Whether the switch outlasts saves, reloads and restarts'),
        until: time.describe('Omitted if the switch is permanent or lasts until a restart').optional(),
      }),
    ),
  }),
);
export type OverrideList = Shape<typeof overrideList>;
export type RuleSwitch = Shape<typeof ruleSwitch>;

export const ruleOutcome = z.enum(['wrote', 'stopped', 'held', 'waited', 'failed']);

/**
 * One run of a rule:
 * `{"source":"desk/a","value":3,"revision":7,"time":"2026-…","outcome":"wrote","result":3.3,"to":["desk/b"],"durationUs":12}`.
 */
const ruleRun = z.strictObject({
  source: address.optional(),
  value: value.optional(),
  revision: count,
  time,
  outcome: ruleOutcome,
  /**
   * The written value before its conversion to the types of the destinations; null stands for an infinite number, which JSON cannot
   * represent.
   */
  result: valueOrNull.optional(),
  to: addresses,
  error: text.optional(),
  durationUs: count.optional(),
});
export type RuleRun = Shape<typeof ruleRun>;

/** The response to `GET /hub/trace?rule=<name>`: one trace per rule with this name, newest run first. */
export const ruleTraces = named(
  'Traces',
  z.array(z.strictObject({ rule: text, file: text, isAlwaysRecorded: flag, runs: z.array(ruleRun) })),
);
export type RuleTraces = Shape<typeof ruleTraces>;

/**
 * The response to `GET /hub/files`, with the result of the last load or reload:
 * `{"time":"2026-…","loaded":true,"reason":"","files":[{"path":"demo.json5","connections":2,"rules":5,"mistakes":[]}]}`.
 */
export const loadReport = named(
  'Files',
  z.strictObject({
    time,
    loaded: flag.describe('false: the previous configuration remains active'),
    /** The reason why the files were not loaded, in one sentence; empty if the files were loaded. */
    reason: text,
    files: z.array(z.strictObject({ path: text, connections: count, rules: count, mistakes: texts })),
  }),
);
export type LoadReport = Shape<typeof loadReport>;

/**
 * The body of `POST /hub/reload`: `{"shadow":true}`, or `{}`. After a reload in shadow, files that are saved later run in shadow as well,
 * until a normal reload.
 */
export const reloadRequest = named(
  'Reload',
  z.strictObject({ shadow: z.boolean({ error: 'true or false' }).optional() }),
);
export type ReloadRequest = Shape<typeof reloadRequest>;

/** One side of a deviation: the value and the origin that the parameter has, or would have had. */
const deviationSide = z.strictObject({
  /** The value on this side; omitted if unknown. */
  value: value.describe('For a trigger, the number of times it fired').optional(),
  origin: origin.optional(),
});
export type DeviationSide = Shape<typeof deviationSide>;

/**
 * A difference between the writes that were made and those that rules in shadow would have made:
 * `{"time":"2026-…","parameter":"desk/lamp","type":"B","done":{"value":false,"origin":{…}},"would":{"value":true,"origin":{…}}}`.
 */
const deviation = z.strictObject({
  time,
  parameter: address,
  type: valueType,
  done: deviationSide,
  would: deviationSide,
});
export type Deviation = Shape<typeof deviation>;

/** The response to `GET /hub/shadow`: `{"kind":"rules","rules":["lamp"],"count":1,"deviations":[…],…}`. */
export const shadowReport = named(
  'Shadow',
  z.strictObject({
    since: time,
    /** What runs in shadow: rules, the result of a reload, or nothing (`none`). */
    kind: z.enum(['rules', 'reload', 'none']),
    rules: texts.describe('The rules that run in shadow but not live'),
    left: texts.describe('The rules that run live but would not run after the reload'),
    notInShadow: texts.describe('Connections that the reload would change but that have effects outside the process'),
    parameters: z.array(z.strictObject({ address, count, differs: flag })),
    count: count.describe('The number of deviations so far'),
    deviations: z.array(deviation).describe(`The newest ${keptDeviations.toLocaleString('en')}, oldest first`),
  }),
);
export type ShadowReport = Shape<typeof shadowReport>;

const difference = z.strictObject({ added: texts, removed: texts, changed: texts });

/** The response to `POST /hub/reload`: `{"swapped":{"connections":{…},"rules":{…}}}`, or `{"shadow":{…}}`. */
export const reloadAnswer = named(
  'Reloaded',
  z.strictObject({
    swapped: z.strictObject({ connections: difference, rules: difference }).optional(),
    shadow: shadowReport.optional(),
  }),
);
export type ReloadAnswer = Shape<typeof reloadAnswer>;

const logEntry = z.strictObject({
  n: count,
  time,
  level: z.enum(logLevels),
  message: text,
  connection: text.optional(),
  rule: text.optional(),
});
export type LogEntry = Shape<typeof logEntry>;

/**
 * The response to `GET /hub/log?after=7&level=warn`:
 * `{"entries":[{"n":9,"time":"2026-…","level":"warn","message":"…"}],"next":9,"count":"…"}`.
 */
export const logPage = named(
  'Log',
  z.strictObject({
    /** The entries of the page, oldest first. */
    entries: z.array(logEntry),
    next: z.int().describe('The value of `after` for the next request'),
    /**
     * The name of the numbering. Without a store, a hub begins a new numbering with another name each time it starts. With a store, the
     * numbering continues, and clients miss no entries.
     */
    count: text.describe('Identifies the numbering: a different text means that the numbers have restarted'),
  }),
);
export type LogPage = Shape<typeof logPage>;

/**
 * The response to `GET /hub/health`:
 * `{"status":"ok","version":"0.1.0","epoch":"1f0c…","revision":7,"uptimeSeconds":12,"log":{…},"connections":[…]}`.
 */
export const health = named(
  'Health',
  z.strictObject({
    /** `degraded` means that the log or a connection has a problem. */
    status: z.enum(['ok', 'degraded']),
    title: text.describe('The name of the installation; empty if it has none'),
    version: text,
    /** Identifies this run of the hub. Revisions are valid only within one epoch. */
    epoch: text,
    revision: count,
    uptimeSeconds: count,
    log: z.strictObject({ state: z.enum(['running', 'degraded']), reason: text, lost: count }),
    connections: z.array(connectionHealth),
  }),
);
export type Health = Shape<typeof health>;

/**
 * The responses to a process supervisor: `GET /hub/health/live` returns `{"status":"live"}`, `GET /hub/health/ready` returns
 * `{"status":"ready"}`.
 */
export const probe = named('Probe', z.strictObject({ status: z.enum(['live', 'ready']) }));
export type Probe = Shape<typeof probe>;

const pattern = z.union([text, z.strictObject({ regex: text })]);

/**
 * A subscription of a client, as shown to operators:
 * `{"id":1,"include":["desk/*",{"regex":"x"}],"exclude":[],"rate":2.5,"delivery":"latest"}`. Long lists are truncated.
 */
const clientSubscription = z.strictObject({
  id: count,
  include: z.array(pattern),
  exclude: z.array(pattern),
  /** The maximum number of updates per second; 0 means one update per change. */
  rate: duration,
  delivery: z.enum(['latest', 'all']),
});

/** The parameters that a client has selected: a plain client has `filters`, a `patchbay.v1` client has `subscriptions`. */
const interests = z.strictObject({
  /** The regular expressions of a plain client. */
  filters: texts.describe('Only for plain clients').optional(),
  subscriptions: z.array(clientSubscription).optional(),
});
export type Interests = Shape<typeof interests>;

/** How far a client lags behind, and how much it has sent and received. */
const sessionStatus = z.strictObject({
  /**
   * `live`: the client receives changes as they happen; `catching up`: the client is receiving missed values; `stalled`: the client is not
   * reading.
   */
  state: z.enum(['live', 'catching up', 'stalled']),
  /** The number of bytes that the hub holds for the client because the client has not read them. */
  unreadBytes: count,
  /** How long the client has been behind, in milliseconds; 0 if the client is live. */
  lagMs: count,
  /** The number of bytes sent to the client's socket since the client connected, without WebSocket framing. */
  sentBytes: count,
  sentFrames: count,
  receivedMessages: count,
});
export type SessionStatus = Shape<typeof sessionStatus>;

const clientProtocol = z.enum(['plain', protocolName]);
export type ClientProtocol = z.output<typeof clientProtocol>;

const clientStatus = z.strictObject({
  id: count,
  user: text.describe('Empty for a client without a user'),
  name: text.describe('The name that the client gives itself with `?name=…`').optional(),
  browser: text.describe('`Firefox on Linux`; omitted for other programs').optional(),
  /** The IP address of the client. */
  address: text,
  protocol: clientProtocol,
  /** The time at which the client connected. */
  since: time,
  ...interests.shape,
  ...sessionStatus.shape,
});
export type ClientStatus = Shape<typeof clientStatus>;

/** The response to `GET /hub/clients`: `{"count":2,"clients":[{"id":1,"address":"127.0.0.1","protocol":"plain",…}]}`, slowest first. */
export const clientList = named(
  'Clients',
  z.strictObject({
    /** The number of all connected clients; `clients` may contain fewer. */
    count,
    clients: z.array(clientStatus),
  }),
);
export type ClientList = Shape<typeof clientList>;

/** The body of `POST /hub/clients/<id>`: `{"action":"disconnect"}`. */
export const clientControl = named(
  'ClientControl',
  z.strictObject({ action: z.enum(['disconnect'], { error: '"disconnect"' }) }),
);
export type ClientControl = Shape<typeof clientControl>;

/** The response to `GET /hub/dashboards`: `{"dashboards":["studio"]}`, in alphabetical order. */
export const dashboardList = named('Dashboards', z.strictObject({ dashboards: texts }));
export type DashboardList = Shape<typeof dashboardList>;

/** The state of the mirror of another hub: `{"term":1,"machine":"studio-pc","lagMs":212,"gaps":0,"lostFires":0,"refused":0}`. */
const mirror = z.strictObject({
  term: count,
  lagMs: count.describe('The lag of the mirror of the hub: at most half a second under normal conditions'),
  gaps: count.describe('Number of gaps in its messages'),
  lostFires: count,
  refused: count.describe('Number of ignored messages in its name: invalid, not its own, or too many'),
  machine: text
    .describe(
      'The machine of the hub; for a pair, the machine of the active hub; omitted until the hub has reported in this term',
    )
    .optional(),
  staleSince: time.describe('The time at which the hub became silent').optional(),
});

/** A hub in the domain: `{"hub":"west","state":"fresh","connections":["desk"],"parameters":12,"mirror":{…}}`. */
const domainHub = z.strictObject({
  hub: text,
  state: z.enum(['this', 'fresh', 'stale', 'unknown']),
  connections: texts.describe('The Connection IDs of the hub'),
  parameters: count.describe(
    'Number of parameters of the hub that this hub shows; for this hub, the number that it shares',
  ),
  mirror: mirror.optional(),
});
export type DomainHub = Shape<typeof domainHub>;

/**
 * The response to `GET /hub/hubs`:
 * `{"connection":"house","domain":"house","hub":"east","role":"alone","lease":{…},"link":{…},"hubs":[{"hub":"east","state":"this",…}]}`.
 */
export const domain = named(
  'Domain',
  z.strictObject({
    connection: text.describe('The connection that joins the hub to the domain'),
    domain: text,
    hub: text.describe('The name of this hub'),
    role: z.enum(['alone', 'main', 'standby']),
    lease: z.strictObject({
      state: z.enum(['held', 'fenced', 'taken', 'unknown']),
      holder: text.describe('The machine of the hub that holds the lease or last held it'),
      term: count,
      since: time,
    }),
    link: z.strictObject({
      isUp: flag,
      text: text.describe('The server that the hub is connected to, or why it is not connected'),
      servers: texts,
      since: time,
      reconnects: count,
      isOpen: flag
        .describe('Whether the server accepts clients without credentials; omitted until one has answered')
        .optional(),
    }),
    hubs: z.array(domainHub).describe('By name'),
  }),
);
export type Domain = Shape<typeof domain>;
