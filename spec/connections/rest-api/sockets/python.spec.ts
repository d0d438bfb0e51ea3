// A client that others made speaks with the hub (S-10): python3-websockets as Debian has it.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import { deadlineMs } from '../../../support/deadline.ts';
import { api, expectQuietLog, startTestHub } from '../../../support/hub.ts';
import { needs } from '../../../support/programs.ts';
import { readReadme } from '../../../support/repository/readme.ts';
import { openClient } from '../../../support/sockets/socket.ts';

needs('python3-websockets');

const client = `
import asyncio, json, sys, websockets

async def main(url):
    async with websockets.connect(url + "?snapshot=true") as socket:
        heard = [json.loads(await socket.recv()) for _ in range(2)]
        await socket.send(json.dumps({"p": "desk/level", "v": 0.5}))
        heard += [json.loads(await socket.recv()) for _ in range(2)]
        await socket.send(json.dumps({"p": "desk/level", "v": "loud"}))
        heard.append(json.loads(await socket.recv()))
        await socket.send("h" * 70000)
        heard.append(json.loads(await socket.recv()))
        await (await socket.ping())
        print(json.dumps(heard))
    print(socket.close_code)

asyncio.run(main(sys.argv[1]))
`;

test('S-10: python3-websockets reads, writes and says goodbye', async (t) => {
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: ['text,S,hällo', 'level,F,0', 'percent,I'] } },
    rules: [{ from: 'desk/level', map: 'value * 100', to: 'desk/percent' }],
  });
  const url = `ws://127.0.0.1:${hub.port}/ws`;
  const { stdout } = await promisify(execFile)('/usr/bin/python3', ['-c', client, url], { timeout: deadlineMs });
  const [heard = '', code] = stdout.trimEnd().split('\n');
  t.deepEqual(JSON.parse(heard), [
    { p: 'desk/text', v: 'hällo' },
    { p: 'desk/level', v: '0' },
    { p: 'desk/level', v: '0.5' },
    { p: 'desk/percent', v: '50' },
    { error: 'expected a number, got "loud" (string)', p: 'desk/level' },
    { error: 'expected at most 65536 bytes, got 70000' },
  ]);
  t.is(code, '1000');
  t.is(hub.find('desk/percent')?.value, 50);
  expectQuietLog(t, hub);
});

test('D-43: the example of README.md sets values by a list, and prints the messages of the hub', async (t) => {
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: ['level,F,0', 'mic-open,B'] } },
  });
  const [code] = /(?<=```python\n)[\s\S]*?(?=```)/.exec(readReadme('docs/api.md'))!;
  const program = code.replace('localhost:17011', `127.0.0.1:${hub.port}`);
  const running = promisify(execFile)('/usr/bin/python3', ['-c', program], { timeout: deadlineMs });
  const client = await openClient(t, hub.port);
  await client.frames.until(({ p }) => p === 'desk/mic-open');
  client.send({ p: 'desk/level', v: 1 });
  await client.frames.until(({ v }) => v === '1');
  await hub.stop(); // ends the example as well
  t.is((await running).stdout, 'desk/level 0\ndesk/level 0.5\ndesk/mic-open true\ndesk/level 1\n');
});
