// How commands ask a running hub, over its REST API.

import type { Problem } from '../../wire/http/problem.ts';

/** Where the hub is, and who asks it. */
export interface RemoteOptions {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly token: string;
}

/** Asks the hub for a text. Errors: as `respond`. */
export async function request(
  options: RemoteOptions,
  path: string,
  init: RequestInit,
  allowed: number[] = [],
): Promise<string> {
  return (await respond(options, path, init, allowed)).text();
}

/** Asks the hub. Errors: the URL is none, no hub is there, or the status is neither 2xx nor one of those allowed. */
export async function respond(
  options: RemoteOptions,
  path: string,
  init: RequestInit,
  allowed: number[] = [],
): Promise<Response> {
  if (!/^https?:\/\/./.test(options.url) || !URL.canParse(options.url))
    throw new Error(`--url: expected a URL such as http://localhost:17011, got "${options.url}"`);
  let response: Response;
  try {
    response = await fetch(new URL(path, options.url), {
      ...init,
      headers: { ...credentials(options), ...(init.headers as Record<string, string>) },
    });
  } catch (error) {
    const cause = (error as Error).cause ?? error;
    throw new Error(
      `${options.url}: expected a running hub, got ${(cause as Error).message || (cause as { code: string }).code}`,
    );
  }
  if (response.ok || allowed.includes(response.status)) return response;
  const text = await response.text();
  throw new Error(problemDetail(text) ?? text.trim());
}

function problemDetail(text: string): string | undefined {
  try {
    return (JSON.parse(text) as Partial<Problem>).detail;
  } catch {
    return undefined;
  }
}

/** The header that shows who asks; none: nobody in particular. */
export function credentials({ username, password, token }: RemoteOptions): Record<string, string> {
  if (token !== '') return { authorization: `Bearer ${token}` };
  if (username === '' && password === '') return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
}
