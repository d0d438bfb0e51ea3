// The NATS subjects in a domain, which have the form `patchbay.<domain>.<hub>.<what>`. A hub sends on subjects with its own name and
// receives requests on them. The subject of a write request also contains the name of the requesting hub. Therefore, the permissions for a
// hub consist of a few patterns, and if a server enforces these permissions, the subject proves who has sent turns and writes. The content
// of a message could not prove this.

export interface HubName {
  readonly domain: string;
  readonly hub: string;
}

/**
 * The kinds of subjects that contain a hub's name: for its turns and heartbeats, for requests to it, and for the receipts of its standby.
 * Hubs of version 0.1 request writes on a subject without their own name. Servers that enforce the permissions of later versions reject
 * such requests.
 */
export type SubjectKind = 'turns' | 'walk' | 'write' | 'receipt';

export function subjectOf({ domain, hub }: HubName, what: SubjectKind): string {
  return `patchbay.${domain}.${hub}.${what}`;
}

/** Returns the wildcard subject that matches a kind of subject for all hubs in a domain. */
export function subjectOfAll(domain: string, what: SubjectKind): string {
  return subjectOf({ domain, hub: '*' }, what);
}

/** Returns the subject on which one hub requests writes from another: `patchbay.house.west.write.east`. */
export function subjectOfWrites(owner: HubName, requester: string): string {
  return `${subjectOf(owner, 'write')}.${requester}`;
}

/** Returns the name of the hub in a subject. The rest of the subject is not parsed, because this function is called for each message. */
export function hubOf(subject: string): string {
  const start = subject.indexOf('.', subject.indexOf('.') + 1) + 1;
  const end = subject.indexOf('.', start);
  return subject.slice(start, end < 0 ? undefined : end);
}

/** Returns the name of the requesting hub in a subject, or undefined if the subject names no requesting hub. */
export function requesterOf(subject: string): string | undefined {
  if (!subject.includes('.write.')) return undefined; // the most common case
  const [, , , what, requester] = subject.split('.');
  return what === 'write' ? requester : undefined;
}

/** Returns the prefix of the inboxes in which a hub receives answers. */
export function inboxPrefixOf({ domain, hub }: HubName): string {
  return `patchbay.${domain}.${hub}.inbox`;
}

/**
 * Returns the name of the hub that an inbox belongs to. Returns '' if the inbox belongs to another client, such as a tool, and undefined if
 * the subject is not an inbox.
 */
export function hubOfInbox(domain: string, subject: string): string | undefined {
  if (subject.startsWith('_INBOX.')) return '';
  const prefix = `patchbay.${domain}.`;
  if (!subject.startsWith(prefix)) return undefined;
  const end = subject.indexOf('.', prefix.length);
  return subject.startsWith('.inbox.', end) ? subject.slice(prefix.length, end) : undefined;
}
