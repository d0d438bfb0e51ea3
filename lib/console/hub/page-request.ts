// Requests to the public HTTP endpoints of the hub, and its errors as people read them.
import { type Accessor, createSignal } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import type { Problem } from '../../wire/http/problem.ts';

const deadlineMs = 10_000;

/** What the hub says no with: its sentence and the code of it. */
export class Refusal extends Error {
  readonly code: Problem['code'] | undefined;

  constructor({ code, detail, title }: Partial<Problem>, status: string) {
    super(detail ?? title ?? status);
    this.code = code;
  }
}

/** Asks with JSON accepted. Errors: a `Refusal`, or an `Error` that says that the hub cannot be reached. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { accept: 'application/json', ...init.headers };
  let response: Response;
  try {
    response = await fetch(path, { signal: AbortSignal.timeout(deadlineMs), ...init, headers });
  } catch {
    throw new Error('the hub cannot be reached');
  }
  if (response.ok || response.status === 304) return response;
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
  throw new Refusal(problem, `${response.status} ${response.statusText}`);
}

export async function getJson<T>(path: string): Promise<T> {
  return (await request(path)).json() as Promise<T>;
}

/** Has the hub do something; resolves with its answer. */
export async function postJson<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return (await request(path, { method: 'POST', headers, body: JSON.stringify(body) })).json() as Promise<T>;
}

// What people have the hub do: whether it is at it, and why that failed.

export interface Attempt {
  readonly isBusy: Accessor<boolean>;
  /** Why the last one has failed, as a sentence; empty: it has not. */
  readonly failure: Accessor<string>;
  /** Does it, and refreshes what people see, also after a failure. Never rejects. */
  run(work: () => Promise<unknown>): Promise<void>;
}

export function createAttempt(refresh: () => void): Attempt {
  const [isBusy, setBusy] = createSignal(false);
  const [failure, setFailure] = createSignal('');
  return {
    isBusy,
    failure,
    async run(work) {
      setBusy(true);
      setFailure('');
      try {
        await work();
      } catch (error) {
        setFailure(messageOf(error));
      }
      setBusy(false);
      refresh();
    },
  };
}
