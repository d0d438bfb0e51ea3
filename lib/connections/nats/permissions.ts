// The least that a NATS server has to permit a hub, as a part of its configuration.

import { claimsPlace } from './lease/names.ts';
import { subjectOf, subjectOfAll } from './link/subjects.ts';
import type { NatsSettings } from './settings.ts';

/**
 * A hub sends what is its own, asks others, and answers them. A stream is one token of a subject, so leases and claims take the whole
 * of these two parts of JetStream.
 */
export function permissionsOf({ domain, hub, credentials, pair }: NatsSettings): string {
  const own = `${subjectOf({ domain, hub }, 'turns').slice(0, -'turns'.length)}>`;
  const claims = claimsPlace(domain).subject;
  const answers = `${subjectOfAll(domain, 'turns').slice(0, -'turns'.length)}inbox.>`;
  const publish = [
    own,
    subjectOfAll(domain, 'walk'),
    subjectOfAll(domain, 'write'),
    answers,
    claims,
    '$JS.API.STREAM.CREATE.*',
    '$JS.API.STREAM.MSG.GET.*',
    ...(pair ? ['$JS.API.STREAM.INFO.*', '$JS.API.STREAM.LEADER.STEPDOWN.*'] : []),
  ];
  const subscribe = [own, subjectOfAll(domain, 'turns'), claims];
  const list = (subjects: readonly string[]) => subjects.map((one) => `"${one}"`).join(', ');
  const who = credentials.nkey === '' ? `user: ${credentials.user || hub}` : 'nkey: "…"';
  return `# hub "${hub}" of domain "${domain}", to be put into authorization { users: [ … ] }
{ ${who}, permissions: {
  publish: { allow: [${list(publish)}] }
  subscribe: { allow: [${list(subscribe)}] } } }`;
}
