// The name of a writer as people read it, in the audit, the history, the log and the console. What another hub reports of its users is
// marked as such, so that it never reads like a user of this one.
import type { Change, Origin } from './parameter.ts';

/** `api alice`; as another hub reports it `hub west: api alice`. No writer of this hub has such a name: `hub` is no Connection ID. */
export function writerName({ name, hub, reportedBy }: Origin): string {
  if (reportedBy === undefined) return name;
  return `hub ${reportedBy}: ${name}${hub === undefined || hub === reportedBy ? '' : ` of hub ${hub}`}`;
}

/** Whoever wrote the first change of the chain: `api anna 10.0.0.3`, or the rule or the connection that did it by itself. */
export function writerOf(change: Pick<Change, 'origin' | 'cause'>): string {
  let first = change;
  while (first.cause !== undefined) first = first.cause;
  const { origin } = first;
  if (origin.kind === 'restored') return 'earlier runs';
  return writerName(origin.kind === 'client' ? origin : { ...origin, name: `${origin.kind} ${origin.name}` });
}

/** Whether two writers are the same. */
export function isSameWriter(one: Origin, other: Origin): boolean {
  if (one === other) return true;
  const hasSameName = one.kind === other.kind && one.name === other.name && one.file === other.file;
  return hasSameName && one.hub === other.hub && one.reportedBy === other.reportedBy;
}

// How the trace of a writer is told to people, in the log and the audit.

/** `traceparent 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`; empty: the writer follows no trace. */
export function describeTrace(writer: Origin | undefined): string {
  return writer?.traceparent === undefined ? '' : `traceparent ${writer.traceparent}`;
}

/** A sentence, and behind it the trace of who it is about. */
export function withTrace(sentence: string, writer: Origin | undefined): string {
  return [sentence, describeTrace(writer)].filter((text) => text !== '').join('; ');
}
