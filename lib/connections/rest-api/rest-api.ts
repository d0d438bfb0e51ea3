// The connection type REST API: HTTP reads and writes parameters, a WebSocket tells of their changes, and static files are served.

import { Observable } from 'rxjs';
import { claimFile, claimTcpPort } from '../claim.ts';
import { type ConnectionEvent, defineGatewayType } from '../connection.ts';
import { hintsAboutFolder, mistakesInDashboards } from './dashboards/dashboard-files.ts';
import { builtConsole } from './endpoints/browser.ts';
import { readNow } from './files/reading.ts';
import { trustHints } from './proxies/trusted-proxies.ts';
import { startServer } from './server.ts';
import { type Settings, settingsSchema } from './settings.ts';
import { accountMistakes, isOpen } from './users/accounts.ts';
import { rightHints } from './users/right-hints.ts';

/** Who may come in, and what they may do. */
const accountSettings = new Set<string>([
  'username',
  'password',
  'token',
  'users',
  'anonymous',
] satisfies (keyof Settings)[]);

/** Creates the connection type, with the console that was built in a folder. */
export function createRestApi(consoleFolder: string) {
  return defineGatewayType({
    type: 'rest-api',
    isExternal: true,
    settingsSchema,
    parameters: () => [],
    claims: ({ port, bindIp, deviceFile }, resolvePath) => [
      ...claimTcpPort(port, bindIp),
      ...(deviceFile === '' ? [] : claimFile(resolvePath(deviceFile))),
    ],
    mistakes: accountMistakes,
    hints: (settings, declared, resolvePath) => [
      ...rightHints(settings, declared),
      ...trustHints(settings.trustedProxies),
      ...(settings.dashboards === '' ? [] : readNow(hintsAboutFolder(resolvePath(settings.dashboards)))),
    ],
    furtherMistakes: ({ dashboards }, resolvePath, whyUnknown) =>
      dashboards === '' ? [] : readNow(mistakesInDashboards(resolvePath(dashboards), whyUnknown)),
    takesOver,
    belongings: ({ dashboards, deviceFile }, resolvePath) =>
      [dashboards, deviceFile].filter((path) => path !== '').map(resolvePath),
    privateFiles: ({ dashboards, deviceFile, tls }, resolvePath) => [
      ...(tls === undefined ? [] : [{ path: resolvePath(tls.keyFile) }]),
      ...(deviceFile === '' ? [] : [{ path: resolvePath(deviceFile) }]),
      ...(dashboards === '' ? [] : [{ path: resolvePath(dashboards), names: /\.json5/i }]),
    ],
    servedFolders: ({ documentRoot }, resolvePath) =>
      documentRoot === '' ? [] : [{ setting: ['documentRoot'], path: resolvePath(documentRoot) }],
    run: (context, hub) =>
      new Observable<ConnectionEvent>((subscriber) => {
        const { sockets, state$, adopt, forget, stop } = startServer(context, hub, consoleFolder);
        const follow = <T>(stream$: Observable<T>, next: (one: T) => void) =>
          stream$.subscribe({ next, error: (error) => subscriber.error(error) });
        const following = [
          follow(hub.changes$, sockets.tell),
          follow(hub.declared$, sockets.declare),
          follow(hub.removed$, forget),
          follow(hub.mirroring.stale$, sockets.tellStale),
          follow(hub.mirroring.lost$, sockets.tellLost),
          follow(context.settings$, adopt),
          follow(state$, (event) => subscriber.next(event)),
        ];
        sockets.tellStale(hub.parameters()); // those that were stale before it started
        return () => {
          for (const one of following) one.unsubscribe();
          context.finish(stop());
        };
      }),
  });
}

/** Of what is wanted, who may come in and what they may do holds at once: nobody is cut whose rights and credentials are as they were. */
function takesOver(before: Settings, after: Settings): Settings | undefined {
  if (isOpen(before) || isOpen(after)) return undefined;
  const kept = Object.entries(before).filter(([name]) => !accountSettings.has(name));
  const taken = Object.entries(after).filter(([name]) => accountSettings.has(name));
  return Object.fromEntries([...kept, ...taken]) as Settings;
}

export const restApi = createRestApi(builtConsole);
