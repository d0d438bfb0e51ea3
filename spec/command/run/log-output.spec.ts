// The log never stops the hub: where it cannot be written lines are lost, counted and told, and it goes on when it can.

import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { LogOutput, maxWaitingLength } from '../../../lib/command/run/log-output.ts';
import { groupDigits } from '../../../lib/model/digits.ts';
import { within } from '../../support/deadline.ts';
import { createFolder, makeFifo } from '../../support/folder.ts';
import { Inbox } from '../../support/inbox.ts';
import { processorTimeOf } from '../../support/system/machine.ts';
import { start } from '../../support/system/process.ts';

/** A pipe that nobody reads until `read` is called; its end for writing does not block. */
async function openPipe(t: ExecutionContext) {
  const path = await makeFifo(t);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  t.teardown(() => closeSync(writer));
  const reported = new Inbox<string>();
  const output = new LogOutput(writer, (sentence) => {
    reported.put(sentence);
    output.write(`${sentence}\n`);
  });
  let text = '';
  const bytes = Buffer.alloc(65_536);
  /** Reads what there is, until it has a line. */
  const readUntil = async (isLast: (line: string) => boolean) => {
    for (let rounds = 0; rounds < 3000; rounds++) {
      try {
        text += bytes.toString('utf8', 0, readSync(reader, bytes));
      } catch {
        await wait(10); // nothing there yet
      }
      const lines = text.split('\n').slice(0, -1);
      const last = lines.findIndex(isLast);
      if (last < 0) continue;
      text = text.slice(lines.slice(0, last + 1).join('\n').length + 1);
      return lines.slice(0, last + 1);
    }
    throw new Error(`not read: ${isLast}`);
  };
  return { path, output, reported, readUntil, closeReader: () => closeSync(reader) };
}

test('written lines are read in order, and flushed', async (t) => {
  const { output, readUntil } = await openPipe(t);
  for (let number = 0; number < 1000; number++) output.write(`line ${number}\n`);
  await output.flush(10_000);
  const lines = await readUntil((line) => line === 'line 999');
  t.deepEqual(
    lines,
    Array.from({ length: 1000 }, (_, number) => `line ${number}`),
  );
  t.deepEqual(output.status, { state: 'running', reason: '', lost: 0 });
});

test('an unread pipe delays nothing; lost lines are counted and reported in their place', async (t) => {
  const { output, reported, readUntil } = await openPipe(t);
  const total = 100_000;
  const writingMs = await processorTimeOf(() => {
    for (let number = 0; number < total; number++) output.write(`line ${number} ${'x'.repeat(40)}\n`);
  });
  t.true(writingMs < 2000, `${writingMs} ms`);
  t.is(
    await reported.next(),
    'the log cannot be written: entries arrive faster than they can be written; /hub/log has the newest entries',
  );
  t.is(output.status.state, 'degraded');
  const { lost } = output.status;
  t.true(lost > total / 2, `${lost}`);
  await within(output.flush(100), 'the end of waiting for a reader');
  const lines = await readUntil((line) => line.startsWith('the log can be written again'));
  const kept = lines.length - 1;
  t.true(kept * 52 > maxWaitingLength && kept * 45 < maxWaitingLength, `${kept} lines`);
  t.deepEqual(
    lines.map((line, number) => line.startsWith(`line ${number} `)).indexOf(false),
    kept,
    'all up to the first that is missing',
  );
  t.is(total + 1 - kept, output.status.lost, 'the complaint was lost as well');
  t.regex(
    lines.at(-1)!,
    new RegExp(`^the log can be written again; ${groupDigits(output.status.lost)} lines were lost: `),
  );
  output.write('after it\n');
  t.deepEqual(await readUntil((line) => line === 'after it'), ['after it']);
  t.deepEqual(output.status, { state: 'running', reason: '', lost: total + 1 - kept });
});

test('a full pipe is reported after a second, and its reader loses nothing', async (t) => {
  const { output, reported, readUntil } = await openPipe(t);
  for (let number = 0; number < 3000; number++) output.write(`line ${number} ${'x'.repeat(40)}\n`);
  t.is(
    await reported.next(),
    'the log cannot be written: nothing is reading the output; /hub/log has the newest entries',
  );
  t.deepEqual(output.status, { state: 'degraded', reason: 'nothing is reading the output', lost: 0 });
  const lines = await readUntil((line) => line.startsWith('the log can be written again'));
  t.is(lines.filter((line) => line.startsWith('line ')).length, 3000);
  t.is(lines.at(-1), 'the log can be written again; 0 lines were lost: nothing is reading the output');
});

test('a pipe without a reader is written again for the next reader', async (t) => {
  const { path, output, reported, closeReader } = await openPipe(t);
  closeReader();
  output.write('first\n');
  t.is(await reported.next(), 'the log cannot be written: broken pipe (EPIPE); /hub/log has the newest entries');
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  t.teardown(() => closeSync(reader));
  t.is(await reported.next(), 'the log can be written again; 0 lines were lost: broken pipe (EPIPE)');
  await output.flush(10_000);
  const bytes = Buffer.alloc(1000);
  t.regex(bytes.toString('utf8', 0, readSync(reader, bytes)), /^first\nthe log cannot be written/);
});

test('a disk without room', async (t) => {
  const descriptor = openSync('/dev/full', 'w'); // it stays open, as it is written for as long as the process lives
  const reported = new Inbox<string>();
  const output = new LogOutput(descriptor, (sentence) => reported.put(sentence));
  output.write('first\n');
  t.is(
    await reported.next(),
    'the log cannot be written: no space left on device (ENOSPC); /hub/log has the newest entries',
  );
  output.write('x'.repeat(maxWaitingLength + 1));
  t.deepEqual(output.status, { state: 'degraded', reason: 'no space left on device (ENOSPC)', lost: 1 });
  await output.flush(10);
  output.flushSync();
  t.is(reported.length, 0);
});

test('a log that cannot be written prevents no process from ending', async (t) => {
  const module = pathToFileURL(resolve('lib/command/run/log-output.ts'));
  const program = `import { LogOutput } from '${module}';
    new LogOutput(fs.openSync('/dev/full', 'w'), console.log).write('first\\n');`;
  const { status, output } = await start(t, ['--eval', program], { program: '--input-type=module' }).ended();
  t.is(status, 0);
  t.regex(output, /^the log cannot be written: no space left on device/);
});

test('only a line above the limit of waiting lines is lost', async (t) => {
  const file = join(await createFolder(t), 'log');
  const descriptor = openSync(file, 'w+');
  t.teardown(() => closeSync(descriptor));
  const reported = new Inbox<string>();
  const output = new LogOutput(descriptor, (sentence) => reported.put(sentence));
  output.write('x'.repeat(maxWaitingLength + 1));
  output.write('after it\n');
  await output.flush(10_000);
  t.is(reported.length, 2);
  t.deepEqual(output.status, { state: 'running', reason: '', lost: 1 });
  const bytes = Buffer.alloc(100);
  t.is(bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, 100, 0)), 'after it\n');
});

test('waiting lines are written immediately when the process ends', async (t) => {
  const { output, readUntil } = await openPipe(t);
  output.write('under way\n');
  for (let number = 0; number < 100; number++) output.write(`line ${number}\n`);
  output.flushSync();
  const lines = await readUntil((line) => line === 'line 99');
  if (lines.length < 101) lines.push(...(await readUntil((line) => line === 'under way'))); // another thread writes it
  t.is(new Set(lines).size, 101);
});
