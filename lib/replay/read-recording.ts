// Reads a recording. What is damaged is told with its place; a last line that a kill has cut is not missed.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { HubError } from '../model/error.ts';
import {
  decodeLine,
  type RecordedTurn,
  type RecordedValue,
  type RecordingLine,
  type RecordingStart,
} from '../wire/recording.ts';

export interface ReadRecording {
  readonly start: RecordingStart;
  readonly values: readonly RecordedValue[];
  /** In the order of time. Errors: `bad-request`, with the line that is damaged. */
  readonly turns: AsyncIterable<RecordedTurn>;
}

/** Opens a recording. Errors: `bad-request`, with the line that is damaged or missing; those of the file. */
export async function openRecording(path: string): Promise<ReadRecording> {
  const lines = readLines(path);
  const start = (await lines.next()).value?.line;
  if (start === undefined || !('recording' in start)) throw damaged(path, 1, 'the first line of a recording');
  const values: RecordedValue[] = [];
  while (values.length < start.values) {
    const { value: next } = await lines.next();
    if (next === undefined || !('p' in next.line))
      throw damaged(path, next?.number ?? values.length + 2, `${start.values} values`);
    values.push(next.line);
  }
  return { start, values, turns: turnsOf(path, lines) };
}

async function* turnsOf(path: string, lines: AsyncIterable<Numbered>): AsyncGenerator<RecordedTurn> {
  let lastMs = 0;
  for await (const { line, number } of lines) {
    if (!('t' in line) || line.t < lastMs) throw damaged(path, number, 'a turn that is not before the last one');
    lastMs = line.t;
    yield line;
  }
}

interface Numbered {
  readonly line: RecordingLine;
  readonly number: number;
}

async function* readLines(path: string): AsyncGenerator<Numbered, undefined> {
  let number = 0;
  /** A line that is not as it was written: at the end of the file it was cut, else it is damaged. */
  let broken = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    if (broken > 0) throw damaged(path, broken, 'a line as it was written');
    const line = decodeLine(text);
    if (line === undefined) broken = number;
    else yield { line, number };
  }
  if (broken > 0 && (await endsWithLine(path))) throw damaged(path, broken, 'a line as it was written');
  return undefined;
}

/** Whether the last line is whole: a kill has not cut it. */
async function endsWithLine(path: string): Promise<boolean> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    const { buffer } = await handle.read({ position: size - 1, length: 1 });
    return buffer[0] === 0x0a;
  } finally {
    await handle.close();
  }
}

function damaged(path: string, line: number, expected: string): HubError {
  return new HubError('bad-request', `${path}:${line}: expected ${expected}, the recording is damaged here`);
}
