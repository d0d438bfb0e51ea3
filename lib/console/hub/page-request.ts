// Requests to the hub's public HTTP endpoints, with readable error messages.

import { type Accessor, createSignal } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import type { Problem } from '../../wire/http/problem.ts';
import { t } from '../language/language.ts';

const deadlineMs = 10_000;

/**
 * The name of the user whose view of the console a manager has opened, from the URL (`/hub/?as=reception`). Empty if users view the console
 * as themselves. In such a view, the hub refuses every change.
 */
export const seenAs =
  new URLSearchParams((globalThis as { location?: { readonly search: string } }).location?.search).get('as') ?? '';
/** The request headers with the name in `seenAs`. */
export const seeAsHeaders: Readonly<Record<string, string>> =
  seenAs === '' ? {} : { 'patchbay-see-as': encodeURIComponent(seenAs) };

/** An error response from the hub, with its message and code. */
export class Refusal extends Error {
  readonly code: Problem['code'] | undefined;
  /** Both texts for each conflict. Set only for an edit that overlaps with another edit. */
  readonly conflicts: Problem['conflicts'];

  constructor({ code, detail, title, conflicts }: Partial<Problem>, status: string) {
    super(asSentence(detail ?? title ?? status));
    this.code = code;
    this.conflicts = conflicts;
  }
}

/**
 * Returns an error message without the path of the request, which is useful for programs but not for people: `/hub/sources: expected a user
 * …`.
 */
function asSentence(detail: string): string {
  return detail.replace(/^\/hub\/\S*: (.)/, (_, first: string) => first.toUpperCase());
}

/** Sends a request that accepts JSON. Errors: a `Refusal`, or an `Error` if the hub cannot be reached. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { accept: 'application/json', ...seeAsHeaders, ...init.headers };
  let response: Response;
  try {
    response = await fetch(path, { signal: AbortSignal.timeout(deadlineMs), ...init, headers });
  } catch {
    throw new Error(t('the hub cannot be reached'));
  }
  if (response.ok || response.status === 304) return response;
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
  throw new Refusal(problem, `${response.status} ${response.statusText}`);
}

export async function getJson<T>(path: string): Promise<T> {
  return (await request(path)).json() as Promise<T>;
}

/** Posts JSON to the hub. Resolves to the hub's response. */
export async function postJson<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return (await request(path, { method: 'POST', headers, body: JSON.stringify(body) })).json() as Promise<T>;
}

// Tracks actions of the user: whether an action is in progress, and the error of the last action.

export interface Attempt {
  readonly isBusy: Accessor<boolean>;
  /** The error of the last action, as a sentence. Empty if the action succeeded. */
  readonly failure: Accessor<string>;
  /** Runs an action, and then refreshes the view, even after a failure. Never rejects. */
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
