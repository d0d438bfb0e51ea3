// Pages of allowedOrigins in Chromium (Fetch, "CORS protocol") read and write by fetch and WebSocket, with credentials and errors; they embed
// and frame. Pages of another site can do none of it. Hub and panel are of one site, since a browser sends the credentials that it
// knows for pages of that site alone.

import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { credentialsPrefix, protocolName } from '../../../../../lib/wire/protocol.ts';
import { launchBrowser } from '../../../../support/browser/browser.ts';
import { openForeignSite } from '../../../../support/browser/foreign-site.ts';
import { createFolder } from '../../../../support/folder.ts';
import { api, expectQuietLog, type HubUnderTest, startTestHub } from '../../../../support/hub.ts';
import { endShared, shared } from '../../../../support/shared.ts';

let browser: Browser;
test.before(async () => {
  // Which process a page is in makes no difference to what it may do.
  browser = await launchBrowser('--host-resolver-rules=MAP *.lan 127.0.0.1', '--disable-site-isolation-trials');
});
test.after.always(async () => {
  try {
    await endShared();
  } finally {
    await browser?.close();
  }
});

const token = 'c3R1ZGlv';

/** A hub that lets pages of panel.studio.lan in, a page of theirs, and one of evil.lan. */
async function start(t: ExecutionContext, settings: object = {}, options: BrowserContextOptions = {}) {
  const folder = await createFolder(t, { 'www/board.html': '<title>board</title>', 'www/dot.svg': dot });
  const site = await openForeignSite(t, () => ({ html: '<!doctype html><title>another site</title>' }));
  const origin = `http://panel.studio.lan:${site.port}`;
  const settled = {
    ...api,
    allowedHosts: ['hub.studio.lan'],
    allowedOrigins: [origin],
    documentRoot: join(folder, 'www'),
  };
  const hub = await startTestHub(t, {
    connections: { api: { ...settled, ...settings }, desk: { type: 'dummy', parameters: ['lamp,B,false', 'none'] } },
  });
  const context = await browser.newContext(options);
  t.teardown(() => context.close());
  const open = async (name: string, port = site.port, path = '/') => {
    const page = await context.newPage();
    await page.goto(`http://${name}:${port}${path}`);
    return page;
  };
  let board: Promise<Page> | undefined;
  /** A page of the hub itself. */
  const own = () => {
    board ??= open('hub.studio.lan', hub.port, '/board.html');
    return board;
  };
  return { hub, panel: await open('panel.studio.lan'), evil: await open('evil.lan'), own };
}

/** For the tests that leave the pages as they are. */
const startOpen = shared((t) => start(t));

const dot = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>';

/** What a page gets from a fetch: `200 true`, or `refused` when the page may not know. */
function fetchIn(page: Page, hub: HubUnderTest, path: string, init: object = {}): Promise<string> {
  const url = JSON.stringify(`http://hub.studio.lan:${hub.port}${path}`);
  return page.evaluate(
    `fetch(${url}, ${JSON.stringify(init)}).then(
      async (answer) => answer.status + ' ' + (await answer.text()).trim(), () => 'refused')`,
  );
}

const json = { 'Content-Type': 'application/json' };

test.serial(
  'a page of allowedOrigins reads and writes by fetch, sees errors and headers; a page of another site does not',
  async (t) => {
    const { hub, panel, evil } = await startOpen();
    const write = (value: boolean) => ({
      method: 'POST',
      headers: json,
      body: JSON.stringify({ parameter: 'desk/lamp', value }),
    });
    t.is(await fetchIn(evil, hub, '/update', write(true)), 'refused');
    t.is(await fetchIn(evil, hub, '/parameters/desk/lamp'), 'refused');
    t.is(hub.find('desk/lamp')?.value, false);
    t.is(await fetchIn(panel, hub, '/update', write(true)), '200 OK');
    t.is(await fetchIn(panel, hub, '/update?parameter=desk/lamp&value=1'), '200 OK', 'a GET with Origin');
    t.is(await fetchIn(panel, hub, '/parameters/desk/lamp'), '200 true');
    t.is(await fetchIn(panel, hub, '/parameters/desk/lamp', { headers: { Accept: 'application/json' } }), '200 true');
    t.regex(await fetchIn(panel, hub, '/parameters/desk/none'), /^503 .*unknown$/);
    t.regex(await fetchIn(panel, hub, '/nothing'), /^404 .*no such file$/);
    t.is(await fetchIn(panel, hub, '/board.html', { method: 'PUT' }), 'refused', 'the preflight does not allow it');
    const url = `http://hub.studio.lan:${hub.port}/hub/health`;
    const etag = await panel.evaluate(`fetch('${url}').then(({ headers }) => headers.get('ETag'))`);
    t.regex(String(etag), /^".+"$/);
    expectQuietLog(t, hub);
  },
);

