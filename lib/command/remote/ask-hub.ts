// How commands ask a running hub, over its REST API.
import { nearestName } from '../../json5/nearest-name.ts';
import type { ParameterInfo } from '../../wire/http/parameter-shapes.ts';
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

/** Asks the hub about one parameter. Errors: as `request`; where there is none of the address, with the nearest one that there is. */
export async function requestParameter(
  address: string,
  options: RemoteOptions,
  path: string,
  init: RequestInit,
  allowed: number[] = [],
): Promise<string> {
  const response = await respond(options, path, init, [...allowed, 404]);
  const text = await response.text();
  if (response.status !== 404) return text;
  const sentence = sentenceOf(text);
  if (sentence.includes('did you mean')) throw new Error(sentence);
  const nearest = await nearestAddress(address, options).catch(() => undefined); // who may not see the list gets the sentence alone
  throw new Error(`${sentence}${nearest === undefined ? '' : `, did you mean "${nearest}"?`}`);
}

/** Looks among the parameters that the asker may see; first for the connection, since a hub may have a million of parameters. */
async function nearestAddress(address: string, options: RemoteOptions): Promise<string | undefined> {
  const known = JSON.parse(await request(options, '/hub/parameters', {})) as ParameterInfo[];
  const addresses = known.map(({ parameter }) => parameter);
  const connectionOf = (one: string) => one.slice(0, one.indexOf('/') + 1);
  const connections = [...new Set(addresses.map(connectionOf))];
  const connection = connections.find((one) => one === connectionOf(address));
  const inIt = connection === undefined ? [] : addresses.filter((one) => one.startsWith(connection));
  return nearestName(address, inIt) ?? nearestName(address, addresses);
}

/** Asks the hub. Errors: the URL is none, no hub is there, or the status is neither 2xx nor one of those allowed. */
export async function respond(
  options: RemoteOptions,
  path: string,
  init: RequestInit,
  allowed: number[] = [],
): Promise<Response> {
  if (!/^https?:\/\/./.test(options.url) || !URL.canParse(options.url))
    throw new Error(
      `--url: expected a URL such as http://localhost:17011, got "${options.url.replace(/^.*@/s, '***@')}"`,
    );
  const { username, password, origin } = new URL(options.url);
  if (username !== '' || password !== '')
    throw new Error(
      '--url: expected a URL without user and password, which are --username and --password, got them in it',
    );
  let response: Response;
  try {
    response = await fetch(new URL(path, options.url), {
      ...init,
      headers: { ...credentials(options), ...(init.headers as Record<string, string>) },
    });
  } catch (error) {
    const cause = (error as Error).cause ?? error;
    throw new Error(
      `${origin}: expected a running hub, got ${(cause as Error).message || (cause as { code: string }).code}`,
    );
  }
  if (response.ok || allowed.includes(response.status)) return response;
  throw new Error(sentenceOf(await response.text()));
}

/** What is wrong, as the hub says it: in plain text, or in JSON. */
function sentenceOf(text: string): string {
  try {
    return (JSON.parse(text) as Partial<Problem>).detail ?? text.trim();
  } catch {
    return text.trim();
  }
}

/** The header that shows who asks; none: nobody in particular. */
export function credentials({ username, password, token }: RemoteOptions): Record<string, string> {
  if (token !== '') return { authorization: `Bearer ${token}` };
  if (username === '' && password === '') return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
}
