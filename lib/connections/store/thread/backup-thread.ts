// The thread that makes a backup: it copies what belongs to it, and then gives it away piece by piece.

import { parentPort } from 'node:worker_threads';
import { backupBytes, writeBackup } from '../../../backup/write-backup.ts';
import { messageOf } from '../../../model/error.ts';
import type { BackupAnswer, BackupQuestion, BackupRequest } from './backup-messages.ts';
import { stageBackup } from './stage-backup.ts';

const port = parentPort!;
let pieces: Generator<Buffer, void, void>;

port.on('message', (question: BackupQuestion) => {
  const answer = answerTo(question);
  if (!('piece' in answer) || answer.piece === undefined) port.postMessage(answer);
  else port.postMessage(answer, [answer.piece.buffer]);
});

function answerTo(question: BackupQuestion): BackupAnswer {
  try {
    return question.ask === 'begin' ? begin(question) : next();
  } catch (error) {
    return { failed: messageOf(error) };
  }
}

function begin(request: BackupRequest): BackupAnswer {
  const time = new Date().toISOString();
  const { files, run, absolute } = stageBackup(request);
  const head = { patchbay: request.patchbay, time, run, absolute };
  pieces = writeBackup(head, files);
  return { begun: backupBytes(head, files) };
}

function next(): BackupAnswer {
  const { done, value } = pieces.next();
  return { piece: done ? undefined : new Uint8Array(value) };
}
