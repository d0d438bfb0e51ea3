// A web site that is none of the hub's: its pages try all that a browser sends on its own.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

export interface ForeignSite {
  readonly port: number;
}

export interface ForeignPage {
  readonly html: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Serves pages by path, `{'/': { html: '…' }}`, and redirects by `/go?to=<url>&status=302`. */
export async function openForeignSite(
  t: ExecutionContext,
  pages: (path: string, query: URLSearchParams) => ForeignPage | undefined,
): Promise<ForeignSite> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://foreign');
    request.resume(); // a body that is not read would cut the connection
    if (pathname === '/go') {
      response.writeHead(Number(searchParams.get('status') ?? 302), { location: searchParams.get('to')! }).end();
      return;
    }
    const page = pages(pathname, searchParams);
    response.writeHead(page ? 200 : 404, { 'content-type': 'text/html; charset=utf-8', ...page?.headers });
    response.end(page?.html);
  }).listen(0, '127.0.0.1');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port };
}
