// Claims: what two connections of a hub cannot both have.

import test from 'ava';
import { NEVER } from 'rxjs';
import { z } from 'zod';
import { type Claim, claimFile, claimsClash, claimTcpPort, claimUdpPort } from '../../lib/connections/claim.ts';
import { defineConnectionType } from '../../lib/connections/connection.ts';
import { loadFlows } from '../../lib/hub/index.ts';
import { connectionTypes } from '../support/connection-types.ts';
import { createFolder } from '../support/folder.ts';

const rows: [one: readonly Claim[], other: readonly Claim[], clash: boolean, why: string][] = [
  [claimTcpPort(9000, '127.0.0.1'), claimTcpPort(9000, '127.0.0.1'), true, 'one port on one address'],
  [claimTcpPort(9000, '127.0.0.1'), claimTcpPort(9001, '127.0.0.1'), false, 'two ports'],
  [claimTcpPort(9000, '127.0.0.1'), claimTcpPort(9000, '127.0.0.2'), false, 'one port on two addresses'],
  [claimTcpPort(9000, '127.0.0.1'), claimUdpPort(9000, '127.0.0.1'), false, 'a TCP port and a UDP port'],
  [claimTcpPort(9000, ''), claimUdpPort(9000, ''), false, 'a TCP port and a UDP port on all interfaces'],
  [claimUdpPort(9000, ''), claimUdpPort(9000, '127.0.0.1'), true, 'all interfaces, and one of them'],
  [claimUdpPort(9000, '0.0.0.0'), claimUdpPort(9000, '10.0.0.1'), true, 'all interfaces of IPv4, and one of them'],
  [claimTcpPort(9000, '::'), claimTcpPort(9000, '0.0.0.0'), true, 'all interfaces, twice'],
  [claimTcpPort(0, ''), claimTcpPort(0, ''), false, 'any free port, twice'],
  [claimFile('/srv/a.xml'), claimFile('/srv/a.xml'), true, 'one file'],
  [claimFile('/srv/a.xml'), claimFile('/srv/b.xml'), false, 'two files'],
]; // biome-ignore format: rows

for (const [ones, others, clash, why] of rows)
  test(`${why} ${clash ? 'clash' : 'do not clash'}`, (t) => {
    const found = (left: readonly Claim[], right: readonly Claim[]) =>
      left.some((one) => right.some((other) => claimsClash(one, other)));
    t.is(found(ones, others), clash);
    t.is(found(others, ones), clash);
  });

const settingsSchema = z.strictObject({ port: z.number(), bindIp: z.string().default('') });
const receiver = defineConnectionType({
  type: 'receiver',
  isExternal: true,
  settingsSchema,
  parameters: () => [],
  claims: ({ port, bindIp }) => claimUdpPort(port, bindIp),
  run: () => NEVER,
});
const types = new Map([...connectionTypes, ['receiver', receiver]]);

test('a hub may have TCP port 9000 and UDP port 9000, but neither of them twice', async (t) => {
  const api = { type: 'rest-api', port: 9000, bindIp: '127.0.0.1' };
  const good = { connections: { api, a: { type: 'receiver', port: 9000 } } };
  await t.notThrowsAsync(loadFlows([await createFolder(t, { 'flow.json5': good })], types));
  const b = { type: 'receiver', port: 9000, bindIp: '127.0.0.1' };
  const bad = { connections: { ...good.connections, b, other: { ...api, bindIp: '' } } };
  const error = await t.throwsAsync(loadFlows([await createFolder(t, { 'flow.json5': bad })], types));
  t.regex(error!.message, /connections\.b: expected exclusive use of UDP port 9000, but "a" also uses it/);
  t.regex(error!.message, /connections\.other: expected exclusive use of port 9000, but "api" also uses it/);
});
