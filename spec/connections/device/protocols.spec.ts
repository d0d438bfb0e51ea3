// The built-in descriptions against peers that are written from the texts of the makers' protocols: all that is read, written and refused, in
// frames that are cut at every byte.

import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test, { type ExecutionContext } from 'ava';
import { WebSocketServer } from 'ws';
import { compileDescription } from '../../../lib/connections/device/compile.ts';
import { descriptionJsonSchema, protocolNames, readProtocol } from '../../../lib/connections/device/description.ts';
import { Message } from '../../../lib/device/message.ts';
import { readJson5 } from '../../../lib/json5/read-json5.ts';
import type { Value } from '../../../lib/model/value.ts';
import { runFlowTests } from '../../../lib/testing/run-tests.ts';
import { eventually } from '../../support/deadline.ts';
import { type HubUnderTest, startHubFrom, startTestHub, statusOf, writer } from '../../support/hub.ts';
import { type PeerOptions, startPeer } from '../../support/peer.ts';
import { blocksOf, readReadme } from '../../support/repository/readme.ts';

for (const name of protocolNames())
  test(`the description ${name} has no mistakes, and describes its purpose`, (t) => {
    const { compiled, mistakes } = compileDescription(name, readProtocol(name), { variables: {}, secrets: {} });
    t.deepEqual(mistakes, []);
    t.true(compiled!.about.length > 10);
  });

test('each description has a test in virtual time, which passes', async (t) => {
  const passed: string[] = [];
  for await (const { name, isPassed, timeline } of runFlowTests(['spec/connections/device/descriptions.json5'])) {
    t.true(isPassed, `${name}\n${timeline}`);
    passed.push(name);
  }
  t.deepEqual(passed.sort(), [...protocolNames()].sort());
});

test('the JSON Schema accepts every built-in description, and refuses a misspelt word', (t) => {
  const validate = new Ajv2020({ strict: false }).compile(descriptionJsonSchema());
  for (const name of protocolNames()) {
    const { data } = readJson5(readProtocol(name));
    t.true(validate(data), `${name}: ${JSON.stringify(validate.errors)}`);
    t.false(validate({ ...(data as object), paramters: {} }));
  }
});

test('no question of a built-in description takes the answer to a write, such as OK, for a value', (t) => {
  for (const name of protocolNames()) {
    const { families } = compileDescription(name, readProtocol(name), { variables: {}, secrets: {} }).compiled!;
    const answers = families.flatMap(({ write }) => [...(write?.replies ?? [])].map(({ text }) => text));
    const constant = answers.filter((text) => !text.startsWith('{') && !/[{}]/.test(text));
    for (const { name: id, ask } of families)
      for (const text of constant)
        for (const { matcher, family } of ask?.reads ?? [])
          t.is(family.type === 'T' ? undefined : matcher.match(new Message(text)), undefined, `${name} ${id}: ${text}`);
  }
});

async function start(t: ExecutionContext, settings: object): Promise<HubUnderTest> {
  const hub = await startTestHub(t, { connections: { it: { type: 'device', ...settings } } });
  await hub.logged(/^connection "it" is running$/);
  return hub;
}

function has(t: ExecutionContext, hub: HubUnderTest, expected: Record<string, Value | undefined>): void {
  for (const [id, value] of Object.entries(expected)) t.is(hub.find(`it/${id}`)?.value, value, id);
}

/** Writes, and waits until the device has said the value. */
async function sets(hub: HubUnderTest, written: Record<string, Value>): Promise<void> {
  for (const [id, value] of Object.entries(written)) {
    hub.write(`it/${id}`, value, writer);
    await eventually(() => hub.find(`it/${id}`)!.value === value, `${id} = ${value}`);
  }
}

/** A hub with a peer over TCP, which sends a byte at a time. */
async function startTcp(t: ExecutionContext, protocol: string, options: PeerOptions, more: object = {}) {
  const peer = await startPeer(t, { pieceBytes: 1, ...options });
  const hub = await start(t, { tcp: `127.0.0.1:${peer.port}`, protocol, ...more });
  return { peer, hub };
}

