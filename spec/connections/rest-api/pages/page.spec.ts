// Pages that take a while, of a visitor who has to leave meanwhile.

import test from 'ava';
import type { HubPort } from '../../../../lib/connections/hub-port.ts';
import type { Disk } from '../../../../lib/connections/rest-api/files/disk.ts';
import type { Handler } from '../../../../lib/connections/rest-api/http/admission.ts';
import { FairQueue } from '../../../../lib/connections/rest-api/pacing/fair-queue.ts';
import { Round } from '../../../../lib/connections/rest-api/pacing/round.ts';
import { type Page, servePage, servePageOfFiles } from '../../../../lib/connections/rest-api/pages/page.ts';
import { accountOf, noRights } from '../../../../lib/connections/rest-api/users/accounts.ts';
import { Guest } from '../../../../lib/connections/rest-api/users/visitor.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { eventually } from '../../../support/deadline.ts';
import { serveHandler } from '../../../support/handler.ts';
import { openWire, request } from '../../../support/http.ts';

const log = createLogRecorder();
const pages: Readonly<Record<string, (page: Promise<Page>) => Handler>> = {
  'a page': (page) => servePage(() => page, new FairQueue(new Round()), log),
  'a page of files': (page) => {
    const disk: Disk = { read: <T>() => page as Promise<T> };
    return servePageOfFiles(disk, () => undefined as never, log);
  },
};

for (const [what, serve] of Object.entries(pages))
  test(`${what} that comes late is sent to whoever is still there, and to nobody else`, async (t) => {
    const hub = { find: () => undefined } as unknown as HubPort;
    const answerOf = async (leaves: boolean) => {
      const page = Promise.withResolvers<Page>();
      const guest = new Guest('ann', undefined, accountOf('ann', noRights, hub).rights, hub);
      let isAsked = false;
      const handler: Handler = (...asked) => {
        serve(page.promise)(...asked);
        isAsked = true;
      };
      const wire = await openWire(t, serveHandler(t, '/page', handler, guest));
      wire.send(request('GET /page'));
      await eventually(() => isAsked);
      if (leaves) guest.leave();
      page.resolve({ secret: 7 } as unknown as Page);
      const { status, text } = await wire.answer();
      return [status, text.includes('secret')];
    };
    t.deepEqual(await answerOf(false), [200, true]);
    t.deepEqual(await answerOf(true), [401, false]);
  });
