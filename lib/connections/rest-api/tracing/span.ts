// Spans of OpenTelemetry, of writes that follow a trace. Where no SDK is there the API does nothing: then the trace goes on as it came.

import { context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { messageOf } from '../../../model/error.ts';
import type { Origin } from '../../../model/parameter.ts';
import { readTraceparent, writeTraceparent } from './traceparent.ts';

const tracer = trace.getTracer('patchbay-hub');

/**
 * Does the work of a client that follows a trace in a span of its own. `work` is given the client with the `traceparent` of that span.
 * Errors: those of `work`.
 */
export function inSpan<Result>(client: Origin, name: string, work: (own: Origin) => Result): Result {
  const parent = trace.setSpanContext(context.active(), readTraceparent(client.traceparent)!);
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER }, parent);
  const own = { ...client, traceparent: writeTraceparent(span.spanContext()) };
  let result: Result;
  try {
    result = context.with(trace.setSpan(parent, span), work, undefined, own);
  } catch (error) {
    endFailed(span, error);
    throw error;
  }
  if (result instanceof Promise)
    result.then(
      () => span.end(),
      (error) => endFailed(span, error),
    );
  else span.end();
  return result;
}

function endFailed(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(error) });
  span.end();
}