test('PJLink: a password is sent as a digest, a busy projector is asked again, each link ends', async (t) => {
  let power = '0';
  let busy = 2;
  const digest = createHash('md5').update('498e4a67JBMIAProjectorLink').digest('hex');
  const answers: Record<string, () => string> = {
    '%1POWR ?': () => `%1POWR=${power}`,
    '%1POWR 1': () => {
      if (busy-- > 0) return '%1POWR=ERR3';
      power = '3';
      return '%1POWR=OK';
    },
    '%1INPT ?': () => '%1INPT=31',
    '%1AVMT ?': () => '%1AVMT=30',
    '%1LAMP ?': () => '%1LAMP=12000 1 8500 0',
    '%1ERST ?': () => '%1ERST=000000',
  };
  const { hub, peer } = await startTcp(
    t,
    'pjlink',
    {
      greeting: () => 'PJLINK 1 498e4a67\r',
      end: '\r',
      answer(request) {
        const command = request.replace(/^[\da-f]{32}/, '');
        if (request !== command && !request.startsWith(digest)) return 'PJLINK ERRA\r';
        return `${answers[command]?.() ?? `${command.slice(0, 6)}=ERR1`}\r`;
      },
    },
    { secrets: { password: 'JBMIAProjectorLink' }, variables: { lamps: 2 } },
  );
  has(t, hub, { power: 0, input: '31', mute: '30', 'lamp/1/hours': 12_000, 'lamp/2/hours': 8500, errors: '000000' });
  hub.write('it/power', 'on', writer);
  await eventually(() => hub.find('it/power')!.value === 3);
  t.is(peer.received.match(/%1POWR 1/g)?.length, 3);
  t.throws(() => hub.write('it/power', 7, writer), { code: 'out-of-range' });
});

test('PJLink: a wrong password is reported in a sentence, and not tried again and again', async (t) => {
  const peer = await startPeer(t, { greeting: () => 'PJLINK 1 00000000\r', end: '\r', answer: () => 'PJLINK ERRA\r' });
  const settings = { tcp: `127.0.0.1:${peer.port}`, protocol: 'pjlink', secrets: { password: 'wrong' } };
  const hub = await startTestHub(t, { connections: { it: { type: 'device', ...settings } } });
  await hub.logged(/^connection "it" is degraded: .*: the projector refuses the password: set secrets\.password$/);
  t.is(peer.received.match(/%1/g)?.length, 1);
});

test('Shure ULX-D: values with offsets and braces, unknown ones, and unsolicited ones', async (t) => {
  let gain = '030';
  const { hub, peer } = await startTcp(t, 'shure-ulxd', {
    end: '>',
    answer(request) {
      const [, verb, channel, what, value] = /< (GET|SET) (?:(\d) )?([A-Z_]+)(?: (.*))? $/.exec(request) ?? [];
      if (verb === 'SET' && what === 'AUDIO_GAIN') gain = value!;
      const values: Record<string, string> = {
        MODEL: '{ULXD4Q                          }',
        CHAN_NAME: '{Vox 1   }',
        AUDIO_GAIN: gain,
        AUDIO_MUTE: 'OFF',
        FREQUENCY: '578350',
        TX_TYPE: 'ULXD2',
        BATT_BARS: channel === '2' ? '255' : '004',
        BATT_RUN_TIME: channel === '2' ? '65535' : '00125',
      };
      if (what === 'ALL') return '< REP 1 AUDIO_MUTE OFF >';
      if (what === undefined || values[what] === undefined) return '< REP ERR >';
      return `< REP ${channel === undefined ? '' : `${channel} `}${what} ${values[what]} >`;
    },
  });
  has(t, hub, {
    model: 'ULXD4Q',
    'ch/1/name': 'Vox 1',
    'ch/1/gain': 12,
    'ch/1/muted': false,
    'ch/1/frequency': 578.35,
  });
  has(t, hub, { 'ch/1/battery/bars': 4, 'ch/1/battery/minutes': 125, 'ch/2/battery/bars': undefined });
  await sets(hub, { 'ch/1/gain': -18 });
  t.is(gain, '000');
  peer.send('noise< REP 3 AUDIO_MUTE ON >< SAMPLE 3 ALL AX 098 040 >');
  await eventually(() => hub.find('it/ch/3/muted')!.value === true);
  await eventually(() => hub.find('it/ch/3/audio-level')!.value === 40);
  has(t, hub, { 'ch/3/rf-level': -30, 'ch/3/audio-level': 40 });
  t.throws(() => hub.write('it/ch/1/name', 'a > b', writer), { code: 'out-of-range' });
});

