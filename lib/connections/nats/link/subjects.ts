// The subjects of a domain: `patchbay.<domain>.<hub>.<what>`. What a hub sends stands below its own name, and so does what it is asked
// for. Who asks for a write adds its own name. So the permissions of a hub are a few patterns, and where a server enforces them a subject
// says whose turns and writes these are: nothing in a message does.

export interface HubName {
  readonly domain: string;
  readonly hub: string;
}

/**
 * What goes on below the name of a hub: its turns and heartbeats, what it is asked for, and how far one that stands by has come. Hubs of
 * version 0.1 ask for writes without their name: no server permits that any more which enforces the permissions of later ones.
 */
export type What = 'turns' | 'walk' | 'write' | 'receipt';

export function subjectOf({ domain, hub }: HubName, what: What): string {
  return `patchbay.${domain}.${hub}.${what}`;
}

/** The subject of all hubs of a domain. */
export function subjectOfAll(domain: string, what: What): string {
  return subjectOf({ domain, hub: '*' }, what);
}

/** Where a hub asks another one to write: `patchbay.house.west.write.east`. */
export function subjectOfWrites(owner: HubName, asker: string): string {
  return `${subjectOf(owner, 'write')}.${asker}`;
}

/** The hub that a subject stands below. It is looked for at each message, so nothing is made of the rest. */
export function hubOf(subject: string): string {
  const start = subject.indexOf('.', subject.indexOf('.') + 1) + 1;
  const end = subject.indexOf('.', start);
  return subject.slice(start, end < 0 ? undefined : end);
}

/** The hub that asks, by the subject; undefined: it does not say that. */
export function askerOf(subject: string): string | undefined {
  if (!subject.includes('.write.')) return undefined; // most of all
  const [, , , what, asker] = subject.split('.');
  return what === 'write' ? asker : undefined;
}

/** Where answers to a hub arrive. */
export function inboxPrefixOf({ domain, hub }: HubName): string {
  return `patchbay.${domain}.${hub}.inbox`;
}

/** Whose inbox a subject is: a hub of the domain, or empty, of somebody else such as a tool; undefined: it is no inbox. */
export function hubOfInbox(domain: string, subject: string): string | undefined {
  if (subject.startsWith('_INBOX.')) return '';
  const prefix = `patchbay.${domain}.`;
  if (!subject.startsWith(prefix)) return undefined;
  const end = subject.indexOf('.', prefix.length);
  return subject.startsWith('.inbox.', end) ? subject.slice(prefix.length, end) : undefined;
}
