// A Debian with its own systemd, next to that of this machine.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { helpers } from './steps.ts';

const bootMs = 60_000;
const stepMs = 300_000;
const everyMs = 200;

export class Machine {
  readonly #boot: ChildProcess;
  #systemd = '';

  /** Boots the Debian in a folder. Errors: when it does not come up. */
  static async boot(folder: string): Promise<Machine> {
    const machine = new Machine(spawn(join(import.meta.dirname, 'boot.sh'), [folder], { stdio: 'ignore' }));
    for (const startMs = performance.now(); performance.now() - startMs < bootMs; await after(everyMs)) {
      machine.#systemd = childrenOf(machine.#boot.pid!)[0] ?? '';
      if (machine.#systemd !== '' && /running|degraded/.test(machine.#enter('systemctl is-system-running').said))
        return machine;
    }
    await machine.end();
    throw new Error(`${folder}: expected its systemd to run within ${bootMs / 1000} s`);
  }

  private constructor(boot: ChildProcess) {
    this.#boot = boot;
  }

  /** Runs a script as root. `said` is its last line, or its whole output if it failed. */
  run(script: string): { isWell: boolean; said: string } {
    const { isWell, said } = this.#enter(`${helpers}\n${script}`);
    return { isWell, said: isWell ? lastExposure(said) : said };
  }

  async end(): Promise<void> {
    const ended = once(this.#boot, 'exit');
    if (this.#boot.exitCode === null && this.#boot.kill('SIGKILL')) await ended;
  }

  #enter(script: string): { isWell: boolean; said: string } {
    const spaces = ['--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup', '--root', '--wd'];
    const args = ['--target', this.#systemd, ...spaces, 'env', '-i', 'HOME=/root', path, 'sh', '-c', script];
    const { status, stdout, stderr } = spawnSync('nsenter', args, { timeout: stepMs, encoding: 'utf8' });
    return { isWell: status === 0, said: `${stdout}${stderr}`.trim() };
  }
}

const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The exposure level that `systemd-analyze security` printed, if the script ran it. */
function lastExposure(said: string): string {
  return /exposure level.*: ([\d.]+)/.exec(said)?.[1] ?? '';
}

function childrenOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  } catch {
    return []; // the process has ended
  }
}