test('vMix: a tally is a digit of each input, and the requested state confirms a function', async (t) => {
  let active = '1';
  const { hub, peer } = await startTcp(t, 'vmix', {
    greeting: () => 'VERSION OK 26.0.0.44\r\n',
    end: '\r\n',
    answer(request) {
      if (request === 'SUBSCRIBE TALLY') return 'SUBSCRIBE OK TALLY\r\n';
      if (request === 'SUBSCRIBE ACTS') return 'SUBSCRIBE OK ACTS\r\n';
      if (request === 'TALLY') return 'TALLY OK 1200\r\n';
      if (request === 'XML') {
        const document =
          '<vmix><version>26.0.0.44</version><inputs><input number="1" title="&lt;active&gt;7&lt;/active&gt;">two\r\nlines</input></inputs>' +
          `<overlays><overlay number="1"/></overlays><preview>2</preview><active>${active}</active><fadeToBlack>False</fadeToBlack>` +
          '<recording duration="12">False</recording><external>True</external><streaming>True</streaming>' +
          '<mix number="2"><preview>8</preview><active>9</active></mix></vmix>';
        return `XML ${document.length + 2}\r\n${document}\r\n`;
      }
      const [, input] = /^FUNCTION CutDirect Input=(\d+)$/.exec(request) ?? [];
      if (input === undefined) return 'FUNCTION ER unknown function\r\n';
      active = input;
      return 'FUNCTION OK Completed\r\n';
    },
  });
  has(t, hub, { version: '26.0.0.44', program: 1, preview: 2, recording: false, streaming: true });
  has(t, hub, { 'input/1/tally': 1, 'input/2/tally': 2, 'input/3/tally': 0, 'input/5/tally': undefined });
  await sets(hub, { program: 4 });
  peer.send('TALLY OK 0001\r\nACTS OK Recording 1\r\n');
  await eventually(() => hub.find('it/input/4/tally')!.value === 1);
  await eventually(() => hub.find('it/recording')!.value === true);
});

test('LWRP: texts in quotes, and pins that are letters', async (t) => {
  let pins = 'hhhhh';
  const { hub, peer } = await startTcp(t, 'lwrp', {
    end: '\n',
    answer(request) {
      if (request === 'VER') return 'VER LWRP:1.1 DEVN:"Node, \\"A\\"" SYSV:1.3.2d NSRC:8 NDST:8 NGPI:8 NGPO:8\n';
      if (request === 'SRC') return 'SRC 1 PSNM:"Mic" FASM:0 RTPE:1 RTPA:"239.192.0.1"\nSRC 2 PSNM:"CD" FASM:0\n';
      if (request === 'DST') return 'DST 1 NAME:"Out" ADDR:"239.192.0.7" NCHN:2\n';
      if (request === 'ADD GPI') return 'GPI 1 hhhhh\nGPI 2 hlhhh\n';
      if (request === 'ADD GPO') return `GPO 1 ${pins}\n`;
      const [, port, wanted] = /^GPO (\d+) ([hlx]{5})$/.exec(request) ?? [];
      if (port !== '1' || wanted === undefined) return undefined;
      pins = [...wanted].map((pin, index) => (pin === 'x' ? pins[index]! : pin)).join('');
      return `GPO 1 ${pins}\n`;
    },
  });
  await eventually(() => hub.find('it/gpo/1/1')!.value === false);
  has(t, hub, {
    device: 'Node, "A"',
    'src/2/name': 'CD',
    'dst/1/address': '239.192.0.7',
    'gpi/2/2': true,
    'gpi/2/3': false,
  });
  await sets(hub, { 'gpo/1/3': true, 'gpo/1/1': true });
  t.is(pins, 'lhlhh');
  peer.send('GPI 1 hhhhL\n');
  await eventually(() => hub.find('it/gpi/1/5')!.value === true);
});

