// The process of a driver module. It exchanges lines of JSON with the hub over the pipe with descriptor 3, and ends when the pipe closes.

import { Socket } from 'node:net';
import type { FromProcess, ToProcess } from '../messages.ts';
import { installGuard } from './guard.ts';
import { type Host, startModule } from './host.ts';

const pipe = new Socket({ fd: 3, readable: true, writable: true });
const send = (line: FromProcess) => void pipe.write(`${JSON.stringify(line)}\n`);
/** The number of unread bytes at which the process sends no more values until the hub has read these bytes. */
const maxUnreadBytes = 65_536;
const link = { send, isFull: () => pipe.writableLength > maxUnreadBytes };
/** The maximum number of reports about denied operations. Each kind is reported once. */
const maxReports = 100;
const reported = new Set<string>();
const guard = installGuard((denied) => {
  if (reported.size >= maxReports || reported.has(denied)) return;
  reported.add(denied.slice(0, 500));
  send({ denied: denied.slice(0, 500) });
});
const { exit } = process;

function fail(error: unknown): void {
  const { message = String(error), stack = '' } = error instanceof Error ? error : {};
  const [place = ''] = /\n\s+at [^\n]*/.exec(stack) ?? [];
  pipe.write(`${JSON.stringify({ fault: `${message}${place.replace(/\s+/g, ' ')}`.slice(0, 1000) })}\n`, () => exit(1));
  setTimeout(() => exit(1), 1000);
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', (error) =>
  send({
    log: 'error',
    text: `unhandled rejection: ${error instanceof Error ? error.message : String(error)}`.slice(0, 500),
  }),
);

let host: Host | undefined;

function take(line: ToProcess): void {
  if ('ping' in line) send({ pong: line.ping });
  else if ('start' in line) {
    startModule(line.start, link, () => guard.open(line.start.allowHosts)).then((started) => {
      host = started;
    }, fail);
  } else if ('list' in line) {
    try {
      host?.list(line.list, line.question);
    } catch (error) {
      send({
        log: 'warn',
        text: `cannot read the module's list of variables, feedbacks and actions: ${(error as Error).message}`.slice(
          0,
          500,
        ),
      });
      send({ listed: line.list, part: '' });
    }
  } else if ('act' in line) {
    const done = (error?: unknown) =>
      send({
        done: line.act,
        ...(error !== undefined && { error: String((error as Error)?.message ?? error).slice(0, 500) }),
      });
    if (host === undefined) done(new Error('the module has not started yet'));
    else host.act(line.action, line.options).then(() => done(), done);
  } else {
    setTimeout(() => exit(0), 1500);
    Promise.resolve(host?.stop()).then(
      () => exit(0),
      () => exit(0),
    );
  }
}

let rest = '';
pipe.setEncoding('utf8');
pipe.on('data', (text: string) => {
  rest += text;
  for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
    const line = rest.slice(0, end);
    rest = rest.slice(end + 1);
    take(JSON.parse(line) as ToProcess);
  }
});
pipe.on('error', () => exit(0));
pipe.on('close', () => exit(0));
