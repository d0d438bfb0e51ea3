// Child processes end with the hub, also when the hub is killed. A child in an endless loop, or in a native call that does not return,
// cannot notice that its channel to the hub has closed. Therefore, a shell next to the hub kills the children when the hub is gone.

import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Keeps the ids of the children. It is not ended by the signals that a terminal or a service manager sends to all processes, because it
 * ends when the hub does.
 */
const script = `trap '' HUP INT TERM
children=' '
while read -r change id; do
  case $change in
    add) children="$children$id " ;;
    remove) case $children in *" $id "*) children="\${children%% $id *} \${children#* $id }" ;; esac ;;
  esac
done
[ "$children" = ' ' ] || kill -9 $children`;

/** How long after the end of a shell the next one is started, in milliseconds. */
const restartMs = 1000;

const children = new Set<number>();
let shell: ChildProcess | undefined;

/** Kills a child process when this process is gone, for whatever reason. Only works on systems with a POSIX shell. */
export function endWithHub(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return; // the child could not be started
  children.add(pid);
  child.once('exit', () => {
    children.delete(pid);
    send(`remove ${pid}`);
    if (children.size > 0) return;
    shell?.stdin?.end();
    shell = undefined;
  });
  if (shell === undefined) start();
  else send(`add ${pid}`);
}

function send(line: string): void {
  if (shell?.stdin?.writable) shell.stdin.write(`${line}\n`);
}

function start(): void {
  const started = spawn('/bin/sh', ['-c', script], { env: {}, stdio: ['pipe', 'ignore', 'ignore'] });
  shell = started;
  const restart = () => {
    if (shell !== started) return;
    shell = undefined;
    setTimeout(() => shell === undefined && children.size > 0 && start(), restartMs).unref();
  };
  started.once('exit', restart).once('error', () => {}); // without a shell, a child may outlive the hub
  started.unref();
  started.stdin?.on('error', () => {});
  (started.stdin as { unref?(): void } | null)?.unref?.();
  for (const pid of children) send(`add ${pid}`);
}
