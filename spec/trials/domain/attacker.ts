// A process that attacks a domain in one way until it is killed; it reports when it has started.

import { connect } from '@nats-io/transport-node';
import { runTask } from '../../support/system/task.ts';
import { AttackedDomain, attacks } from './attacks.ts';

export interface AttackTask {
  readonly attack: string;
  /** The port of the server of NATS. */
  readonly port: number;
  readonly size: number;
  readonly seed: number;
}

await runTask(async ({ attack, port, size, seed }: AttackTask) => {
  const connection = await connect({ servers: `127.0.0.1:${port}`, noEcho: true });
  const domain = new AttackedDomain(connection, size, seed);
  await domain.heard;
  attacks[attack]!.begin(domain);
  return true;
});
