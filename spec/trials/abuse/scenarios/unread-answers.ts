// One HTTP connection that asks for a long value again and again, and reads no answer.

import { request } from 'node:http';
import { keepOpen, pour } from '../pour.ts';
import type { Scenario } from '../scenario.ts';

const value = 'x'.repeat(60_000);

export const unreadAnswers: Scenario = {
  about: 'one HTTP connection pipelines requests of a value of 60 KB, and reads nothing',
  limits: ['unreadAnswers', 'pipelinedRequests'],
  async attack(port) {
    await new Promise<void>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      const asking = request({ port, host: '127.0.0.1', path: '/update', method: 'POST', headers }, (answer) => {
        answer.resume().on('end', resolve);
      });
      asking.on('error', reject).end(JSON.stringify({ parameter: 'desk/text', value }));
    });
    keepOpen(port, (socket) => {
      socket.pause();
      pour(socket, Buffer.from('GET /parameters/desk/text HTTP/1.1\r\nHost: localhost\r\n\r\n'));
    });
  },
};
