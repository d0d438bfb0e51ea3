// How the trace of a writer is told to people, in the log and the audit.

import type { Origin } from './parameter.ts';

/** `traceparent 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`; empty: the writer follows no trace. */
export function describeTrace(writer: Origin | undefined): string {
  return writer?.traceparent === undefined ? '' : `traceparent ${writer.traceparent}`;
}

/** A sentence, and behind it the trace of who it is about. */
export function withTrace(sentence: string, writer: Origin | undefined): string {
  return [sentence, describeTrace(writer)].filter((text) => text !== '').join('; ');
}
