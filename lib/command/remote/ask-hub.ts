// How commands communicate with a running hub over its REST API.
import { nearestName } from '../../json5/nearest-name.ts';
import type { ParameterInfo } from '../../wire/http/parameter-shapes.ts';
import type { Problem } from '../../wire/http/problem.ts';

/** The URL of a running hub, and the credentials. */
export interface RemoteOptions {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly token: string;
}

/** Sends a request to the hub and returns the body of the response as text. Errors: the same as for `respond`. */
export async function request(
  options: RemoteOptions,
  path: string,
  init: RequestInit,
  allowed: number[] = [],
): Promise<string> {
  return (await respond(options, path, init, allowed)).text();
}

/**
 * Requests a resource that belongs to one parameter, as text. Errors: the same as for `request`; the message contains the address. If the
 * address is unknown, the message suggests the most similar known address.
 */
export async function requestParameter(
  address: string,
  options: RemoteOptions,
  path: string,
  init: RequestInit,
  allowed: number[] = [],
): Promise<string> {
  const response = await respond(options, path, init, [...allowed, 400, 404]);
  const text = await response.text();
  if (response.ok || allowed.includes(response.status)) return text;
  const sentence = sentenceOf(text);
  if (response.status !== 404) throw new Error(sentence.includes(address) ? sentence : `${address}: ${sentence}`);
  if (sentence.includes('did you mean')) throw new Error(sentence);
  const nearest = await nearestAddress(address, options).catch(() => undefined); // users who may not list parameters get no suggestion
  throw new Error(`${sentence}${nearest === undefined ? '' : `, did you mean "${nearest}"?`}`);
}

/**
 * Finds the most similar address among the visible parameters. Parameters of the same connection are searched first, because a hub may have
 * a million parameters.
 */
async function nearestAddress(address: string, options: RemoteOptions): Promise<string | undefined> {
  const known = JSON.parse(await request(options, '/hub/parameters', {})) as ParameterInfo[];
  const addresses = known.map(({ parameter }) => parameter);
  const connectionOf = (one: string) => one.slice(0, one.indexOf('/') + 1);
  const connections = [...new Set(addresses.map(connectionOf))];
  const connection = connections.find((one) => one === connectionOf(address));
  const inIt = connection === undefined ? [] : addresses.filter((one) => one.startsWith(connection));
  return nearestName(address, inIt) ?? nearestName(address, addresses);
}

/** Sends a request to the hub. Errors: an invalid URL, no running hub, or a status that is neither 2xx nor one of the allowed statuses. */
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
    throw new Error('--url: expected a URL without username and password; use --username and --password instead');
  let response: Response;
  try {
    response = await fetch(new URL(path, options.url), {
      ...init,
      headers: { ...credentials(options), ...(init.headers as Record<string, string>) },
    });
  } catch (error) {
    const cause = (error as Error).cause ?? error;
    throw new Error(`${origin}: cannot reach a hub: ${(cause as Error).message || (cause as { code: string }).code}`);
  }
  if (response.ok || allowed.includes(response.status)) return response;
  throw new Error(sentenceOf(await response.text()));
}

/** Returns the error message in a response from the hub, which is plain text or JSON. */
function sentenceOf(text: string): string {
  try {
    return (JSON.parse(text) as Partial<Problem>).detail ?? text.trim();
  } catch {
    return text.trim();
  }
}

/** Returns the HTTP header with the credentials, or no header if there are no credentials. */
export function credentials({ username, password, token }: RemoteOptions): Record<string, string> {
  if (token !== '') return { authorization: `Bearer ${token}` };
  if (username === '' && password === '') return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
}