test('Extron SIS: telnet commands are refused, ties are set, errors are reported', async (t) => {
  const ties = [0, 3, 0, 0, 0, 0, 0, 0, 0];
  const { hub, peer } = await startTcp(t, 'extron-sis', {
    greeting: () => '\xff\xfb\x01(c) Copyright 2009, Extron Electronics, DXP 88, V1.00\r\n',
    end: '\r\n',
    answer(request) {
      const command = request.replace(/\xff[\xfb-\xfe]./g, '');
      if (command === 'W3CV') return 'Vrb3\r\n';
      if (command === 'Q') return 'Ver01*1.05\r\n';
      const [, output, sign] = /^(\d)([%BV])$/.exec(command) ?? [];
      if (sign === '%') return `Out0${output} In0${ties[Number(output)]} All\r\n`;
      if (sign === 'B') return `Vmt${output}*0\r\n`;
      if (sign === 'V') return `Out0${output} Vol30\r\n`;
      const [, input, to] = /^(\d)\*(\d)!$/.exec(command) ?? [];
      if (input === undefined) return 'E10\r\n';
      ties[Number(to)] = Number(input);
      return `Out0${to} In0${input} All\r\n`;
    },
  });
  has(t, hub, { firmware: '1.05', 'out/1': 3, 'out/1/muted': false, 'out/2/volume': 30 });
  await sets(hub, { 'out/2': 5 });
  t.true(peer.received.includes('\xff\xfe\x01'));
  hub.write('it/out/2/volume', 20, writer);
  await hub.logged(/^cannot set out\/2\/volume: the device reported: E10$/);
  has(t, hub, { 'out/2/volume': 30 });
});

test('Kramer 3000: routes are read and set', async (t) => {
  const routes = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const { hub } = await startTcp(t, 'kramer-3000', {
    end: '\r',
    answer(request) {
      if (request === '#') return '~01@ OK\r\n';
      if (request === '#MODEL?') return '~01@MODEL VS-88UT\r\n';
      const [, name, out] = /^#(ROUTE|AUD-LVL)\? 1,(\d)$/.exec(request) ?? [];
      if (name === 'ROUTE') return `~01@ROUTE 1,${out},${routes[Number(out)]}\r\n`;
      if (name === 'AUD-LVL') return `~01@AUD-LVL ERR002\r\n`;
      if (request.startsWith('#VMUTE? ')) return `~01@VMUTE ${request.at(-1)},0\r\n`;
      const [, to, input] = /^#ROUTE 1,(\d),(\d)$/.exec(request) ?? [];
      if (to === undefined) return '~01@ ERR001\r\n';
      routes[Number(to)] = Number(input);
      return `~01@ROUTE 1,${to},${input}\r\n`;
    },
  });
  has(t, hub, { model: 'VS-88UT', 'out/3': 3, 'out/3/muted': false, 'out/3/level': undefined });
  await sets(hub, { 'out/3': 8 });
});

test('NMEA: a sentence with a wrong checksum is ignored, an empty field is unknown', async (t) => {
  const sentence = (text: string) => {
    const sum = [...text].reduce((all, character) => all ^ character.charCodeAt(0), 0);
    return `$${text}*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`;
  };
  const { hub, peer } = await startTcp(t, 'nmea', {
    greeting: () =>
      sentence('GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W') +
      sentence('GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,'),
    end: '\n',
    answer: () => undefined,
  });
  await eventually(() => hub.find('it/altitude')!.value === 545.4);
  has(t, hub, { valid: true, utc: '123519', speed: 22.4, course: 84.4, satellites: 8 });
  t.is(Number(hub.find('it/latitude')!.value).toFixed(4), '48.1173');
  t.is(Number(hub.find('it/longitude')!.value).toFixed(4), '11.5167');
  peer.send('$GPHDT,99.9,T*00\r\n$GPHDT,123.456,T*32\r\n');
  await eventually(() => hub.find('it/heading')!.value === 123.456);
  peer.send(sentence('GPRMC,123520,V,,,,,,,230394,,'));
  await eventually(() => hub.find('it/latitude')!.value === undefined);
  has(t, hub, { valid: false, utc: '123520' });
});

