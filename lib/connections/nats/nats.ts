// The connection type `nats`: the hubs in a domain see each other's parameters by address.
import { combineLatest, Observable, Subject } from 'rxjs';
import { z } from 'zod';
import { decodeUtf8, FileError, nothing, readRegularFileSync } from '../../files/regular-file.ts';
import { parseAddress } from '../../model/address.ts';
import { HubError, messageOf } from '../../model/error.ts';
import { globToRegExp } from '../../model/glob.ts';
import { record } from '../../model/record-schema.ts';
import { shownPath } from '../../model/secret.ts';
import { valueTypes } from '../../model/value.ts';
import { type ConnectionEvent, defineGatewayType, type Remotes } from '../connection.ts';
import type { ResolvePath } from '../setting.ts';
import { DomainReport } from './domain-report.ts';
import { claimsPlace, leasePlace, pairParts } from './lease/lease-record.ts';
import { Intake } from './link/nats-intake.ts';
import { openLink } from './link/nats-link.ts';
import { inboxPrefixOf, subjectOf, subjectOfAll, subjectOfWrites } from './link/subjects.ts';
import { Mirrors } from './mirrors/mirrors.ts';
import { goneMs, longestWaitMs } from './ownership/connection-claims.ts';
import { decideOwnership } from './ownership/decide-ownership.ts';
import type { NamesakeReport } from './ownership/namesake.ts';
import { type NatsSettings, settingsSchema } from './settings.ts';
import { Sharer } from './sharing/sharer.ts';

export const nats = defineGatewayType({
  type: 'nats',
  isExternal: true,
  settingsSchema,
  parameters: () => [],
  permissions: permissionsOf,
  remotes: ({ mirrors }, resolvePath) => readRemotes(mirrors, resolvePath),
  privateFiles: ({ credentials, tls }, resolvePath) =>
    [credentials.file, tls?.keyFile ?? ''].filter((path) => path !== '').map((path) => ({ path: resolvePath(path) })),
  belongings: ({ mirrors }, resolvePath) => (mirrors === '' ? [] : [resolvePath(mirrors)]),
  claims: () => [{ kind: 'domain', name: 'the domain of the hub', scope: '*' }],
  startsOnLeaderOnly: ({ domain, hub }) => `waiting for the leadership of hub "${hub}" in domain "${domain}"`,
  run: (context, hub) =>
    new Observable<ConnectionEvent>((subscriber) => {
      const { settings, scheduler, timeOfDay, log, finish } = context;
      const isShared = selectBy(settings.share);
      const intake = new Intake({ soon: setImmediate, log });
      const link = openLink({ ...context, intake });
      const namesake$ = new Subject<NamesakeReport>();
      const ownership = decideOwnership({
        context,
        hub,
        link,
        isShared,
        hasMirrored: () => [...mirrors.hubs()].some((one) => one.hub === settings.hub && one.hasMirrored),
        namesake$,
        reportedOwners: () => mirrors.owners(goneMs),
        hasNoTerm: (name) => mirrors.hasNoTerm(name, longestWaitMs),
        notifyAll: (endMs) => sharer.notifyAll(endMs),
        fail: (reason) => subscriber.error(new HubError('cannot-start', reason)),
      });
      const shared = { hub, name: settings, ownership, scheduler };
      const isMirrored = selectBy(settings.mirror);
      const { maxParameters } = settings;
      const mirroring = { isSelected: isMirrored, maxParameters, intake, namesake$, timeOfDay, log };
      const mirrors = new Mirrors({ ...shared, ...mirroring });
      const sharer = new Sharer({ ...shared, isSelected: isShared, soon: setImmediate });
      const report = new DomainReport({
        id: context.id,
        settings,
        link,
        ownership,
        mirrors,
        intake,
        sharer,
        timeOfDay,
      });
      const status = () => report.status();
      hub.mirroring.domain = status;
      const following = link.state$.subscribe({
        next: ({ session }) => {
          sharer.detach();
          mirrors.detach();
          if (session === undefined) return;
          mirrors.attach(session.transport);
          sharer.attach(session.transport);
        },
        error: (error) => subscriber.error(error),
      });
      following.add(
        combineLatest([link.state$, ownership.problem$]).subscribe({
          next: ([state, problem]) => {
            const reason = state.session === undefined ? state.reason : problem;
            if (reason === undefined) return;
            if (reason !== '') subscriber.next({ state: 'degraded', reason });
            else if (state.session !== undefined) subscriber.next({ state: 'running' });
          },
          error: (error) => subscriber.error(error),
        }),
      );
      return () => {
        if (hub.mirroring.domain === status) hub.mirroring.domain = undefined;
        report.stop();
        const closed = ownership.close(); // the last values that connections have set are sent before that
        sharer.flush();
        following.unsubscribe();
        sharer.stop();
        mirrors.stop();
        finish(closed.then(() => link.close()));
      };
    }),
});

