// Reports the hub's state to systemd (`Type=notify` in a unit, sd_notify(3)). systemd's Unix socket accepts datagrams, which Node.js cannot
// send. Therefore, a shell next to the hub passes messages to `systemd-notify`. Forking the hub for each message would be expensive because
// of the hub's memory.
import { type ChildProcess, spawn } from 'node:child_process';

export interface Supervisor {
  /** Reports that the hub is running. From then on, regularly reports that the event loop is alive, if systemd has requested this. */
  ready(): void;
  stopping(): void;
}

/** The environment variables that systemd sets for a service. */
export interface SupervisorEnvironment {
  readonly NOTIFY_SOCKET?: string | undefined;
  /** The watchdog timeout in microseconds (`WatchdogSec`). */
  readonly WATCHDOG_USEC?: string | undefined;
}

/** The number of heartbeats that the hub sends within the watchdog timeout. */
const beatsPerTimeout = 4;
const script = 'while read -r state; do systemd-notify "$state"; done';

/** Creates the reporter for systemd, which does nothing unless systemd has requested reports. */
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
    } catch {} // no process could be started: the next heartbeat tries again
    const stdin = notifier?.stdin; // `stdin` is missing if no descriptor was free
    if (stdin?.writableNeedDrain === false) stdin.write(`${state}\n`);
  };
  const watchdogMs = Number(WATCHDOG_USEC) / 1000;
  return {
    ready() {
      notify('READY=1');
      if (watchdogMs > 0) setInterval(() => notify('WATCHDOG=1'), watchdogMs / beatsPerTimeout).unref();
    },
    stopping: () => notify('STOPPING=1'),
  };
}