test('SW-P-08: each message is acknowledged, a damaged one is refused, and a refused one is sent again', async (t) => {
  const sources = Array.from({ length: 200 }, (_, n) => n);
  const received: string[] = [];
  let refusals = 1;
  const frame = (...data: number[]) => {
    const sum = (0x200 - data.reduce((all, byte) => all + byte, data.length)) & 0xff;
    const stuffed = [...data, data.length, sum & 0xff].flatMap((byte) => (byte === 0x10 ? [byte, byte] : [byte]));
    return Buffer.from([0x10, 0x02, ...stuffed, 0x10, 0x03]).toString('latin1');
  };
  const { hub } = await startTcp(
    t,
    'sw-p-08',
    {
      end: '\x10\x03',
      findEnd(unread) {
        for (let at = 0; at + 1 < unread.length; at++)
          if (unread[at] === '\x10' && unread[++at] === '\x03') return at - 1;
        return -1;
      },
      answer(request) {
        let begin = 0;
        while (request[begin] === '\x10' && request[begin + 1] !== '\x02') begin += 2;
        const acknowledged = request.slice(begin);
        for (const one of request.slice(0, request.length - acknowledged.length).match(/../gs) ?? [])
          received.push(one);
        const bytes = [...acknowledged.slice(2).replaceAll('\x10\x10', '\x10')].map((one) => one.charCodeAt(0));
        const [command, level, times = 0, low = 0, source = 0] = bytes;
        if (refusals-- > 0) return '\x10\x15';
        const output = ((times >> 4) & 7) * 128 + low;
        if (command === 2) sources[output] = (times & 7) * 128 + source;
        const now = sources[output]!;
        const answer = frame(command === 2 ? 4 : 3, level!, (times & 0x70) | (now >> 7), low, now & 127);
        return `\x10\x06${answer}`;
      },
    },
    { variables: { outputs: 150 } },
  );
  has(t, hub, { 'out/0': 0, 'out/16': 16, 'out/149': 149 });
  await sets(hub, { 'out/16': 144, 'out/140': 16 });
  t.is(sources[140], 16);
  t.true(received.length > 150);
  t.deepEqual([...new Set(received)], ['\x10\x06']);
});

test('SW-P-08: the answer for output 133 does not answer for output 5, which has the same low byte', (t) => {
  const given = { variables: { outputs: 150 }, secrets: {} };
  const { compiled } = compileDescription('sw-p-08', readProtocol('sw-p-08'), given);
  const { ask, write } = compiled!.families.find(({ name }) => name.startsWith('out/'))!;
  for (const [command, matcher] of [['\x03', ask!.replies[0]!] as const, ['\x04', write!.replies[0]!] as const]) {
    const of133 = new Message(`${command}\0\x11\x05\x07`);
    t.not(matcher.match(of133, new Map([['n', 133]])), undefined);
    t.is(matcher.match(of133, new Map([['n', 5]])), undefined);
  }
});

