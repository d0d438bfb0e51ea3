// The limits on clients' resources, one row per limit. The settings of a REST API connection are derived from this table. docs/limits.md
// contains the same table, and a spec compares the two.
import { mostHeldBytes } from '../../../model/held-bytes.ts';
import {
  maxBodyBytes,
  maxListItems,
  maxMessageBytes,
  maxPatternLength,
  maxPatterns,
  maxRegexes,
  maxSubscriptions,
  mostPatterns,
} from '../../../wire/limits.ts';
import { closeCodes } from '../../../wire/protocol.ts';

export interface Limit {
  readonly default: number;
  readonly unit: string;
  /** The range of the setting in `limits`, or the name of another setting of the connection; `fixed` means that there is no setting. */
  readonly setting: 'fixed' | 'maxClients' | 'stallTimeout' | readonly [least: number, most: number];
  /** The bounded quantity, as a phrase for the documentation and the log. */
  readonly about: string;
  /** The consequence for a client that exceeds the limit, as a phrase for the documentation and the log. */
  readonly answer: string;
  /** Whether a client that exceeds the limit is disconnected or not admitted; false if the client gets an answer and stays connected. */
  readonly isFatal: boolean;
  /** False if the hub cannot see clients that exceed the limit, and therefore counts no hits. */
  readonly isSeen?: false;
}

/** The number of wrong credentials in a row that are compared before the limit `wrongCredentials` applies. */
export const wrongInARow = 20;

/**
 * The bounds on backlogs once a round of the event loop has lasted for `lateMs`: the maximum number of waiting messages from one client,
 * and their total size, because storing messages costs time per message and per byte. A long message counts once per KiB. All clients
 * together may exceed these bounds by `graceMessages`, of which `gracePerSecond` are restored each second. After the machine was suspended,
 * everything that clients sent in the meantime arrives together, so `stillMessages` may wait, as many as a fast client sends in a second.
 * If more than `floods` clients of a user or network were closed recently, or at least one while more than `floodsOfAll` were closed in
 * total, the hub closes further clients that are more than `floodBytes` ahead once the round has lasted for `floodLateMs`: with so many
 * floods, 64 KiB from each would take too long.
 */
export const lateBacklog = {
  lateMs: 10,
  messages: 2000,
  kibibytes: 512,
  graceMessages: 10_000,
  gracePerSecond: 2000,
  stillMessages: 50_000,
  floodBytes: 4096,
  floodLateMs: 6,
  floods: 8,
  floodsPerSecond: 2,
  floodsOfAll: 32,
  floodsOfAllPerSecond: 8,
};
/**
 * The maximum size of all backlogs together, in bytes. Beyond this size, the hub closes any client whose backlog exceeds the smallest
 * possible value of `backlogBytes`.
 */
export const backlogBytesOfAll = 64 * 1024 * 1024;

/** The end of the description of a limit per user: it also applies to an address without a user. */
const orAddress = ', or of one address without a user';

