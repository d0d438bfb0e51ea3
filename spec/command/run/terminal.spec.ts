// `patchbay run` on a terminal that is held: ctrl+S stops what is shown, not the hub.

import { spawn } from 'node:child_process';
import test from 'ava';
import { eventually } from '../../support/deadline.ts';
import { needs } from '../../support/programs.ts';
import { dependent } from '../../support/system/dependent.ts';
import { startUnreadHub } from '../../support/system/unread-log.ts';

needs('script');

test('a terminal that is stopped by ctrl+S does not block the hub, and continues with ctrl+Q', async (t) => {
  const quoted = (args: readonly string[]) => args.map((arg) => `'${arg}'`).join(' ');
  let shown = '';
  const hub = await startUnreadHub(t, 1, (program, args) => {
    const command = `exec ${quoted([program, ...args])}`;
    const terminal = spawn(...dependent('script', ['-qefc', command, '/dev/null']), {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    terminal.stdout.on('data', (bytes) => {
      shown += bytes;
    });
    return terminal;
  });
  await hub.until(({ log }) => log.state === 'running');
  hub.process.stdin!.write('\x13');
  const restart = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"action":"restart"}' };
  await hub.until(({ log }) => {
    hub.ask('/hub/connections/desk-0', restart).catch(() => {}); // it logs a line
    return log.state === 'degraded';
  });
  hub.process.stdin!.write('\x11');
  await hub.until(({ log }) => log.state === 'running');
  await t.notThrowsAsync(eventually(() => /the log can be written again/.test(shown)));
});
