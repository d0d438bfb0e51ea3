// What clients may cost the hub, one row per limit. The settings of a REST API connection follow from this table. The README of the
// room shows the same table, and a spec holds both equal.
import { mostHeldBytes } from '../../../model/held-bytes.ts';
import { maxBodyBytes } from '../../../wire/http/http-limits.ts';
import {
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
  /** The bounds of its setting below `limits`; a name: the setting of the connection that it is; fixed: it cannot be set. */
  readonly setting: 'fixed' | 'maxClients' | 'stallTimeout' | readonly [least: number, most: number];
  /** What is bounded. */
  readonly about: string;
  /** What a client that goes past it is told, and what becomes of the client. */
  readonly answer: string;
  /** true: who goes past it loses the connection, or does not get one; false: the client gets an answer, and goes on. */
  readonly isFatal: boolean;
  /** false: the hub does not see who goes past it, and so nobody is counted. */
  readonly isSeen?: false;
}

/** So many wrong credentials are compared in a row before `wrongCredentials` counts. */
export const wrongInARow = 20;

/**
 * Of `backlogBytes`, while a round of the event loop has lasted for `lateMs`: how many messages of a client may wait, and how much of them, since
 * both cost time to be kept. `graceMessages` more may wait, of all clients together, of which some come back each second. After the machine has stood
 * still, all has come that clients have sent meanwhile: then `stillMessages` may, which is a second of a quick client. A long message counts once for each of its KiB.
 * Of a user or network of which lately more than `floods` clients were closed, or any when more than `floodsOfAll` were of all, a client is
 * closed when it is more than `floodBytes` ahead and the round has lasted for `floodLateMs`: so many at once may flood that 64 KiB of each take long.
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
/** When the backlogs of all clients together are longer, any client with more than the least is closed. */
export const backlogBytesOfAll = 64 * 1024 * 1024;

/** Whose share counts where there is no user. */
const orAddress = ', or of one address without one';

