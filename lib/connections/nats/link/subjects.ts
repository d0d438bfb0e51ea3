// The subjects of a domain: `patchbay.<domain>.<hub>.<what>`. What a hub sends stands below its own name, and so does what it is
// asked for, so that the permissions of a hub are a few patterns.

export interface HubName {
  readonly domain: string;
  readonly hub: string;
}

/** What goes on below the name of a hub: its turns and heartbeats, and what it is asked for. */
export type What = 'turns' | 'walk' | 'write' | 'receipt';

export function subjectOf({ domain, hub }: HubName, what: What): string {
  return `patchbay.${domain}.${hub}.${what}`;
}

/** The subject of all hubs of a domain. */
export function subjectOfAll(domain: string, what: What): string {
  return subjectOf({ domain, hub: '*' }, what);
}

/** The hub that a subject stands below. */
export function hubOf(subject: string): string {
  return subject.split('.')[2]!;
}

/** Where answers to a hub arrive. */
export function inboxPrefixOf({ domain, hub }: HubName): string {
  return `patchbay.${domain}.${hub}.inbox`;
}
