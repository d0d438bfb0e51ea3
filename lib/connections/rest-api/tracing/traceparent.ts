// The trace that a client follows, as reported in `traceparent` (W3C Trace Context, Level 1 section 3.2 and Level 2).
import {
  context,
  isSpanContextValid,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { messageOf } from '../../../model/error.ts';
import type { Origin } from '../../../model/parameter.ts';
import { encodeText, type HttpRequest } from '../../../net/uws.ts';

const headerName = 'traceparent';
const header = encodeText(headerName);

/** The form of `traceparent`: version, trace ID, parent ID, flags. Versions after 00 may have more fields after another dash. */
const pattern = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** The flags that are passed on: sampled, and random. Other flags are removed. */
const knownFlags = 0b11;

/**
 * Returns the origin with the trace that the request follows; returns the origin unchanged if the request has no valid trace, or several
 * traces.
 */
export function followTrace(origin: Origin, request: HttpRequest): Origin {
  const text = request.getHeader(header);
  if (text === '' || isTwice(request)) return origin;
  return originWithTrace(origin, text);
}

/** Returns the origin with a trace in the form of a `traceparent` header; returns the origin unchanged if the trace is malformed. */
export function originWithTrace(origin: Origin, text: unknown): Origin {
  const trace = readTraceparent(text);
  return trace === undefined ? origin : { ...origin, traceparent: writeTraceparent(trace) };
}

/** Parses a `traceparent`; returns undefined if it is malformed. */
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

// OpenTelemetry spans of writes that follow a trace. Without an SDK, the API does nothing, and the trace continues as received.

const tracer = trace.getTracer('patchbay-hub');

/**
 * Does work for a client that follows a trace, in a new span. `work` receives the client as origin, with the `traceparent` of the new span;
 * `failureOf` returns the failure in a result, if any. Errors: any error from `work`.
 */
export function inSpan<Result>(
  client: Origin,
  name: string,
  work: (own: Origin) => Result,
  failureOf: (result: Awaited<Result>) => string | undefined = () => undefined,
): Result {
  const parent = trace.setSpanContext(context.active(), readTraceparent(client.traceparent)!);
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER }, parent);
  const own = { ...client, traceparent: writeTraceparent(span.spanContext()) };
  let result: Result;
  try {
    result = context.with(trace.setSpan(parent, span), work, undefined, own);
  } catch (error) {
    end(span, messageOf(error));
    throw error;
  }
  if (result instanceof Promise)
    result.then(
      (done) => end(span, failureOf(done)),
      (error) => end(span, messageOf(error)),
    );
  else end(span, failureOf(result as Awaited<Result>));
  return result;
}

function end(span: Span, failure: string | undefined): void {
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
  span.end();
}