/** All limits by name. */
export const limits = {
  clients: {
    default: 20_000,
    unit: 'sockets',
    setting: 'maxClients',
    about: 'WebSocket clients of the connection at once',
    answer: '503 instead of the handshake, and the connection is closed',
    isFatal: true,
  },
  connections: {
    default: 100_000,
    unit: 'connections',
    setting: [1, 1_000_000],
    about:
      'connections of all clients, HTTP and WebSocket; at most three quarters of the open files that the system allows (`ulimit -n`)',
    answer: 'nothing, the connection is closed as soon as it is there',
    isFatal: true,
  },
  connectionsPerAddress: {
    default: 20_000,
    unit: 'connections',
    setting: [1, 1_000_000],
    about:
      'connections of one IPv4 address, or of one /64 of IPv6, HTTP and WebSocket; at most half of those of all clients; one that has gone may count for a second more (Linux only)',
    answer: 'nothing, the connection is closed as soon as it is there',
    isFatal: true,
  },
  files: {
    default: 100_000,
    unit: 'files',
    setting: 'fixed',
    about: 'long files that are being sent at once; at most an eighth of the open files that the system allows',
    answer: '503',
    isFatal: true,
  },
  clientsPerAddress: {
    default: 10_000,
    unit: 'sockets',
    setting: [1, 1_000_000],
    about: 'WebSocket clients that are no user, of one IPv4 address, or of one /64 of IPv6',
    answer: '503 instead of the handshake, and the connection is closed',
    isFatal: true,
  },
  clientsPerUser: {
    default: 10_000,
    unit: 'sockets',
    setting: [1, 1_000_000],
    about: 'WebSocket clients of one user',
    answer: '503 instead of the handshake, and the connection is closed',
    isFatal: true,
  },
  requestsPerUser: {
    default: 0,
    unit: 'per second',
    setting: [0, 1_000_000],
    about: `HTTP requests and handshakes of one user${orAddress}; what is refused counts for its address, the page to sign in not at all; 0: any number`,
    answer: '429 with `Retry-After`',
    isFatal: false,
  },
  writesPerUser: {
    default: 0,
    unit: 'per second',
    setting: [0, 10_000_000],
    about: `values that one user writes${orAddress}, by HTTP and WebSocket; those of one message at once, however many, and what is too much of them counts for the next seconds; 0: any number`,
    answer: '429 with `Retry-After`; on a WebSocket an error for each value',
    isFatal: false,
  },
  writesPerClient: {
    default: 0,
    unit: 'per second',
    setting: [0, 10_000_000],
    about: 'values that a WebSocket client writes, counted in the same way; 0: any number',
    answer: 'an error for each value',
    isFatal: false,
  },
  wrongCredentials: {
    default: 1,
    unit: 'per second',
    setting: [1, 10_000],
    about: `wrong credentials of one IPv4 address, or of one /64 of IPv6, and those for one user, after ${wrongInARow} of them`,
    answer: '429 with `Retry-After` instead of 401; right credentials are let in',
    isFatal: true,
  },
  passwords: {
    default: 256,
    unit: 'passwords',
    setting: 'fixed',
    about:
      'passwords that wait to be compared, of all REST API connections; when there are more, one of those who were wrong most often has to go, as does one whose turn does not come within 10 s',
    answer: '503 with `Retry-After`, a second later',
    isFatal: true,
  },
  browsersPerUser: {
    default: 100,
    unit: 'browsers',
    setting: 'fixed',
    about: 'browsers in which one user is signed in at once',
    answer: 'the one that has not come for longest is signed out',
    isFatal: false,
  },
  kiosks: {
    default: 10_000,
    unit: 'kiosks',
    setting: 'fixed',
    about: 'kiosks, and links to some that nobody has opened yet',
    answer: '409 instead of another link',
    isFatal: false,
  },
  kioskLinks: {
    default: 1000,
    unit: 'links',
    setting: 'fixed',
    about: 'links to kiosks that nobody has opened yet',
    answer: '409 instead of another link',
    isFatal: false,
  },
  messageBytes: {
    default: maxMessageBytes,
    unit: 'bytes',
    setting: 'fixed',
    about: 'a message of a WebSocket client',
    answer: 'an error, and goes on',
    isFatal: false,
  },
  listItems: {
    default: maxListItems,
    unit: 'items',
    setting: 'fixed',
    about: 'a list that a plain client sends (`/ws?list=true`)',
    answer: 'an error, nothing of the list is written, and goes on',
    isFatal: false,
  },
  frameBytes: {
    default: 128 * 1024,
    unit: 'bytes',
    setting: 'fixed',
    about: 'a message of a WebSocket client that is read at all; told by the head of a frame',
    answer: 'nothing, the socket is cut',
    isFatal: true,
  },
  unreadBytes: {
    default: 1024 * 1024,
    unit: 'bytes',
    setting: [512 * 1024, 64 * 1024 * 1024],
    about: 'what the hub holds for a WebSocket client that does not read',
    answer: 'nothing; as soon as it reads, the newest values of what it missed',
    isFatal: false,
  },
  unreadBytesPerUser: {
    default: 256 * 1024 * 1024,
    unit: 'bytes',
    setting: [1024 * 1024, 64 * 1024 * 1024 * 1024],
    about: `what the hub holds for all WebSocket clients of one user${orAddress}; 1,000 clients are looked at every 50 ms`,
    answer: `close code ${closeCodes.stalled} for those that hold the most`,
    isFatal: true,
  },
  backlogBytes: {
    default: 4 * 1024 * 1024,
    unit: 'bytes',
    setting: [64 * 1024, 64 * 1024 * 1024],
    about: `what a WebSocket client has sent and the hub has not taken yet; of who is more than 64 KiB ahead, also ${lateBacklog.messages} messages or ${lateBacklog.kibibytes} KiB once a round has lasted for ${lateBacklog.lateMs} ms, and any when all clients together are ${backlogBytesOfAll / 1024 / 1024} MiB ahead; of whose user or address many were closed for that, also ${lateBacklog.floodBytes / 1024} KiB once a round has lasted for ${lateBacklog.floodLateMs} ms`,
    answer: `close code ${closeCodes.flooding}`,
    isFatal: true,
  },
  pipelinedRequests: {
    default: 1,
    unit: 'requests',
    setting: 'fixed',
    about: 'requests of an HTTP connection that wait for the hub while it is overloaded',
    answer: 'nothing, the connection is cut',
    isFatal: true,
  },
  unreadAnswers: {
    default: 1,
    unit: 'answers',
    setting: 'fixed',
    about:
      'answers that wait in the hub for an HTTP connection to be read; before that the system holds some 100 KiB to 4 MiB',
    answer: 'nothing, the connection is cut when it sends another request, or after 10 s',
    isFatal: true,
  },
  heldBytes: {
    default: mostHeldBytes(0),
    unit: 'bytes',
    setting: 'fixed',
    about:
      'what the hub holds for all together: answers, bodies and messages that wait, values in steps; a sixteenth of what its heap may grow to, if that is more',
    answer: `nothing, or close code ${closeCodes.stalled} or ${closeCodes.flooding}: whoever holds most loses connections`,
    isFatal: true,
  },
  heldBodies: {
    default: 16 * 1024 * 1024,
    unit: 'bytes',
    setting: 'fixed',
    about: `bodies of all clients together that are not whole, or wait; those of one user${orAddress}, leave as much free for others`,
    answer: '503 with `Retry-After`, a second later',
    isFatal: false,
  },
  stallMs: {
    default: 60_000,
    unit: 'ms',
    setting: 'stallTimeout',
    about: 'how long a v1 client may read nothing',
    answer: `close code ${closeCodes.stalled}`,
    isFatal: true,
  },
  unsentFrames: {
    default: 64,
    unit: 'frames',
    setting: 'fixed',
    about: 'what is told of parameters that came or went, kept for a v1 client that does not read',
    answer: `close code ${closeCodes.stalled}`,
    isFatal: true,
  },
  missedChanges: {
    default: 100_000,
    unit: 'counts',
    setting: 'fixed',
    about: 'counts of lost changes, one for each parameter, of v1 clients that do not read and subscribed to the same',
    answer: `close code ${closeCodes.stalled} for those that have read nothing for longest`,
    isFatal: true,
  },
  idleMs: {
    default: 120_000,
    unit: 'ms',
    setting: 'fixed',
    about: 'how long a WebSocket client may answer no ping',
    answer: 'nothing, the socket is cut',
    isFatal: true,
  },
  mistakes: {
    default: 100,
    unit: 'messages',
    setting: 'fixed',
    about: 'messages of a v1 client in a row that make no sense',
    answer: `close code ${closeCodes.senseless}`,
    isFatal: true,
  },
  subscriptions: {
    default: maxSubscriptions,
    unit: 'subscriptions',
    setting: [1, 256],
    about: 'subscriptions of a v1 client',
    answer: 'an error, and goes on',
    isFatal: false,
  },
  patterns: {
    default: maxPatterns,
    unit: 'patterns',
    setting: [1, mostPatterns],
    about: 'patterns of a v1 subscription, addresses included',
    answer: 'an error, and goes on',
    isFatal: false,
  },
  regexes: {
    default: maxRegexes,
    unit: 'regexes',
    setting: 'fixed',
    about: 'regular expressions of a v1 subscription',
    answer: 'an error, and goes on',
    isFatal: false,
  },
  filters: {
    default: 16,
    unit: 'filters',
    setting: 'fixed',
    about: '`filter`s of a plain socket or of `/hub/parameters`',
    answer: '400',
    isFatal: false,
  },
  patternLength: {
    default: maxPatternLength,
    unit: 'characters',
    setting: 'fixed',
    about: 'a pattern or filter of a client',
    answer: 'an error or 400, and goes on',
    isFatal: false,
  },
  patternSteps: {
    default: 1000,
    unit: 'steps',
    setting: [256, 10_000],
    about: 'the programs of the regular expressions of a list together, where what may come n times counts n times',
    answer: 'an error or 400, and goes on',
    isFatal: false,
  },
  clientSteps: {
    default: 4000,
    unit: 'steps',
    setting: [100, 100_000],
    about:
      'the patterns of all subscriptions of a v1 client together; for every 32 characters a glob of several stars counts as a quarter',
    answer: 'an error, and goes on',
    isFatal: false,
  },
  subscriptionsPerUser: {
    default: 100_000,
    unit: 'subscriptions',
    setting: [1, 10_000_000],
    about: `subscriptions of all v1 clients of one user${orAddress}`,
    answer: 'an error, and goes on',
    isFatal: false,
  },
  stepsPerUser: {
    default: 400_000,
    unit: 'steps',
    setting: [1, 100_000_000],
    about: `the patterns of all subscriptions of one user${orAddress}, counted as for \`clientSteps\``,
    answer: 'an error, and goes on',
    isFatal: false,
  },
  patternTextPerUser: {
    default: 128 * 1024 * 1024,
    unit: 'characters',
    setting: [64 * 1024, 16 * 1024 * 1024 * 1024],
    about: `the patterns of all subscriptions of one user${orAddress}, as JSON`,
    answer: 'an error, and goes on',
    isFatal: false,
  },
  pastQuestions: {
    default: 1024,
    unit: 'questions',
    setting: 'fixed',
    about: `questions about the past of one user${orAddress}, that wait, or whose answers are not read yet`,
    answer: '503 with `Retry-After`',
    isFatal: false,
  },
  pastBytes: {
    default: 32 * 1024 * 1024,
    unit: 'bytes',
    setting: 'fixed',
    about: `answers about the past that clients of one user${orAddress}, have not read yet; all together four times as much`,
    answer: '503 with `Retry-After`',
    isFatal: false,
  },
  recordings: {
    default: 4,
    unit: 'recordings',
    setting: 'fixed',
    about: 'clients of `/hub/record` at once',
    answer: '409',
    isFatal: false,
  },
  pendingAcks: {
    default: 1000,
    unit: 'messages',
    setting: 'fixed',
    about: 'messages of a v1 client that wait for what other hubs say to its writes',
    answer: 'nothing, its next messages wait',
    isFatal: false,
  },
  bodyBytes: {
    default: maxBodyBytes,
    unit: 'bytes',
    setting: 'fixed',
    about: 'the body of a request',
    answer: '413, and goes on',
    isFatal: false,
  },
  headMs: {
    default: 10_000,
    unit: 'ms',
    setting: 'fixed',
    about: 'how long the whole head of a request may take, from the connection or the answer before; 2 s more or less',
    answer: 'nothing, the connection is cut',
    isFatal: true,
    isSeen: false,
  },
  bodyMs: {
    default: 10_000,
    unit: 'ms',
    setting: 'fixed',
    about: 'how long the whole body of a request may take, from its head; 2 s more or less',
    answer: 'nothing, the connection is cut',
    isFatal: true,
  },
} as const satisfies Readonly<Record<string, Limit>>;

export type LimitName = keyof typeof limits;

/** All limits by name, in the order of the table. */
export const limitTable = Object.entries(limits) as readonly (readonly [LimitName, Limit])[];

/** The metric that counts how often clients have gone past a limit: `patchbay_limit_hits_total{limit="bodyBytes"}`. */
export function metricOf(limit: LimitName): string {
  return `patchbay_limit_hits_total{limit="${limit}"}`;
}
