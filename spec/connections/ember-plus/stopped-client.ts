// A process with a consumer of emberplus-connection that asks for the whole tree; the spec then stops it.

import { firstClient } from './peers.ts';

const client = await firstClient({ teardown: () => {} }, Number(process.argv[2]));
await client.expand(client.tree);
process.send!('ready');
process.once('disconnect', () => process.exit());