/** All limits on clients, keyed by name. */
export const limits = {
  clients: {
    default: 20_000,
    unit: 'sockets',
    setting: 'maxClients',
    about: 'simultaneous WebSocket clients of the connection',
    answer: '503 instead of the handshake; the connection is closed',
    isFatal: true,
  },
  connections: {
    default: 100_000,
    unit: 'connections',
    setting: [1, 1_000_000],
    about:
      'simultaneous HTTP and WebSocket connections of all clients; at most three quarters of the open files that the system allows (`ulimit -n`)',
    answer: 'the new connection is closed immediately, without an answer',
    isFatal: true,
  },
  connectionsPerAddress: {
    default: 20_000,
    unit: 'connections',
    setting: [1, 1_000_000],
    about:
      'HTTP and WebSocket connections from one IPv4 address or IPv6 /64, at most half of `connections`; a closed connection may count for one more second (Linux only)',
    answer: 'the new connection is closed immediately, without an answer',
    isFatal: true,
  },
  files: {
    default: 100_000,
    unit: 'files',
    setting: 'fixed',
    about:
      'long files that the hub is sending at the same time; at most an eighth of the open files that the system allows',
    answer: '503',
    isFatal: true,
  },
  clientsPerAddress: {
    default: 10_000,
    unit: 'sockets',
    setting: [1, 1_000_000],
    about: 'WebSocket clients without a user from one IPv4 address or IPv6 /64',
    answer: '503 instead of the handshake; the connection is closed',
    isFatal: true,
  },
  clientsPerUser: {
    default: 10_000,
    unit: 'sockets',
    setting: [1, 1_000_000],
    about: 'WebSocket clients of one user',
    answer: '503 instead of the handshake; the connection is closed',
    isFatal: true,
  },
  requestsPerUser: {
    default: 0,
    unit: 'per second',
    setting: [0, 1_000_000],
    about: `HTTP requests and handshakes of one user${orAddress}; refused requests count for their address, and requests for the sign-in page do not count; 0: no limit`,
    answer: '429 with `Retry-After`',
    isFatal: false,
  },
  writesPerUser: {
    default: 0,
    unit: 'per second',
    setting: [0, 10_000_000],
    about: `values written by the clients of one user${orAddress}, over HTTP and WebSocket; a message is accepted as a whole, and its excess counts against the following seconds; 0: no limit`,
    answer: '429 with `Retry-After`; on a WebSocket, an error for each value',
    isFatal: false,
  },
  writesPerClient: {
    default: 0,
    unit: 'per second',
    setting: [0, 10_000_000],
    about: 'values written by a WebSocket client, counted in the same way; 0: no limit',
    answer: 'an error for each value',
    isFatal: false,
  },
  wrongCredentials: {
    default: 1,
    unit: 'per second',
    setting: [1, 10_000],
    about: `wrong credentials from one IPv4 address or IPv6 /64, and for one user, after the first ${wrongInARow}`,
    answer: '429 with `Retry-After` instead of 401; correct credentials are still accepted',
    isFatal: true,
  },
  passwords: {
    default: 256,
    unit: 'passwords',
    setting: 'fixed',
    about:
      'passwords that wait to be compared, for all REST API connections together; beyond this number, the hub refuses a password from the client that was wrong most often; it also refuses passwords that have waited for 10 s',
    answer: '503 with `Retry-After`, after a second',
    isFatal: true,
  },
  browsersPerUser: {
    default: 100,
    unit: 'browsers',
    setting: 'fixed',
    about: 'browsers in which one user is signed in',
    answer: 'the browser that has been idle the longest is signed out',
    isFatal: false,
  },
  kiosks: {
    default: 10_000,
    unit: 'kiosks',
    setting: 'fixed',
    about: 'kiosks and unopened kiosk links',
    answer: '409 instead of another link',
    isFatal: false,
  },
  kioskLinks: {
    default: 1000,
    unit: 'links',
    setting: 'fixed',
    about: 'unopened kiosk links',
    answer: '409 instead of another link',
    isFatal: false,
  },
  messageBytes: {
    default: maxMessageBytes,
    unit: 'bytes',
    setting: 'fixed',
    about: 'the size of a message from a WebSocket client',
    answer: 'an error; the socket stays open',
    isFatal: false,
  },
  listItems: {
    default: maxListItems,
    unit: 'items',
    setting: 'fixed',
    about: 'the number of items in a list that a plain client sends (`/ws?list=true`)',
    answer: 'an error, and no item of the list is written; the socket stays open',
    isFatal: false,
  },
  frameBytes: {
    default: 128 * 1024,
    unit: 'bytes',
    setting: 'fixed',
    about: 'the largest WebSocket message that the hub reads, by the size in its frame header',
    answer: 'the socket is cut off without an answer',
    isFatal: true,
  },
  unreadBytes: {
    default: 1024 * 1024,
    unit: 'bytes',
    setting: [512 * 1024, 64 * 1024 * 1024],
    about: 'bytes that the hub holds for a WebSocket client that does not read',
    answer: 'when the client reads again, it receives only the newest values of the parameters that it missed',
    isFatal: false,
  },
  unreadBytesPerUser: {
    default: 256 * 1024 * 1024,
    unit: 'bytes',
    setting: [1024 * 1024, 64 * 1024 * 1024 * 1024],
    about: `bytes that the hub holds for all WebSocket clients of one user${orAddress}; the hub checks 1,000 clients every 50 ms`,
    answer: `close code ${closeCodes.stalled} for the clients that hold the most`,
    isFatal: true,
  },
  backlogBytes: {
    default: 4 * 1024 * 1024,
    unit: 'bytes',
    setting: [64 * 1024, 64 * 1024 * 1024],
    about: `bytes that a WebSocket client has sent and the hub has not processed; a client that is more than 64 KiB ahead also exceeds this limit with ${lateBacklog.messages} messages or ${lateBacklog.kibibytes} KiB once a round has lasted for ${lateBacklog.lateMs} ms, and with any backlog while all clients together are ${backlogBytesOfAll / 1024 / 1024} MiB ahead; after the hub has disconnected many clients of a user or address for this reason, further clients of the same user or address exceed the limit with ${lateBacklog.floodBytes / 1024} KiB once a round has lasted for ${lateBacklog.floodLateMs} ms`,
    answer: `close code ${closeCodes.flooding}`,
    isFatal: true,
  },
  pipelinedRequests: {
    default: 1,
    unit: 'request',
    setting: 'fixed',
    about: 'requests on an HTTP connection that wait while the hub is overloaded',
    answer: 'the connection is cut off without an answer',
    isFatal: true,
  },
  unreadAnswers: {
    default: 1,
    unit: 'answer',
    setting: 'fixed',
    about:
      'unread answers on an HTTP connection that wait in the hub; before that, the system holds about 100 KiB to 4 MiB',
    answer: 'the connection is cut off when it sends another request, or after 10 s',
    isFatal: true,
  },
  heldBytes: {
    default: mostHeldBytes(0),
    unit: 'bytes',
    setting: 'fixed',
    about:
      'bytes that the hub holds in total: waiting answers, bodies and messages, and values in steps; a sixteenth of the heap limit if that is more',
    answer: `the largest holder loses connections, with close code ${closeCodes.stalled} or ${closeCodes.flooding} or without an answer`,
    isFatal: true,
  },
  heldBodies: {
    default: 16 * 1024 * 1024,
    unit: 'bytes',
    setting: 'fixed',
    about: `incomplete or waiting bodies of all clients; a user, or an address without a user, may use at most half of the free space`,
    answer: '503 with `Retry-After`, after a second',
    isFatal: false,
  },
  stallMs: {
    default: 60_000,
    unit: 'ms',
    setting: 'stallTimeout',
    about: 'how long a v1 client may go without reading',
    answer: `close code ${closeCodes.stalled}`,
    isFatal: true,
  },
  unsentFrames: {
    default: 64,
    unit: 'frames',
    setting: 'fixed',
    about: 'frames about added and removed parameters that wait for a v1 client that does not read',
    answer: `close code ${closeCodes.stalled}`,
    isFatal: true,
  },
  missedChanges: {
    default: 100_000,
    unit: 'counts',
    setting: 'fixed',
    about: 'counts of lost changes, one per parameter, for v1 clients that do not read and share a subscription',
    answer: `close code ${closeCodes.stalled} for the clients that have gone longest without reading`,
    isFatal: true,
  },
  idleMs: {
    default: 120_000,
    unit: 'ms',
    setting: 'fixed',
    about: 'how long a WebSocket client may leave pings unanswered',
    answer: 'the socket is cut off without an answer',
    isFatal: true,
  },
  mistakes: {
    default: 100,
    unit: 'messages',
    setting: 'fixed',
    about: 'consecutive invalid messages of a v1 client',
    answer: `close code ${closeCodes.senseless}`,
    isFatal: true,
  },
  subscriptions: {
    default: maxSubscriptions,
    unit: 'subscriptions',
    setting: [1, 256],
    about: 'subscriptions of a v1 client',
    answer: 'an error; the socket stays open',
    isFatal: false,
  },
  patterns: {
    default: maxPatterns,
    unit: 'patterns',
    setting: [1, mostPatterns],
    about: 'patterns in a v1 subscription, including addresses',
    answer: 'an error; the socket stays open',
    isFatal: false,
  },
  regexes: {
    default: maxRegexes,
    unit: 'regexes',
    setting: 'fixed',
    about: 'regular expressions in a v1 subscription',
    answer: 'an error; the socket stays open',
    isFatal: false,
  },
  filters: {
    default: 16,
    unit: 'filters',
    setting: 'fixed',
    about: '`filter` parameters in the URL of a plain socket or of `/hub/parameters`',
    answer: '400',
    isFatal: false,
  },
  patternLength: {
    default: maxPatternLength,
    unit: 'characters',
    setting: 'fixed',
    about: 'the length of a pattern or filter from a client',
    answer: 'an error or 400; the connection stays open',
    isFatal: false,
  },
  patternSteps: {
    default: 1000,
    unit: 'steps',
    setting: [256, 10_000],
    about: 'the program size of all regular expressions in a list; a part that is repeated n times counts n times',
    answer: 'an error or 400; the connection stays open',
    isFatal: false,
  },
  clientSteps: {
    default: 4000,
    unit: 'steps',
    setting: [100, 100_000],
    about:
      'the program size of the patterns in all subscriptions of a v1 client; a glob with several stars counts as a quarter of a step per 32 characters',
    answer: 'an error; the socket stays open',
    isFatal: false,
  },
  subscriptionsPerUser: {
    default: 100_000,
    unit: 'subscriptions',
    setting: [1, 10_000_000],
    about: `subscriptions of all v1 clients of one user${orAddress}`,
    answer: 'an error; the socket stays open',
    isFatal: false,
  },
  stepsPerUser: {
    default: 400_000,
    unit: 'steps',
    setting: [1, 100_000_000],
    about: `the program size of the patterns in all subscriptions of one user${orAddress}, counted as for \`clientSteps\``,
    answer: 'an error; the socket stays open',
    isFatal: false,
  },
  patternTextPerUser: {
    default: 128 * 1024 * 1024,
    unit: 'characters',
    setting: [64 * 1024, 16 * 1024 * 1024 * 1024],
    about: `the patterns in all subscriptions of one user${orAddress}, as JSON`,
    answer: 'an error; the socket stays open',
    isFatal: false,
  },
  pastQuestions: {
    default: 1024,
    unit: 'queries',
    setting: 'fixed',
    about: `history and audit queries of one user${orAddress}, that are waiting or whose answers have not been read`,
    answer: '503 with `Retry-After`',
    isFatal: false,
  },
  pastBytes: {
    default: 32 * 1024 * 1024,
    unit: 'bytes',
    setting: 'fixed',
    about: `unread answers to history and audit queries of one user${orAddress}; four times as much for all users together`,
    answer: '503 with `Retry-After`',
    isFatal: false,
  },
  recordings: {
    default: 4,
    unit: 'recordings',
    setting: 'fixed',
    about: 'simultaneous clients of `/hub/record`',
    answer: '409',
    isFatal: false,
  },
  pendingAcks: {
    default: 1000,
    unit: 'messages',
    setting: 'fixed',
    about: 'messages from a v1 client that wait until other hubs have confirmed their writes',
    answer: 'further messages from this client wait',
    isFatal: false,
  },
  bodyBytes: {
    default: maxBodyBytes,
    unit: 'bytes',
    setting: 'fixed',
    about: 'the size of a request body',
    answer: '413; the connection stays open',
    isFatal: false,
  },
  headMs: {
    default: 10_000,
    unit: 'ms',
    setting: 'fixed',
    about:
      'the time for all headers of a request, measured from the start of the connection or the previous answer; ±2 s',
    answer: 'the connection is cut off without an answer',
    isFatal: true,
    isSeen: false,
  },
  bodyMs: {
    default: 10_000,
    unit: 'ms',
    setting: 'fixed',
    about: 'the time for the whole body of a request, measured from its headers; ±2 s',
    answer: 'the connection is cut off without an answer',
    isFatal: true,
  },
} as const satisfies Readonly<Record<string, Limit>>;

export type LimitName = keyof typeof limits;

/** The names and limits, in the order of the table in the documentation. */
export const limitTable = Object.entries(limits) as readonly (readonly [LimitName, Limit])[];

/** Returns the metric that counts how often a limit was hit, such as `patchbay_limit_hits_total{limit="bodyBytes"}`. */
export function metricOf(limit: LimitName): string {
  return `patchbay_limit_hits_total{limit="${limit}"}`;
}
