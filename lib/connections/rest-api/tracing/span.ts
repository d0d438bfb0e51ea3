// Spans of OpenTelemetry, of writes that follow a trace. Where no SDK is there the API does nothing: then the trace goes on as it came.

import { context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { messageOf } from '../../../model/error.ts';
import type { Origin } from '../../../model/parameter.ts';
import { readTraceparent, writeTraceparent } from './traceparent.ts';

const tracer = trace.getTracer('patchbay-hub');

/**
 * Does the work of a client that follows a trace in a span of its own. `work` is given the client with the `traceparent` of that span;
 * `failureOf` says what went wrong though nothing was thrown. Errors: those of `work`.
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
