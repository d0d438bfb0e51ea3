// What `patchbay permissions` prints is loaded into a real server: hubs work with exactly that, and are refused something without any
// one of it.

import test from 'ava';
import { nats as type } from '../../../lib/connections/nats/nats.ts';
import { eventually } from '../../support/deadline.ts';
import { startTestHub, writer } from '../../support/hub.ts';
import { startNats } from '../../support/nats/servers.ts';
import { needs } from '../../support/programs.ts';

needs('nats');

const subject = /"(patchbay\.|\$JS)[^"]+"/g;
const refusal = /^the server reports an error: /;

/** What is printed for a hub, without one of its permissions. */
function printed(domain: string, hub: string, lacking?: number): string {
  const settings = type.settingsSchema.parse({ domain, hub, credentials: { user: `${domain}-${hub}` } });
  let index = 0;
  return type.permissions!(settings).replaceAll(subject, (one) => (index++ === lacking ? '"none"' : one));
}

test('hubs work with the printed permissions, and are refused something without any one of them', async (t) => {
  const permissions = printed('d', 'west').match(subject)!;
  t.is(permissions.length, 11);
  const lackings = [undefined, ...permissions.keys()]; // a domain for each
  const users = lackings.flatMap((lacking) => [
    printed(`d${lacking}`, 'west', lacking),
    printed(`d${lacking}`, 'east'),
  ]);
  const nats = await startNats(1, {
    configuration: `authorization { timeout: 60, users: [\n${users.join(',\n')}\n] }`,
  });
  t.teardown(() => nats.end());
  await Promise.all(
    lackings.map(async (lacking) => {
      const domain = `d${lacking}`;
      const [west, east] = await Promise.all(
        ['west', 'east'].map((hub) => {
          const settings = { domain, hub, servers: nats.urls, credentials: { user: `${domain}-${hub}` } };
          const connections = {
            house: { type: 'nats', ...settings },
            [hub]: { type: 'dummy', parameters: ['lamp,I'] },
          };
          return startTestHub(t, { connections });
        }),
      );
      const refusals = () => west!.lines.filter(({ message }) => refusal.test(message)).map(({ message }) => message);
      const works = () => {
        if (east!.find('west/lamp') === undefined || west!.find('east/lamp') === undefined) return false;
        west!.write('east/lamp', 1, writer);
        east!.write('west/lamp', 1, writer);
        return east!.find('east/lamp')?.value === 1 && west!.find('west/lamp')?.value === 1;
      };
      if (lacking === undefined) {
        await eventually(works);
        t.deepEqual(refusals(), []);
      } else {
        await eventually(() => {
          works(); // it makes use of all of them
          return refusals().length > 0;
        }, `a refusal without ${permissions[lacking]}`);
      }
      await Promise.all([west!.stop(), east!.stop()]);
    }),
  );
});
