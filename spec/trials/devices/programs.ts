// The parts of the trial with mpd, rigctld, liquidsoap and ser2net.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../../support/deadline.ts';
import { writer } from '../../support/hub.ts';
import { freePort, isListening } from '../../support/system/port.ts';
import type { Breaks, Stage } from './stage.ts';

export async function tryRigctld(stage: Stage, breaks: Breaks): Promise<void> {
  const port = await freePort();
  const start = async () => {
    const rig = stage.run('rigctld', ['-m', '1', '-T', '127.0.0.1', '-t', String(port), '--set-conf=ptt_type=RIG']);
    await eventually(() => isListening(port), 'rigctld to listen');
    return rig;
  };
  const rig = await start();
  const it = { type: 'device', tcp: `127.0.0.1:${port}`, protocol: 'rigctld', idleTimeout: '1500ms' };
  const staged = await stage.startHub({ it });
  assert.equal(staged.value('frequency'), 145_000_000);
  await staged.set({ frequency: 14_074_000, mode: 'USB', ptt: true });
  if (breaks.stops) {
    staged.hub.write('it/mode', 'LSB', writer); // a radio that sends ignores it, and answers that all is well
    await eventually(() => staged.hub.find('it/mode')!.wanted === undefined, 'the mode not to be pending'); // after 5 s
    assert.equal(staged.value('mode'), 'USB');
  }
  await staged.set({ ptt: false });
  staged.refuse('mode', 'USB\n+\\set_ptt 1');
  await staged.break('frequency', rig, start, breaks);
  assert.equal(
    staged.value('frequency'),
    145_000_000,
    'a radio that starts has its first frequency: nothing is sent again',
  );
}

export async function tryMpd(stage: Stage, breaks: Breaks): Promise<void> {
  const port = await freePort();
  const folder = await stage.folder({ 'music/a.wav': silence(60) });
  const configuration =
    `music_directory "${folder}/music"\nbind_to_address "127.0.0.1"\nport "${port}"\ndb_file "${folder}/db"\nstate_file "${folder}/state"\n` +
    'password "secret-word@read,add,control,admin"\ndefault_permissions "read,add,control,admin"\n' +
    'audio_output {\n type "null"\n name "none"\n mixer_type "null"\n}\n';
  await writeFile(join(folder, 'mpd.conf'), configuration);
  const start = async () => {
    const player = stage.run('mpd', ['--no-daemon', join(folder, 'mpd.conf')]);
    await eventually(() => isListening(port), 'mpd to listen');
    return player;
  };
  const player = await start();
  await fillPlaylist(stage, port);
  const device = { type: 'device', tcp: `127.0.0.1:${port}`, protocol: 'mpd', idleTimeout: '1500ms' };
  const staged = await stage.startHub({
    it: { ...device, secrets: { password: 'secret-word' } },
    wrong: { ...device, secrets: { password: 'another' } },
  });
  await staged.logged(/^connection "wrong" is degraded: .* MPD refuses the password: set secrets\.password/);
  await staged.set({ state: 'play', volume: 33 });
  await staged.set({ state: 'pause', elapsed: 12.5 });
  assert.equal(staged.value('song/title'), undefined, 'it has none');
  staged.hub.write('it/next', 1, writer);
  await eventually(() => Number(staged.value('elapsed')) < 5, 'the next song');
  staged.refuse('volume', 101);
  staged.refuse('state', 'loud');
  await staged.break('volume', player, start, breaks);
}

/** A WAV file with so many seconds of silence, 8-bit mono at 8 kHz. */
function silence(seconds: number): Buffer {
  const length = 8000 * seconds;
  const file = Buffer.alloc(44 + length);
  file.write('RIFF', 0);
  file.writeUInt32LE(36 + length, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(8000, 24);
  file.writeUInt32LE(8000, 28);
  file.writeUInt16LE(1, 32);
  file.writeUInt16LE(8, 34);
  file.write('data', 36);
  file.writeUInt32LE(length, 40);
  return file;
}

async function fillPlaylist(stage: Stage, port: number): Promise<void> {
  const control = connect(port, '127.0.0.1').on('error', () => {});
  stage.onEnd(() => control.destroy());
  let text = '';
  control.on('data', (bytes) => {
    text += bytes;
  });
  const has = (answer: RegExp, command: string) =>
    eventually(() => {
      control.write(`${command}\n`);
      return answer.test(text);
    }, `${answer} of mpd`);
  control.write('update\n');
  await has(/file: a\.wav/, 'listall');
  control.write('add a.wav\nadd a.wav\nplay\n');
  await has(/state: play/, 'status');
}

export async function tryLiquidsoap(stage: Stage, breaks: Breaks): Promise<void> {
  const port = await freePort();
  const description = {
    about: 'A liquidsoap with one variable',
    frame: { end: ['\n', '\r\n'] },
    poll: '300ms',
    idleTimeout: '1500ms',
    parameters: {
      level: {
        type: 'F',
        ask: { send: 'var.get level', until: 'END', reply: '{value:float}', every: '300ms' },
        write: {
          send: 'var.set level={value:float(digits=2)}',
          reply: 'Variable level set{_}',
          fail: 'ERROR{_}',
          // biome-ignore lint/suspicious/noThenProperty: it is a key of descriptions
          then: ['ask'],
        },
      },
      version: { type: 'S', ask: { send: 'version', until: 'END', reply: 'Liquidsoap {value}' } },
    },
  };
  const script =
    `settings.server.telnet.set(true)\nsettings.server.telnet.port.set(${port})\nsettings.init.allow_root.set(true)\n` +
    'level = interactive.float("level", 0.5)\noutput.dummy(amplify(level, blank()))\n';
  const folder = await stage.folder({ 'radio.liq': script, 'radio.device.json5': JSON.stringify(description) });
  const start = async () => {
    const radio = stage.run('liquidsoap', [join(folder, 'radio.liq')]);
    await eventually(() => isListening(port), 'liquidsoap to listen');
    return radio;
  };
  const radio = await start();
  const protocol = join(folder, 'radio.device.json5');
  const staged = await stage.startHub({ it: { type: 'device', tcp: `127.0.0.1:${port}`, protocol } });
  assert.equal(staged.value('level'), 0.5);
  await staged.set({ level: 0.25 });
  assert.match(String(staged.value('version')), /^\d/);
  await staged.break('level', radio, start, breaks);
  assert.equal(staged.value('level'), 0.5, 'a radio that starts has its first level: nothing is sent again');
}

export async function trySer2net(stage: Stage): Promise<void> {
  const folder = await stage.folder();
  const [far, near] = [join(folder, 'far'), join(folder, 'near')];
  stage.run('socat', [`pty,raw,echo=0,link=${far}`, `pty,raw,echo=0,link=${near}`]);
  await eventually(() => existsSync(near) && existsSync(far), 'the ptys of socat');
  const port = await freePort();
  await writeFile(
    join(folder, 'ser2net.yaml'),
    `connection: &c\n  accepter: tcp,127.0.0.1,${port}\n  enable: on\n  connector: serialdev,${near},9600n81,local\n`,
  );
  stage.run('ser2net', ['-d', '-c', join(folder, 'ser2net.yaml')]);
  await eventually(() => isListening(port), 'ser2net to listen');
  const speak = setInterval(() => void writeFile(far, '$GPHDT,123.456,T*32\r\n').catch(() => {}), 100);
  stage.onEnd(() => clearInterval(speak));
  const staged = await stage.startHub({ it: { type: 'device', tcp: `127.0.0.1:${port}`, protocol: 'nmea' } });
  await eventually(() => staged.value('heading') === 123.456, 'the heading');
}
