// Pages of another site in Chromium, over plain HTTP and by a name, as in a LAN (D-15). Whatever they make the browser send changes nothing,
// with Referer and without. Pages of the hub go on.

import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Browser, Page } from 'playwright-core';
import { firstValueFrom } from 'rxjs';
import { filter } from 'rxjs/operators';
import { launchBrowser } from '../../../../support/browser/browser.ts';
import { type ForeignPage, openForeignSite } from '../../../../support/browser/foreign-site.ts';
import { within } from '../../../../support/deadline.ts';
import { createFolder } from '../../../../support/folder.ts';
import { api, expectQuietLog, startTestHub } from '../../../../support/hub.ts';
import { openTap, type Tap } from '../../../../support/sockets/tap.ts';

let browser: Browser;
test.before(async () => {
  // Which process a page is in makes no difference to what the browser sends.
  browser = await launchBrowser('--host-resolver-rules=MAP *.lan 127.0.0.1', '--disable-site-isolation-trials');
});
test.after.always(() => browser?.close());

const script = (code: string) => `<script>${code}</script>`;
const text = (html: string) => html.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
const form = (action: string, fields: Record<string, string>, attributes = '') =>
  `<form action="${text(action)}" ${attributes}>${Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${text(name)}" value="${text(value)}">`)
    .join('')}</form>${script('document.forms[0].submit()')}`;

/** By name: a page that tries to set `desk/hit` at `url`, or stops a connection; every request is marked `via=<name>`. */
const attempts: Readonly<Record<string, (url: string, hub: string, name: string) => string | ForeignPage>> = {
  image: (url) => `<img src="${text(url)}">`,
  'image-set': (url) => `<img srcset="${text(url)} 1x">`,
  'svg-image': (url) => `<svg><image href="${text(url)}"/></svg>`,
  'image-button': (url) => `<input type="image" src="${text(url)}">`,
  poster: (url) => `<video poster="${text(url)}"></video>`,
  script: (url) => `<script src="${text(url)}"></script>`,
  module: (url) => script(`import(${JSON.stringify(url)})`),
  stylesheet: (url) => `<link rel="stylesheet" href="${text(url)}">`,
  'style-import': (url) => `<style>@import "${url}";</style>`,
  background: (url) => `<style>body { background: url("${url}") }</style><body>`,
  font: (url) => `<style>@font-face { font-family: x; src: url("${url}") } p { font-family: x }</style><p>x`,
  frame: (url) => `<iframe src="${text(url)}"></iframe>`,
  sandbox: (url) => `<iframe sandbox src="${text(url)}"></iframe>`,
  object: (url) => `<object data="${text(url)}"></object>`,
  embed: (url) => `<embed src="${text(url)}">`,
  video: (url) => `<video src="${text(url)}" preload="auto"></video>`,
  audio: (url) => `<audio src="${text(url)}" preload="auto"></audio>`,
  prefetch: (url) => `<link rel="prefetch" href="${text(url)}">`,
  preload: (url) => `<link rel="preload" as="image" href="${text(url)}">`,
  'preload-fetch': (url) => `<link rel="preload" as="fetch" href="${text(url)}">`,
  modulepreload: (url) => `<link rel="modulepreload" href="${text(url)}">`,
  'link-header': (url) => ({ html: '', headers: { link: `<${url}>; rel=preload; as=image` } }),
  worker: (url) => script(`new Worker(URL.createObjectURL(new Blob(['importScripts(${JSON.stringify(url)})'])))`),
  fetch: (url) => script(`fetch(${JSON.stringify(url)})`),
  'no-cors': (url) => script(`fetch(${JSON.stringify(url)}, { mode: 'no-cors' })`),
  'no-cors-disguised': (url) =>
    script(
      `fetch(${JSON.stringify(url)}, { mode: 'no-cors', headers: { Accept: '*/*', 'Accept-Language': '*' }, keepalive: true })`,
    ),
  xhr: (url) => script(`const x = new XMLHttpRequest(); x.open('GET', ${JSON.stringify(url)}); x.send()`),
  'event-source': (url) => script(`new EventSource(${JSON.stringify(url)})`),
  socket: (_, hub, name) => script(`new WebSocket('ws://${hub}/ws?via=${name}')`),
  location: (url) => script(`location = ${JSON.stringify(url)}`),
  link: (url) => `<a href="${text(url)}">x</a>${script('document.links[0].click()')}`,
  ping: (url) => `<a href="#" ping="${text(url)}">x</a>${script('document.links[0].click()')}`,
  'meta-refresh': (url) => `<meta http-equiv="refresh" content="0; url=${text(url)}">`,
  refresh: (url) => ({ html: '', headers: { refresh: `0; url=${url}` } }),
  open: (url) => script(`open(${JSON.stringify(url)})`),
  'open-alone': (url) => script(`open(${JSON.stringify(url)}, '', 'noopener')`),
  'redirected-image': (url) => `<img src="/go?to=${encodeURIComponent(url)}">`,
  'redirected-frame': (url) => `<iframe src="/go?to=${encodeURIComponent(url)}"></iframe>`,
  'page-of-no-origin': (url) =>
    `<iframe src="data:text/html,${encodeURIComponent(`<img src="${text(url)}">`)}"></iframe>`,
  'page-in-a-page': (url) => `<iframe srcdoc="${text(`<img src="${text(url)}">`)}"></iframe>`,
  'form-get': (_, hub, via) => form(`http://${hub}/update`, { parameter: 'desk/hit', value: via, via }),
  'form-post': (_, hub, via) =>
    form(`http://${hub}/update?via=${via}`, { parameter: 'desk/hit', value: via }, 'method="post"'),
  'form-multipart': (url) => form(url, { parameter: 'desk/hit' }, 'method="post" enctype="multipart/form-data"'),
  'form-text': (_, hub, via) =>
    form(
      `http://${hub}/hub/rules?via=${via}`,
      { '{"rule":"copy","enabled":false,"x":"': '"}' },
      'method="post" enctype="text/plain"',
    ),
  'form-redirected': (_, hub, via) =>
    form(
      `/go?status=307&to=${encodeURIComponent(`http://${hub}/update?via=${via}`)}`,
      { parameter: 'desk/hit', value: via },
      'method="post"',
    ),
  beacon: (url) => script(`navigator.sendBeacon(${JSON.stringify(url)}, 'x')`),
  'beacon-form': (_, hub, via) =>
    script(
      `navigator.sendBeacon('http://${hub}/update?via=${via}', new URLSearchParams({ parameter: 'desk/hit', value: 'x' }))`,
    ),
  'beacon-json': (_, hub, via) =>
    script(
      `navigator.sendBeacon('http://${hub}/update?via=${via}', new Blob(['{"parameter":"desk/hit","value":1}'], { type: 'application/json' }))`,
    ),
  'stop-text': (_, hub, via) =>
    script(
      `fetch('http://${hub}/hub/connections/clock?via=${via}', { method: 'POST', mode: 'no-cors', body: '{"action":"stop"}' })`,
    ),
  'stop-json': (_, hub, via) =>
    script(
      `fetch('http://${hub}/hub/connections/clock?via=${via}', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"action":"stop"}' })`,
    ),
  report: (url) => ({
    html: '<img src="http://nowhere.lan/">',
    headers: { 'content-security-policy': `img-src 'none'; report-uri ${url}` },
  }),
};

