// The least that a NATS server has to permit a hub, as a part of its configuration. A password is named as a variable that the server
// finds in its environment.

import { claimsPlace, leasePlace, pairParts } from './lease/lease-record.ts';
import { inboxPrefixOf, subjectOf, subjectOfAll, subjectOfWrites } from './link/subjects.ts';
import type { NatsSettings } from './settings.ts';

/**
 * A hub sends what is its own, asks others in its own name, and answers them. A stream is one token of a subject: it has those created
 * that it writes, and reads all.
 */
export function permissionsOf(settings: NatsSettings): string {
  const { domain, hub, credentials, pair } = settings;
  const own = `${subjectOf({ domain, hub }, 'turns').slice(0, -'turns'.length)}>`;
  const everybody = { domain, hub: '*' };
  const claims = claimsPlace(domain);
  const leases = (pair ? pairParts : [1]).map((part) => leasePlace(settings, part).stream);
  const publish = [
    own,
    subjectOfAll(domain, 'walk'),
    subjectOfWrites(everybody, hub),
    `${inboxPrefixOf(everybody)}.>`,
    claims.subject,
    ...[...leases, claims.stream].map((stream) => `$JS.API.STREAM.CREATE.${stream}`),
    '$JS.API.STREAM.MSG.GET.*',
    ...(pair
      ? leases.flatMap((stream) => [`$JS.API.STREAM.INFO.${stream}`, `$JS.API.STREAM.LEADER.STEPDOWN.${stream}`])
      : []),
  ];
  const subscribe = [own, subjectOfAll(domain, 'turns'), claims.subject];
  const list = (subjects: readonly string[]) => subjects.map((one) => `"${one}"`).join(', ');
  const { user = hub, nkey, password } = { ...credentials, user: credentials.user || undefined };
  const secret = password === '' ? '' : `, password: $${user.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_PASSWORD`;
  const who = nkey === '' ? `user: ${user}${secret}` : 'nkey: "…"';
  return `# hub "${hub}" of domain "${domain}", to be put into authorization { users: [ … ] }
{ ${who}, permissions: {
  publish: { allow: [${list(publish)}] }
  subscribe: { allow: [${list(subscribe)}] } } }`;
}
