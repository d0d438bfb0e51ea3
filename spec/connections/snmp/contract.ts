// What the contract suite has to know of snmp.

import { createSocket } from 'node:dgram';
import type { ExecutionContext } from 'ava';
import { communityEnvelope, wrapCommunity } from '../../../lib/connections/snmp/envelope.ts';
import { encodePdu, encodeVarbinds, tags, verbs } from '../../../lib/connections/snmp/message.ts';
import type { ContractCase } from '../../support/contract.ts';
import { base, freeUdpPort, startLiar } from './peers.ts';

const community = 'public';
const parameters = { started: { trap: '1.3.6.1.6.3.1.1.5.1' } };
const level = { level: { oid: `${base}.1.0` } };
const traps = (listen: number) => ({ listen, from: ['127.0.0.1'] });
const place = (port: number) => `127.0.0.1:${port}`;

export const contractCase: ContractCase = {
  settings: { community, traps: traps(0), parameters },
  troubles: [
    {
      what: 'its port is taken',
      state: 'degraded',
      reason: /^UDP port \d+: bind EADDRINUSE/,
      async cause() {
        const other = createSocket('udp4');
        await new Promise<void>((resolve) => other.bind(0, '127.0.0.1', resolve));
        const end = () => new Promise<void>((resolve) => other.close(resolve));
        return { settings: { community, traps: traps(other.address().port), parameters }, end };
      },
    },
    {
      what: 'nothing listens at the port of its device',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: nothing is listening on this UDP port \(ECONNREFUSED\)$/,
      async cause(t) {
        const port = await freeUdpPort();
        return { settings: { udp: place(port), community, parameters: level }, end: () => startTinyAgent(t, port) };
      },
    },
    {
      what: 'its device answers nothing',
      state: 'degraded',
      reason: /^127\.0\.0\.1:\d+: no answer within 0\.2 s: the device is offline, or does not accept the community$/,
      async cause(t) {
        const settings = { community, timeout: 100, retries: 1, parameters: level };
        return { settings: { ...settings, udp: place(await startLiar(t, () => {})) } };
      },
    },
  ],
};

/** An agent that answers any request for one object with 5; the specs of the type have real ones. */
function startTinyAgent(t: ExecutionContext, port: number): Promise<number> {
  return startLiar(
    t,
    (bytes, from, socket) => {
      const answer = communityEnvelope(community).unwrap(bytes, () => true);
      if (typeof answer === 'string') return;
      const list = encodeVarbinds([{ oid: `${base}.1.0`, tag: tags.integer, bytes: Buffer.of(5) }]);
      const pdu = encodePdu(verbs.response, answer.pdu.id, 0, 0, list);
      socket.send(wrapCommunity(Buffer.from(community), pdu), from.port, from.address);
    },
    port,
  );
}