async function startDesk(t: ExecutionContext, settings: object = {}) {
  const hub = await startTestHub(t, {
    connections: {
      api: { ...api, allowedHosts: ['hub.lan'], ...settings },
      desk: { type: 'dummy', parameters: ['hit', 'copy'] },
      clock: { type: 'timer' },
    },
    rules: [{ name: 'copy', from: 'desk/hit', to: 'desk/copy' }],
  });
  return { hub, tap: await openTap(t, hub.port) };
}

const batchLength = 26;
const maxBatches = 40;

/**
 * Opens pages that make attempts from frames, some at a time. What the browser did not get to send is tried again. The library knows
 * nothing of these pages: it would follow each frame.
 */
async function attempt(
  t: ExecutionContext,
  address: string,
  policy: string,
  tap: Tap,
): Promise<Record<string, number[]>> {
  const site = await openForeignSite(t, (path, query) => {
    if (path === '/')
      return {
        html: query
          .getAll('name')
          .map((name) => `<iframe src="/${name}"></iframe>`)
          .join(''),
      };
    const name = path.slice(1);
    const url = `http://${address}/update?parameter=desk/hit&value=${name}&via=${name}`;
    const page = attempts[name]?.(url, address, name);
    const { html, headers } = typeof page === 'object' ? page : { html: page ?? '' };
    return { html: `<!doctype html>${html}`, headers: { 'referrer-policy': policy, ...headers } };
  });
  const session = await browser.newBrowserCDPSession();
  t.teardown(() => session.detach());
  let open = Object.keys(attempts);
  const statuses: Record<string, number[]> = {};
  for (let batch = 0; open.length > 0 && batch < maxBatches; batch++) {
    const names = open.slice(0, batchLength);
    const query = names.map((name) => `name=${name}`).join('&');
    const { targetId } = await session.send('Target.createTarget', { url: `http://evil.lan:${site.port}/?${query}` });
    const found = await tap.statusesOf(names, 20_000);
    await session.send('Target.closeTarget', { targetId });
    Object.assign(statuses, found);
    open = [...open.slice(batchLength), ...names.filter((name) => found[name]!.length === 0)];
  }
  t.deepEqual(open, [], 'attempts that the browser did not send');
  return statuses;
}

