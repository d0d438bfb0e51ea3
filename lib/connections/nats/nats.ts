// NATS: hubs of one domain see the parameters of one another, by address.

import { combineLatest, Observable, Subject } from 'rxjs';
import { HubError } from '../../model/error.ts';
import { globToRegExp } from '../../model/glob.ts';
import { type ConnectionEvent, defineGatewayType } from '../connection.ts';
import { DomainReport } from './domain-report.ts';
import { readRemotes } from './known-remotes.ts';
import { Intake } from './link/nats-intake.ts';
import { openLink } from './link/nats-link.ts';
import { Mirrors } from './mirrors/mirrors.ts';
import { goneMs, longestWaitMs } from './ownership/connection-claims.ts';
import { decideOwnership } from './ownership/decide-ownership.ts';
import type { NamesakeTold } from './ownership/namesake.ts';
import { permissionsOf } from './server-permissions.ts';
import { settingsSchema } from './settings.ts';
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
  holdsBack: ({ domain, hub }) => `waits for word of hub "${hub}" in domain "${domain}"`,
  run: (context, hub) =>
    new Observable<ConnectionEvent>((subscriber) => {
      const { settings, scheduler, timeOfDay, log, finish } = context;
      const isShared = selectBy(settings.share);
      const intake = new Intake({ soon: setImmediate, log });
      const link = openLink({ ...context, intake });
      const namesake$ = new Subject<NamesakeTold>();
      const ownership = decideOwnership({
        context,
        hub,
        link,
        isShared,
        hasMirrored: () => [...mirrors.hubs()].some((one) => one.hub === settings.hub && one.hasMirrored),
        namesake$,
        heard: () => mirrors.owners(goneMs),
        hasNoTerm: (name) => mirrors.hasNoTerm(name, longestWaitMs),
        tellAll: (endMs) => sharer.tellAll(endMs),
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
        combineLatest([link.state$, ownership.trouble$]).subscribe({
          next: ([state, trouble]) => {
            const reason = state.session === undefined ? state.reason : trouble;
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
        const closed = ownership.close(); // the last that connections set is told before
        sharer.flush();
        following.unsubscribe();
        sharer.stop();
        mirrors.stop();
        finish(closed.then(() => link.close()));
      };
    }),
});

/** Which addresses a list of globs selects. */
function selectBy(globs: readonly string[]): (address: string) => boolean {
  const patterns = globs.map(globToRegExp);
  return (address) => patterns.some((pattern) => pattern.test(address));
}
