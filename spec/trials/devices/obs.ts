// The part of the trial with OBS Studio, under Xvfb.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { eventually } from '../../support/deadline.ts';
import { freePort, isListening } from '../../support/system/port.ts';
import type { Breaks, Stage } from './stage.ts';

const password = 'secret-word';
const digest = (text: string) => createHash('sha256').update(text).digest('base64');

/** Sends a request to OBS over a link of its own. */
async function ask(port: number, requestType: string, requestData: object): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, ['obswebsocket.json']);
  const next = async () => JSON.parse(String((await once(socket, 'message'))[0]));
  const send = (op: number, d: object) => socket.send(JSON.stringify({ op, d }));
  const { salt, challenge } = (await next()).d.authentication;
  send(1, { rpcVersion: 1, eventSubscriptions: 0, authentication: digest(digest(password + salt) + challenge) });
  await next();
  send(6, { requestType, requestId: '1', requestData });
  await next();
  socket.terminate();
}

export async function tryObs(stage: Stage, breaks: Breaks): Promise<void> {
  const port = await freePort();
  const config = '.config/obs-studio';
  const home = await stage.folder({
    [`${config}/global.ini`]:
      '[General]\nFirstRun=true\nLastVersion=486539264\n[Basic]\nProfile=Untitled\nProfileDir=Untitled\n' +
      'SceneCollection=Untitled\nSceneCollectionFile=Untitled\n' +
      `[OBSWebSocket]\nFirstLoad=false\nServerEnabled=true\nServerPort=${port}\nAuthRequired=true\nServerPassword=${password}\n`,
    [`${config}/basic/profiles/Untitled/basic.ini`]:
      '[General]\nName=Untitled\n[Video]\nBaseCX=320\nBaseCY=240\nOutputCX=320\nOutputCY=240\nFPSCommon=10\n',
  });
  const display = `:${port % 10_000}`;
  const env = { ...process.env, HOME: home, XDG_RUNTIME_DIR: home, DISPLAY: display, LIBGL_ALWAYS_SOFTWARE: '1' };
  stage.run('Xvfb', [display, '-screen', '0', '640x480x24', '-nolisten', 'tcp'], env);
  const start = async () => {
    const obs = stage.run('obs', ['--multi', '--disable-updater', '--unfiltered_log'], env);
    await eventually(() => isListening(port), 'OBS to listen');
    return obs;
  };
  const obs = await start();
  await ask(port, 'CreateScene', { sceneName: 'Live {1}' });
  await ask(port, 'CreateInput', { sceneName: 'Scene', inputName: 'Mic', inputKind: 'ffmpeg_source' });
  await ask(port, 'CreateInput', { sceneName: 'Scene', inputName: 'Colour', inputKind: 'color_source_v3' });
  const device = { type: 'device', ws: `ws://127.0.0.1:${port}`, protocol: 'obs', idleTimeout: '5s' };
  const staged = await stage.startHub({
    it: { ...device, secrets: { password } },
    wrong: { ...device, secrets: { password: 'another-word' } },
  });
  const { hub } = staged;
  await staged.logged(/^connection "wrong" is degraded: .*: OBS refuses the password/);
  await staged.set({ scene: 'Live {1}', 'input/Mic/muted': true, 'input/Mic/volume': -12.5, recording: true });
  await staged.set({ recording: false });
  if (hub.find('it/input/Colour/muted') !== undefined)
    throw new Error('expected no parameter of an input without sound');
  await ask(port, 'CreateInput', { sceneName: 'Scene', inputName: 'Guest', inputKind: 'ffmpeg_source' });
  await eventually(() => staged.value('input/Guest/volume') === 0, 'a new input');
  await ask(port, 'RemoveInput', { inputName: 'Guest' });
  await eventually(() => hub.find('it/input/Guest/volume') === undefined, 'an input to be gone');
  await staged.break('scene', obs, start, breaks);
}