test('VISCA over IP: bytes in datagrams with a sequence number', async (t) => {
  const camera = createSocket('udp4');
  t.teardown(() => camera.close());
  let zoom = [0, 1, 2, 3];
  let lost = 1;
  camera.on('message', (bytes, { port }) => {
    const [header, id, payload] = [bytes.subarray(0, 4), bytes.subarray(4, 8), bytes.subarray(8).toString('hex')];
    const answer = (...data: number[]) =>
      camera.send(Buffer.from([1, 0x11, 0, data.length, ...id, ...data]), port, '127.0.0.1');
    if (header[0] === 2) camera.send(Buffer.from([2, 1, 0, 1, ...id, 1]), port, '127.0.0.1');
    else if (lost-- > 0) return;
    else if (payload === '81090400ff') answer(0x90, 0x50, 2, 0xff);
    else if (payload === '81090438ff') answer(0x90, 0x60, 2, 0xff);
    else if (payload === '81090447ff') answer(0x90, 0x50, ...zoom, 0xff);
    else if (payload.startsWith('81010447')) {
      zoom = [...bytes.subarray(12, 16)];
      answer(0x90, 0x41, 0xff);
      answer(0x90, 0x51, 0xff);
    } else answer(0x90, 0x61, 0x41, 0xff);
  });
  camera.bind(0, '127.0.0.1');
  await once(camera, 'listening');
  const hub = await start(t, { udp: `127.0.0.1:${camera.address().port}`, protocol: 'visca-ip' });
  has(t, hub, { power: true, zoom: 0x0123, 'auto-focus': undefined });
  await sets(hub, { zoom: 0x1abc });
});

test('an AHM mixer as the page describes it: notes with running status, amid active sensing', async (t) => {
  const { text } = blocksOf(readReadme('docs/devices.md')).find((block) => block.text.includes('// ahm.device.json5'))!;
  const muted = Array.from({ length: 64 }, (_, n) => n === 2);
  const peer = await startPeer(t, {
    pieceBytes: 1,
    end: '\xf7',
    findEnd: (unread) => (unread[0] === '\xf0' ? unread.indexOf('\xf7') : unread.length >= 6 ? 5 : -1),
    answer(request) {
      if (request[0] === '\x90') {
        muted[request.charCodeAt(1)] = request[2] === '\x7f';
        return undefined;
      }
      const n = request.at(-1)!;
      return `\xfe\x90${n}\xfe${muted[n.charCodeAt(0)] ? '\x7f' : '\x3f'}${n}\x00`;
    },
  });
  const hub = await startHubFrom(t, {
    'flow.json5': {
      connections: { it: { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: './ahm.device.json5' } },
    },
    'ahm.device.json5': text,
  });
  await hub.logged(/^connection "it" is running$/);
  has(t, hub, { 'in/1/muted': false, 'in/3/muted': true, 'in/64/muted': false });
  await sets(hub, { 'in/64/muted': true, 'in/3/muted': false });
  t.deepEqual([muted[63], muted[2]], [true, false]);
  peer.send('\x90\x00\x7f\x00\x00');
  await eventually(() => hub.find('it/in/1/muted')!.value === true);
});

test('a device that answers with a prompt, as the page describes it', async (t) => {
  const { text } = blocksOf(readReadme('docs/devices.md')).find((block) => block.text.includes("prompt: 'GNET> '"))!;
  let volume = 7;
  const peer = await startPeer(t, {
    pieceBytes: 1,
    greeting: () => 'Welcome\r\nGNET> ',
    end: '\r\n',
    answer(request) {
      const [, value] = /^set volume (\d+)$/.exec(request) ?? [];
      if (value !== undefined) volume = Number(value);
      return value === undefined ? `${request}\r\nvolume ${volume}\r\nGNET> ` : `${request}\r\nGNET> `;
    },
  });
  const hub = await startHubFrom(t, {
    'flow.json5': {
      connections: { it: { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: './it.device.json5' } },
    },
    'it.device.json5': text,
  });
  await hub.logged(/^connection "it" is running$/);
  await eventually(() => hub.find('it/volume')!.value === 7);
  await sets(hub, { volume: 30 });
  t.is(volume, 30);
});

