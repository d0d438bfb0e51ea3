// A hub in its own network namespace, with modules that try to reach other hosts: prints how many packets left by the only interface.
// `node alone.ts <API> <allowed hosts, separated by commas>`.

import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startHub } from '../../../lib/hub/index.ts';
import { writeModule } from '../../connections/companion/build.ts';
import { untilSo } from '../../support/deadline.ts';
import { inTemporaryFolder } from '../../support/folder.ts';
import { silentLog } from '../../support/silent-log.ts';

const [api, hosts = ''] = process.argv.slice(2);
const sent = () => Number(/^\s*d0:(?:\s*\d+){9}\s*(\d+)/m.exec(readFileSync('/proc/net/dev', 'latin1'))?.[1]);

await inTemporaryFolder('alone', async (folder) => {
  const module = join(folder, 'module');
  await writeModule(module, { api: api === '1' ? 1 : 2, mode: 'elsewhere at init' });
  const it = {
    ...{ type: 'companion', module, config: { host: '192.0.2.11', port: 9 } },
    allowHosts: hosts.split(',').filter((host) => host !== ''),
    values: { tried: { variable: 'program' } },
  };
  await writeFile(join(folder, 'flow.json5'), JSON.stringify({ connections: { it } }));
  const before = sent();
  const hub = await startHub({ paths: [join(folder, 'flow.json5')], log: silentLog });
  await untilSo('a module that has tried', () => /: .*: /.test(String(hub.find('it/tried')?.value)), {
    deadlineMs: 90_000,
    everyMs: 50,
  });
  process.stdout.write(`${JSON.stringify({ packets: sent() - before, tried: hub.find('it/tried')!.value })}\n`);
  await hub.stop();
});
