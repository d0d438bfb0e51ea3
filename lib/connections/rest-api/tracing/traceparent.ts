// The trace that a client follows, as it tells it in `traceparent` (W3C Trace Context, Level 1 section 3.2 and Level 2).

import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';
import type { Origin } from '../../../model/parameter.ts';
import { encodeText, type HttpRequest } from '../../../net/uws.ts';

const headerName = 'traceparent';
const header = encodeText(headerName);

/** Version, trace, parent, flags; a later version than 00 may have more behind a dash. */
const pattern = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** The flags that are known: sampled, and random. Others are not passed on. */
const knownFlags = 0b11;

/** The origin with the trace that the request tells; without one, or with one that is malformed or told twice, as it is. */
export function followTrace(origin: Origin, request: HttpRequest): Origin {
  const text = request.getHeader(header);
  if (text === '' || isTwice(request)) return origin;
  return originWithTrace(origin, text);
}

/** The origin with a trace; where it is malformed, as it is. */
export function originWithTrace(origin: Origin, text: unknown): Origin {
  const trace = readTraceparent(text);
  return trace === undefined ? origin : { ...origin, traceparent: writeTraceparent(trace) };
}

/** Reads what a client tells, or `originWithTrace` has kept; undefined: it is malformed. */
export function readTraceparent(text: unknown): SpanContext | undefined {
  if (typeof text !== 'string') return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = pattern.exec(text) ?? [];
  if (version === '00' && more !== undefined) return undefined;
  const trace = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & knownFlags, isRemote: true };
  return isSpanContextValid(trace) ? trace : undefined;
}

export function writeTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & knownFlags).toString(16).padStart(2, '0')}`;
}

function isTwice(request: HttpRequest): boolean {
  let count = 0;
  request.forEach((name) => {
    if (name === headerName) count++;
  });
  return count > 1;
}
