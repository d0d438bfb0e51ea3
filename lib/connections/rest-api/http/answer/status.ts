// The HTTP status of each error. It is typed by the codes: a new code does not compile until it has a status.

import type { ErrorCode, HubError } from '../../../../model/error.ts';
import { LimitError } from '../../limits/limit-hits.ts';
import type { Header } from './headers.ts';

export const httpStatus: Readonly<Record<ErrorCode, string>> = {
  'bad-address': '400 Bad Request',
  'bad-dashboard': '500 Internal Server Error',
  'bad-flow': '500 Internal Server Error',
  'bad-json5': '500 Internal Server Error',
  'bad-request': '400 Bad Request',
  'body-too-large': '413 Content Too Large',
  'body-type': '415 Unsupported Media Type',
  'cannot-start': '500 Internal Server Error',
  conflict: '409 Conflict',
  forbidden: '403 Forbidden',
  'foreign-host': '403 Forbidden',
  'foreign-origin': '403 Forbidden',
  internal: '500 Internal Server Error',
  'method-not-allowed': '405 Method Not Allowed',
  'not-convertible': '400 Bad Request',
  'not-found': '404 Not Found',
  'not-implemented': '501 Not Implemented',
  'out-of-range': '400 Bad Request',
  'precondition-failed': '412 Precondition Failed',
  'range-not-satisfiable': '416 Range Not Satisfiable',
  'read-only': '403 Forbidden',
  'state-unknown': '503 State Unknown',
  'test-failed': '500 Internal Server Error',
  'too-many-attempts': '429 Too Many Requests',
  'too-many-clients': '503 Service Unavailable',
  'too-many-requests': '429 Too Many Requests',
  unauthorized: '401 Unauthorized',
  unavailable: '503 Service Unavailable',
  'unknown-parameter': '404 Not Found',
  'upgrade-required': '426 Upgrade Required',
};

/** The headers that say what helps: after how many seconds to ask again, or what to speak (RFC 9110 section 15.5.22, RFC 6455 section 4.4). */
export function helpingHeaders(error: HubError): readonly Header[] {
  const waitSeconds = error instanceof LimitError ? error.retryAfterSeconds : undefined;
  return waitSeconds === undefined ? (headersOfCodes[error.code] ?? []) : [['Retry-After', String(waitSeconds)]];
}

const headersOfCodes: Partial<Readonly<Record<ErrorCode, readonly Header[]>>> = {
  'too-many-requests': [['Retry-After', '1']],
  unavailable: [['Retry-After', '1']],
  'upgrade-required': [
    ['Upgrade', 'websocket'],
    ['Sec-WebSocket-Version', '13'],
  ],
};