const places = [
  ['hub.lan', 'unsafe-url'],
  ['hub.lan', 'no-referrer'],
  ['127.0.0.1', 'no-referrer'], // where Chromium sends Sec-Fetch-Site
] as const;
for (const [name, policy] of places)
  test.serial(`D-15: no page of another site acts on ${name}, its referrer policy is ${policy}`, async (t) => {
    const { hub, tap } = await startDesk(t);
    const statuses = await attempt(t, `${name}:${tap.port}`, policy, tap);
    for (const [attempt, codes] of Object.entries(statuses)) t.deepEqual([...new Set(codes)], [403], attempt);
    t.is(hub.find('desk/hit')?.value, undefined);
    t.is(hub.revision, 0);
    t.true(hub.connections().every(({ state }) => state === 'running'));
    expectQuietLog(t, hub);
  });

const ownPage = `<!doctype html><title>ready</title>
<a href="/update?parameter=desk/hit&value=link">x</a>
<form action="/update"><input type="hidden" name="parameter" value="desk/hit"><input type="hidden" name="value" value="form"></form>
<form action="/update" method="post"><input type="hidden" name="parameter" value="desk/hit"><input type="hidden" name="value" value="post"></form>
<script>
  const url = (value) => '/update?parameter=desk/hit&value=' + value;
  const write = { method: 'POST', body: new URLSearchParams({ parameter: 'desk/hit', value: 'fetch-post' }) };
</script>`;

/** What leads to another page. */
const leaving = new Set(['link', 'form', 'post']);
/** What a page of the hub may do, as code of the page, by the value that it sets. */
const ownActs: Readonly<Record<string, string>> = {
  fetch: "fetch(url('fetch'))",
  image: "void (new Image().src = url('image'))",
  link: 'document.links[0].click()',
  form: 'document.forms[0].submit()',
  post: 'document.forms[1].submit()',
  'fetch-post': "fetch('/update', { ...write, referrerPolicy: 'no-referrer' })",
  beacon: "navigator.sendBeacon('/update', new URLSearchParams({ parameter: 'desk/hit', value: 'beacon' }))",
  socket: `const socket = new WebSocket('ws://' + location.host + '/ws');
    socket.onopen = () => socket.send('{"p":"desk/hit","v":"socket"}')`,
};

test.serial('a page of the Document Root sets parameters in every way, over a plain HTTP name', async (t) => {
  const folder = await createFolder(t, { 'www/panel.html': ownPage });
  const { hub } = await startDesk(t, { documentRoot: join(folder, 'www') });
  const tab = await openTab(t);
  for (const [value, code] of Object.entries(ownActs)) {
    await tab.goto(`http://hub.lan:${hub.port}/panel.html`);
    const isSet = firstValueFrom(hub.changes$.pipe(filter((change) => change.value === value)));
    await tab.evaluate(`{ ${code} }`);
    await within(isSet, value);
    if (leaving.has(value)) await tab.waitForURL(/update/);
  }
  await tab.goto(`http://hub.lan:${hub.port}/panel.html`);
  t.is(await tab.evaluate(`fetch(url('none'), { referrerPolicy: 'no-referrer' }).then(({ status }) => status)`), 403);
  expectQuietLog(t, hub);
});

test.serial('an embedded or visited site cannot redirect the browser to an update', async (t) => {
  const folder = await createFolder(t, { 'www/panel.html': ownPage });
  const { hub, tap } = await startDesk(t, { documentRoot: join(folder, 'www') });
  const site = await openForeignSite(t, () => undefined);
  const tab = await openTab(t);
  for (const name of ['hub.lan', '127.0.0.1']) {
    const away = (via: string) =>
      `http://evil.lan:${site.port}/go?to=${encodeURIComponent(`http://${name}:${tap.port}/update?parameter=desk/hit&value=1&via=${via}`)}`;
    await tab.goto(`http://${name}:${tap.port}/panel.html`);
    await tab.evaluate(`void (new Image().src = ${JSON.stringify(away(`image-${name}`))})`);
    const embedded = await tap.statusesOf([`image-${name}`]);
    await tab.goto(away(`typed-${name}`));
    t.deepEqual(
      { ...embedded, ...(await tap.statusesOf([`typed-${name}`])) },
      { [`image-${name}`]: [403], [`typed-${name}`]: [403] },
    );
  }
  t.is(hub.find('desk/hit')?.value, undefined);
});

async function openTab(t: ExecutionContext): Promise<Page> {
  const context = await browser.newContext();
  t.teardown(() => context.close());
  return context.newPage();
}