test('OBS: a password is sent as a digest, inputs are discovered, requested, and withdrawn', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  t.teardown(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  await once(server, 'listening');
  const sha = (text: string) => createHash('sha256').update(text).digest('base64');
  const inputs = new Map([['Mic', { muted: false, db: -3 }]]);
  let scene = 'Start';
  const send = (op: number, d: object) => {
    for (const client of server.clients) client.send(JSON.stringify({ op, d }));
  };
  const event = (eventType: string, eventData: object) => send(5, { eventType, eventIntent: 1, eventData });
  server.on('connection', (client) => {
    client.send(JSON.stringify({ op: 0, d: { rpcVersion: 1, authentication: { challenge: 'ch', salt: 'sa' } } }));
    client.on('message', (text) => {
      const { op, d } = JSON.parse(String(text));
      if (op === 1) {
        if (d.authentication === sha(`${sha('secret-wordsa')}ch`)) send(2, { negotiatedRpcVersion: 1 });
        else client.close(4009, 'Authentication failed.');
        return;
      }
      const { requestType, requestId, requestData = {} } = d;
      const input = inputs.get(requestData.inputName);
      const answer = (responseData?: object, code = 100) =>
        send(7, { requestType, requestId, requestStatus: { result: code === 100, code }, responseData });
      if (requestType === 'GetVersion') answer({ obsVersion: '29.0.2' });
      else if (requestType === 'GetInputList')
        answer({ inputs: [...inputs.keys(), 'Picture'].map((inputName) => ({ inputName, inputKind: 'x' })) });
      else if (requestType === 'GetCurrentProgramScene') answer({ currentProgramSceneName: scene });
      else if (requestType === 'SetCurrentProgramScene') {
        scene = requestData.sceneName;
        event('CurrentProgramSceneChanged', { sceneName: scene });
        answer();
      } else if (/^Get(Stream|Record)Status$/.test(requestType)) answer({ outputActive: false });
      else if (requestData.inputName === 'Picture') answer(undefined, 604);
      else if (requestType === 'GetInputMute') answer({ inputMuted: input!.muted });
      else if (requestType === 'GetInputVolume') answer({ inputVolumeMul: 0.7, inputVolumeDb: input!.db });
      else if (requestType === 'SetInputMute') {
        input!.muted = requestData.inputMuted;
        answer();
        event('InputMuteStateChanged', { inputName: requestData.inputName, inputMuted: input!.muted });
      } else answer(undefined, 204);
    });
  });
  const { port } = server.address() as { port: number };
  const expect = ['input/Mic/muted,B'];
  const settings = { type: 'device', ws: `ws://127.0.0.1:${port}`, protocol: 'obs', expect };
  const hub = await startTestHub(t, {
    connections: {
      it: { ...settings, secrets: { password: 'secret-word' } },
      wrong: { ...settings, secrets: { password: 'other-word' } },
      desk: { type: 'dummy', parameters: ['lamp,B'] },
    },
    rules: [{ from: 'it/input/Mic/muted', to: 'desk/lamp' }],
  });
  await hub.logged(/^connection "it" is running$/);
  await hub.logged(
    /^connection "wrong" is degraded: .*: OBS refuses the password: set secrets\.password to the one in/,
  );
  has(t, hub, { scene: 'Start', streaming: false, recording: false });
  await eventually(() => hub.find('it/input/Mic/volume')?.value === -3);
  has(t, hub, { 'input/Mic/muted': false });
  t.is(hub.find('it/input/Picture/muted'), undefined, 'it has no sound');
  await sets(hub, { scene: 'Live {1}', 'input/Mic/muted': true });
  t.is(hub.find('desk/lamp')!.value, true);
  inputs.set('Guest', { muted: true, db: 0 });
  event('InputCreated', { inputName: 'Guest' });
  await eventually(() => hub.find('it/input/Guest/muted')?.value === true);
  inputs.delete('Guest');
  event('InputRemoved', { inputName: 'Guest' });
  await eventually(() => hub.find('it/input/Guest/muted') === undefined);
  inputs.delete('Mic');
  event('InputRemoved', { inputName: 'Mic' });
  await eventually(() => hub.find('it/input/Mic/muted')!.value === undefined, 'what is expected stays, unknown');
  t.throws(() => hub.write('it/input/Mic/muted', true, writer), { code: 'unavailable' });
  t.is(statusOf(hub, 'it').state, 'running');
});
