// The display name of a writer in the audit, the history, the log and the console. A name from another hub is marked as such and never
// looks like a user of this hub.
import type { Change, Origin } from './parameter.ts';

/**
 * Returns the display name of a writer: `api alice`, or `hub west: api alice` if reported by another hub. No writer on this hub has such a
 * name, because the Connection ID `hub` is reserved.
 */
export function writerName({ name, hub, reportedBy }: Origin): string {
  if (reportedBy === undefined) return name;
  return `hub ${reportedBy}: ${name}${hub === undefined || hub === reportedBy ? '' : ` of hub ${hub}`}`;
}

/**
 * Returns the name of the author of the first change in the chain that led to a change: `api anna 10.0.0.3`, or the rule or connection that
 * acted without an external cause.
 */
export function writerOf(change: Pick<Change, 'origin' | 'cause'>): string {
  let first = change;
  while (first.cause !== undefined) first = first.cause;
  const { origin } = first;
  if (origin.kind === 'restored') return 'earlier runs';
  return writerName(origin.kind === 'client' ? origin : { ...origin, name: `${origin.kind} ${origin.name}` });
}

/** Returns whether two origins stand for the same writer. */
export function isSameWriter(one: Origin, other: Origin): boolean {
  if (one === other) return true;
  const hasSameName = one.kind === other.kind && one.name === other.name && one.file === other.file;
  return hasSameName && one.hub === other.hub && one.reportedBy === other.reportedBy;
}

// The trace of a writer in W3C Trace Context format, for the log and the audit.

/**
 * Returns the trace of a writer for an entry, such as `traceparent 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`, or an empty
 * string for a writer without a trace.
 */
export function describeTrace(writer: Origin | undefined): string {
  return writer?.traceparent === undefined ? '' : `traceparent ${writer.traceparent}`;
}

/** Returns a sentence with the writer's trace appended, or the unchanged sentence for a writer without a trace. */
export function withTrace(sentence: string, writer: Origin | undefined): string {
  return [sentence, describeTrace(writer)].filter((text) => text !== '').join('; ');
}