/** Returns a function that checks whether a list of globs selects an address. */
function selectBy(globs: readonly string[]): (address: string) => boolean {
  const patterns = globs.map(globToRegExp);
  return (address) => patterns.some((pattern) => pattern.test(address));
}

// The file with the parameters of other hubs, which `patchbay types --remote` writes and against which flow files are checked.

/** The schema for the content of the file: `{"desk/lamp":{"type":"B","access":"read-write","hub":"west"}}`. */
const fileSchema = record(
  z.string(),
  z.strictObject({
    type: z.enum(valueTypes),
    access: z.enum(['read-only', 'write-only', 'read-write']),
    hub: z.string().optional(),
  }),
);

const setting = 'mirrors';
/** The maximum size of the file, in bytes: enough for about 200,000 parameters. */
const maxFileBytes = 16 * 1024 * 1024;

function readRemotes(path: string, resolvePath: ResolvePath): Remotes {
  if (path === '') return { parameters: undefined, file: undefined };
  const file = resolvePath(path);
  try {
    const parameters = Object.entries(
      fileSchema.parse(JSON.parse(decodeUtf8(readRegularFileSync(file, maxFileBytes)))),
    );
    for (const [address] of parameters) parseAddress(address);
    return { parameters: new Map(parameters), file };
  } catch (error) {
    const message = `expected a file written by "patchbay types --remote", got "${shownPath(path)}": ${reasonOf(error)}`;
    return { parameters: undefined, file, mistake: { path: [setting], message } };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON'; // the error message quotes the file, which may contain secrets
  if (error instanceof FileError) return error.message === nothing ? 'it does not exist' : error.message;
  if (!(error instanceof z.ZodError)) return messageOf(error);
  const [issue] = error.issues;
  return `${issue!.path.join('.') || 'it'}: ${issue!.message}`;
}

// The minimum permissions for a hub, as part of a NATS server configuration. The password is a variable that the server reads from its
// environment.

/**
 * Returns the permissions for a hub. A hub sends messages under its own name, sends requests to other hubs in its own name, and answers
 * requests from other hubs. Because the name of a stream is a single token in a subject, the hub may create the streams that it writes, and
 * may read all streams.
 */
function permissionsOf(settings: NatsSettings): string {
  const { domain, hub, credentials, pair } = settings;
  const own = `${subjectOf({ domain, hub }, 'turns').slice(0, -'turns'.length)}>`;
  const everybody = { domain, hub: '*' };
  const claims = claimsPlace(domain);
  const leases = (pair ? pairParts : [1]).map((part) => leasePlace(settings, part).stream);
  const publish = [
    own,
    subjectOfAll(domain, 'walk'),
    subjectOfWrites(everybody, hub),
    `${inboxPrefixOf(everybody)}.>`,
    claims.subject,
    ...[...leases, claims.stream].map((stream) => `$JS.API.STREAM.CREATE.${stream}`),
    '$JS.API.STREAM.MSG.GET.*',
    ...(pair
      ? leases.flatMap((stream) => [`$JS.API.STREAM.INFO.${stream}`, `$JS.API.STREAM.LEADER.STEPDOWN.${stream}`])
      : []),
  ];
  const subscribe = [own, subjectOfAll(domain, 'turns'), claims.subject];
  const list = (subjects: readonly string[]) => subjects.map((one) => `"${one}"`).join(', ');
  const { user = hub, nkey, password } = { ...credentials, user: credentials.user || undefined };
  const secret = password === '' ? '' : `, password: $${user.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_PASSWORD`;
  const who = nkey === '' ? `user: ${user}${secret}` : 'nkey: "…"';
  return `# hub "${hub}" of domain "${domain}": put this into authorization { users: [ … ] }
{ ${who}, permissions: {
  publish: { allow: [${list(publish)}] }
  subscribe: { allow: [${list(subscribe)}] } } }`;
}
