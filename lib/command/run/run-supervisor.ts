// Tells systemd how the hub is (`Type=notify` of a unit, sd_notify(3)). Its socket takes datagrams, which Node.js cannot send to a
// socket of a file. So a shell waits beside the hub and hands what it is told to `systemd-notify`: the hub itself is copied for no
// message, whatever it holds in memory.
import { type ChildProcess, spawn } from 'node:child_process';

export interface Supervisor {
  /** The hub runs; from now on the event loop says so again and again, where the supervisor wants to hear it. */
  ready(): void;
  stopping(): void;
}

/** What systemd tells a service in its environment. */
export interface SupervisorEnvironment {
  readonly NOTIFY_SOCKET?: string | undefined;
  /** How long it waits for a sign of life, in microseconds (`WatchdogSec`). */
  readonly WATCHDOG_USEC?: string | undefined;
}

/** So many signs of life come within the time that the supervisor waits for one. */
const signsOfLife = 4;
const script = 'while read -r state; do systemd-notify "$state"; done';

/** Creates what tells systemd; it does nothing where no systemd asks. */
export function createSupervisor({ NOTIFY_SOCKET, WATCHDOG_USEC }: SupervisorEnvironment): Supervisor {
  if (!NOTIFY_SOCKET) return { ready() {}, stopping() {} };
  let notifier: ChildProcess | undefined;
  const start = () => {
    const env = { PATH: '/usr/bin:/bin', NOTIFY_SOCKET };
    const started = spawn('/bin/sh', ['-c', script], { env, stdio: ['pipe', 'ignore', 'ignore'] });
    const forget = () => {
      if (notifier === started) notifier = undefined;
    };
    started.once('error', forget).once('exit', forget).unref();
    started.stdin?.on('error', forget);
    return started;
  };
  const notify = (state: string) => {
    try {
      notifier ??= start();
    } catch {} // no process can be made at the moment; the next sign of life has another one made
    const stdin = notifier?.stdin; // it has none where there was no descriptor for it
    if (stdin?.writableNeedDrain === false) stdin.write(`${state}\n`);
  };
  const watchdogMs = Number(WATCHDOG_USEC) / 1000;
  return {
    ready() {
      notify('READY=1');
      if (watchdogMs > 0) setInterval(() => notify('WATCHDOG=1'), watchdogMs / signsOfLife).unref();
    },
    stopping: () => notify('STOPPING=1'),
  };
}