test.serial(
  'a page of allowedOrigins uses credentials: a token, its own Basic, and those of the browser',
  async (t) => {
    const login = { username: 'ann', password: 'secret' };
    const { hub, panel, evil } = await start(t, { ...login, token }, { httpCredentials: login });
    const authorization = (value: string) => ({ headers: { Authorization: value } });
    t.is(await fetchIn(panel, hub, '/parameters/desk/lamp', authorization(`Bearer ${token}`)), '200 false');
    t.regex(await fetchIn(panel, hub, '/parameters/desk/lamp', authorization('Bearer bm8=')), /^401 Authorization: /);
    t.regex(await fetchIn(panel, hub, '/parameters/desk/lamp', { credentials: 'omit' }), /^401 Authorization: /);
    const included = {
      credentials: 'include',
      method: 'POST',
      headers: json,
      body: '{"parameter":"desk/lamp","value":true}',
    };
    await panel
      .context()
      .newPage()
      .then((page) => page.goto(`http://hub.studio.lan:${hub.port}/hub/health`));
    t.is(await fetchIn(panel, hub, '/update', included), '200 OK');
    t.is(hub.find('desk/lamp')?.value, true);
    t.is(
      await fetchIn(evil, hub, '/update', { ...included, body: '{"parameter":"desk/lamp","value":false}' }),
      'refused',
    );
    const bearer = authorization(`Bearer ${token}`);
    t.is(await fetchIn(evil, hub, '/parameters/desk/lamp', bearer), 'refused');
    t.is(await fetchIn(evil, hub, '/update?parameter=desk/lamp&value=false', bearer), 'refused');
    const offered = `, ['${protocolName}', '${credentialsPrefix}${Buffer.from(`Bearer ${token}`).toString('base64url')}']`;
    const ignorant = await browser.newContext(); // a browser that knows Basic would send that with a handshake
    t.teardown(() => ignorant.close());
    const own = await ignorant.newPage();
    for (const [page, isOpened] of [
      [panel, true],
      [evil, false],
    ] as const) {
      await own.goto(page.url());
      t.is(await own.evaluate(uses.socket!(`hub.studio.lan:${hub.port}`, offered)), isOpened, 'no browser asks first');
    }
    t.is(hub.find('desk/lamp')?.value, true);
  },
);

/** Code of a page that resolves to true when it sees an image of the hub, or a socket of the hub tells a value. */
const uses: Readonly<Record<string, (hub: string, offered?: string) => string>> = {
  image: (hub) => `new Promise((resolve) => {
    const image = new Image();
    image.onload = () => resolve(true);
    image.onerror = () => resolve(false);
    image.src = 'http://${hub}/dot.svg';
  })`,
  socket: (hub, offered = '') => `new Promise((resolve) => {
    const socket = new WebSocket('ws://${hub}/ws?snapshot=true'${offered});
    socket.onmessage = () => resolve(true);
    socket.onclose = () => resolve(false);
  })`,
};

for (const path of ['/board.html', '/hub/', '/parameters/desk/lamp'])
  test.serial(`only pages of allowedOrigins and of this hub can frame ${path}`, async (t) => {
    const { hub, panel, evil, own } = await startOpen();
    for (const [page, isShown] of [
      [panel, true],
      [await own(), true],
      [evil, false],
    ] as const) {
      const url = `http://hub.studio.lan:${hub.port}${path}`;
      const framed = page.waitForEvent('framenavigated', {
        predicate: (frame) => frame.parentFrame() !== null && frame.url() !== 'about:blank',
      });
      await page.evaluate(
        `void document.body.append(Object.assign(document.createElement('iframe'), { src: '${url}' }))`,
      );
      t.is((await framed).url(), isShown ? url : 'chrome-error://chromewebdata/');
    }
  });

test.serial('only pages of allowedOrigins can use images and sockets of the hub', async (t) => {
  const { hub, panel, evil } = await startOpen();
  for (const [what, code] of Object.entries(uses)) {
    t.true(await panel.evaluate(code(`hub.studio.lan:${hub.port}`)), what);
    t.false(await evil.evaluate(code(`hub.studio.lan:${hub.port}`)), what);
  }
  expectQuietLog(t, hub);
});
