// The parts that paths of the OpenAPI document are made of: what they are about, what they take and what they answer.

import { maxBodyBytes } from '../../../../wire/http/limits.ts';

type Tag = 'parameters' | 'operation' | 'causes' | 'past' | 'pages' | 'users';

/** Any request may get these answers: for a mistake of the client, its credentials, a foreign Host or Origin. */
export const refusals = {
  '401': problem('The credentials are missing or wrong'),
  '429': problem(
    'More requests or writes than a limit lets through, or wrong credentials from this address too often: see Retry-After',
  ),
  '403': problem('A foreign Host, a page of another site, a parameter that is read-only, or what the user may not do'),
  '412': problem('If-Match names no present state, or this is newer than If-Unmodified-Since'),
  '503': notNow(),
};

/** What needs no credentials. */
export const needsNothing = { security: [] };

/** `what`: why it cannot be had at the moment, apart from what any request may meet. */
export function notNow(what = '') {
  const passwords = 'Too many passwords wait to be compared, see Retry-After';
  return problem(what === '' ? passwords : `${what}; or ${passwords.replace('Too', 'too')}`);
}

/** An address or name in a path that is no percent-encoded UTF-8. */
export const badPath = { '400': problem('The path is not percent-encoded UTF-8') };

/** Where people are sent who could sign in, and are not. */
export const toSignIn = { description: 'To /hub/sign-in, for a browser that nobody has signed in with' };

export function about(operationId: string, tag: Tag, summary: string) {
  return { operationId, tags: [tag], summary };
}

export function ref(schema: string) {
  return { $ref: `#/components/schemas/${schema}` };
}

export function json(schema: object) {
  return { 'application/json': { schema } };
}

/** The answers to who asks for a file that there is. */
export function file() {
  return {
    '200': { description: 'The file', content: { '*/*': {} } },
    '206': { description: 'The part of it that Range names', content: { '*/*': {} } },
    '304': { description: 'The same as what If-None-Match or If-Modified-Since names' },
    '412': refusals['412'],
    '416': problem('It has no such part'),
  };
}

export function problem(description: string) {
  return {
    description,
    content: { 'application/problem+json': { schema: ref('Problem') }, 'text/plain': { schema: { type: 'string' } } },
  };
}

/** An answer with an ETag. */
export function fresh(schema: string | undefined) {
  return {
    '200': {
      description: 'The present state',
      headers: { ETag: { schema: { type: 'string' } } },
      content: json(schema === undefined ? { type: 'object' } : ref(schema)),
    },
    '304': { description: 'The same as what If-None-Match names' },
    ...refusals,
  };
}

export function updated() {
  return {
    '200': {
      description: 'OK, or where JSON is accepted what was set',
      content: { 'text/plain': { schema: { const: 'OK' } }, ...json(ref('Updated')) },
    },
    '400': problem('Something is missing, or the value cannot be converted'),
    '404': problem('There is no such parameter'),
    '409': problem('There is no room for it, such as for one more snapshot'),
    ...refusals,
    '503': notNow('The hub that owns the parameter did not answer in time'),
  };
}

export function bodyRefusals() {
  return {
    '400': problem('A body that makes no sense'),
    '413': problem(`A body of more than ${maxBodyBytes / 1024} KiB`),
    '415': problem('A body of another type'),
  };
}

export function inPath(name: string, description: string) {
  return { name, in: 'path', required: true, description, schema: { type: 'string' } };
}

export function inQuery(name: string, schema: object, description: string, required = false) {
  return { name, in: 'query', required, description, schema };
}

/** The trace of a request that writes. */
export const traceHeader = {
  name: 'traceparent',
  in: 'header',
  required: false,
  description: 'The trace that the request follows (W3C Trace Context)',
  schema: { type: 'string' },
};
