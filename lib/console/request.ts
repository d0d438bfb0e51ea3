// Requests to the public HTTP endpoints of the hub, and its errors as people read them.

const deadlineMs = 10_000;

/** Asks with JSON accepted. Errors: an `Error` with the sentence of the hub, or that it cannot be reached. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { accept: 'application/json', ...init.headers };
  let response: Response;
  try {
    response = await fetch(path, { signal: AbortSignal.timeout(deadlineMs), ...init, headers });
  } catch {
    throw new Error('the hub cannot be reached');
  }
  if (response.ok || response.status === 304) return response;
  throw new Error(await sentenceOf(response));
}

export async function getJson<T>(path: string): Promise<T> {
  return (await request(path)).json();
}

/** Has the hub do something; resolves with its answer. */
export async function postJson<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return (await request(path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}

/** The sentence of a problem (RFC 9457), or the status. */
async function sentenceOf(response: Response): Promise<string> {
  const problem = await response.json().catch(() => ({}));
  return problem.detail ?? problem.title ?? `${response.status} ${response.statusText}`;
}

/** What went wrong, as a sentence. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
