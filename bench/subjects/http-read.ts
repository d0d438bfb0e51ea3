// HTTP read: GET /parameters/<address> of a known value, over connections that are kept alive. What
// the hub answers is asked once before the rounds; the ceiling sends the same headers and the same body.

import { once } from 'node:events';
import { connect } from 'node:net';
import { type ServerProcess, startHub, startServer } from '../../spec/support/system/task-process.ts';
import type { HttpAnswerTask } from '../contenders/http-answer.ts';
import { loadContender, relayName } from '../contenders/servers.ts';
import type { Options } from '../harness/options.ts';
import type { Contender, Subject } from '../harness/subject.ts';
import type { HttpTask } from '../load/http.ts';

const value = '0.75';
const flow = { connections: { desk: { type: 'dummy', parameters: [`level,F,${value}`] } } };
const request =
  'GET /parameters/desk/level HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: patchbay-bench\r\nAccept: */*\r\n\r\n';
const libraryHeaders = ['date', 'uwebsockets', 'content-length'];

export const httpRead: Subject = {
  name: 'http-read',
  about:
    'GET /parameters/<address> over keep-alive connections; the ceiling is raw uWebSockets.js with the same response',
  measures: ['lib/connections/rest-api/http', 'lib/connections/rest-api/endpoints', 'lib/net'],
  rounds: 5,
  async cases(options, folder) {
    const { connections, depths, warmUpMs, measureMs } = options;
    const answer = await askHub(options, folder);
    const task = { request, answer, connections, warmUpMs, measureMs };
    const contender = (name: string, role: Contender['role'], depth: number, start: () => Promise<ServerProcess>) =>
      loadContender<HttpTask>({ name, role }, start, 'bench/load/http.ts', { ...task, depth });
    return depths.map((depth) => ({
      name: `depth ${depth}`,
      metrics: [
        { key: 'rate', title: 'answers/s', digits: 0, better: 'more' },
        { key: 'perBusySecond', title: 'answers per busy second of the server', digits: 0, better: 'more' },
        { key: 'busy', title: 'server busy, %', digits: 0 },
      ],
      contenders: [
        contender('hub', 'hub', depth, () => startHub(flow, folder, options)),
        contender(relayName, 'ceiling', depth, () =>
          startServer('bench/contenders/http-answer.ts', sameAnswer(answer)),
        ),
      ],
    }));
  },
};

/** One answer of the hub, as it comes over the wire. Errors: when it is not 200 with the value. */
export async function askHub(
  options: Options,
  folder: string,
  asked: Parameters<typeof startHub>[0] = flow,
  question = request,
): Promise<string> {
  const hub = await startHub(asked, folder, { ...options, profileFolder: undefined });
  const socket = connect(hub.port, '127.0.0.1');
  socket.write(question);
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  await hub.stop();
  const answer = bytes.toString('latin1');
  if (!answer.startsWith('HTTP/1.1 200 OK\r\n') || !answer.endsWith(`\r\n\r\n${value}`))
    throw new Error(`expected the hub to answer 200 with ${value}, got ${JSON.stringify(answer)}`);
  return answer;
}

function sameAnswer(answer: string): HttpAnswerTask {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const headers = head
    .split('\r\n')
    .slice(1)
    .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)] as const)
    .filter(([name]) => !libraryHeaders.includes(name.toLowerCase()));
  return { headers, body };
}
