// The subjects of a domain: `patchbay.<domain>.<hub>.<what>`. A hub sends on subjects with its own name and receives requests there. The
// subject of a write request also contains the name of the requesting hub. So the permissions of a hub consist of a few patterns, and if a
// server enforces the permissions, the subject proves who sent turns and writes, which the content of a message cannot do.

export interface HubName {
  readonly domain: string;
  readonly hub: string;
}

/**
 * The kinds of subjects with the name of a hub: its turns and heartbeats, requests to it, and its standby's receipts. Hubs of version 0.1
 * request writes on a subject without their own name. Servers that enforce the permissions of later versions reject such requests.
 */
export type SubjectKind = 'turns' | 'walk' | 'write' | 'receipt';

export function subjectOf({ domain, hub }: HubName, what: SubjectKind): string {
  return `patchbay.${domain}.${hub}.${what}`;
}

/** Returns the wildcard subject that matches all hubs in a domain. */
export function subjectOfAll(domain: string, what: SubjectKind): string {
  return subjectOf({ domain, hub: '*' }, what);
}

/** Returns the subject for writes to a hub that another hub requests: `patchbay.house.west.write.east`. */
export function subjectOfWrites(owner: HubName, requester: string): string {
  return `${subjectOf(owner, 'write')}.${requester}`;
}

/** Returns the hub whose name a subject contains. This function is called for each message, so the rest of the subject is not parsed. */
export function hubOf(subject: string): string {
  const start = subject.indexOf('.', subject.indexOf('.') + 1) + 1;
  const end = subject.indexOf('.', start);
  return subject.slice(start, end < 0 ? undefined : end);
}

/** Returns the requesting hub from the subject, or undefined if the subject does not name a requesting hub. */
export function requesterOf(subject: string): string | undefined {
  if (!subject.includes('.write.')) return undefined; // the most common case
  const [, , , what, requester] = subject.split('.');
  return what === 'write' ? requester : undefined;
}

/** Returns the prefix of the inboxes where a hub receives answers. */
export function inboxPrefixOf({ domain, hub }: HubName): string {
  return `patchbay.${domain}.${hub}.inbox`;
}

/**
 * Returns the hub that owns an inbox; an empty string if the inbox belongs to another client, such as a tool; undefined if the subject is
 * not an inbox.
 */
export function hubOfInbox(domain: string, subject: string): string | undefined {
  if (subject.startsWith('_INBOX.')) return '';
  const prefix = `patchbay.${domain}.`;
  if (!subject.startsWith(prefix)) return undefined;
  const end = subject.indexOf('.', prefix.length);
  return subject.startsWith('.inbox.', end) ? subject.slice(prefix.length, end) : undefined;
}
