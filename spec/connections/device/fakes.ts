// A fake of each described device, written from the text of the maker's protocol alone. It has a state, which commands set, and remembers
// every value that a parameter has ever had and every command that it has carried out.

import { createHash } from 'node:crypto';
import type { Value } from '../../../lib/model/value.ts';

export interface Fake {
  readonly transport: 'tcp' | 'udp' | 'ws';
  readonly settings?: object;
  readonly state: FakeState;
  /** What it says to a client that has just connected. */
  readonly greeting?: () => string;
  /** What ends a request over TCP. */
  readonly end?: string;
  /** Where the end of a request begins, −1: nowhere; if omitted, where it is first. */
  readonly findEnd?: (unread: string) => number;
  /** The messages that answer a request, each in all of its lines. */
  readonly answer: (request: string) => readonly string[];
  /** What it sends unasked, again and again. */
  readonly talk?: () => readonly string[];
  /** A message that no client understands. */
  readonly garbage: string;
  /** Whether each line is a frame, so garbage may stand between the lines of an answer. */
  readonly hasLines?: boolean;
  /** The values that are set, in turn, by parameter. */
  readonly writes: Readonly<Record<string, readonly Value[]>>;
}

/** The state of a device, by Parameter ID. */
export class FakeState {
  readonly now: Map<string, Value>;
  readonly #had = new Map<string, Set<Value>>();
  readonly #commands = new Map<string, Value[]>();

  constructor(initial: Readonly<Record<string, Value>>) {
    this.now = new Map(Object.entries(initial));
    for (const [id, value] of this.now) this.#had.set(id, new Set([value]));
  }

  get(id: string): Value {
    return this.now.get(id)!;
  }

  text(id: string): string {
    return String(this.now.get(id));
  }

  /** Carries out a command. */
  command(id: string, value: Value): void {
    this.change(id, value);
    this.#commands.set(id, [...this.commandsOf(id), value]);
  }

  /** The device changes by itself. */
  change(id: string, value: Value): void {
    this.now.set(id, value);
    this.#had.get(id)!.add(value);
  }

  hasHad(id: string, value: Value | undefined): boolean {
    return value !== undefined && this.#had.get(id)!.has(value);
  }

  commandsOf(id: string): readonly Value[] {
    return this.#commands.get(id) ?? [];
  }
}

const numbers = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);
const each = (ids: readonly string[], value: Value) => Object.fromEntries(ids.map((id) => [id, value]));

// Routers, with so many inputs and outputs.

function videohub(count: number): Fake {
  const block = (head: string, lines: readonly string[]) => `${head}:\n${lines.map((line) => `${line}\n`).join('')}\n`;
  const outputs = numbers(0, count);
  const state = new FakeState(
    each(
      outputs.map((output) => `out/${output}`),
      0,
    ),
  );
  return {
    transport: 'tcp',
    settings: { variables: { inputs: count + 1, outputs: count } },
    state,
    greeting: () =>
      block('VIDEOHUB DEVICE', ['Model name: Hub']) +
      block(
        'VIDEO OUTPUT ROUTING',
        outputs.map((output) => `${output} ${state.get(`out/${output}`)}`),
      ),
    end: '\n\n',
    garbage: 'GARBAGE:\n7 x\n\n',
    answer(request) {
      const [head, ...lines] = request.split('\n');
      if (head !== 'VIDEO OUTPUT ROUTING:') return ['ACK\n\n'];
      for (const line of lines) {
        const [output, input] = line.split(' ');
        state.command(`out/${output}`, Number(input));
      }
      return ['ACK\n\n', block('VIDEO OUTPUT ROUTING', lines)];
    },
    writes: Object.fromEntries(outputs.map((output) => [`out/${output}`, [count - output]])),
  };
}

function swP08(count: number): Fake {
  const frame = (...data: number[]) => {
    const sum = -data.reduce((all, byte) => all + byte, data.length) & 0xff;
    const stuffed = [...data, data.length, sum].flatMap((byte) => (byte === 0x10 ? [byte, byte] : [byte]));
    return Buffer.from([0x10, 0x02, ...stuffed, 0x10, 0x03]).toString('latin1');
  };
  const outputs = numbers(0, count);
  const state = new FakeState(
    each(
      outputs.map((output) => `out/${output}`),
      0,
    ),
  );
  return {
    transport: 'tcp',
    settings: { variables: { outputs: count } },
    state,
    end: '\x10\x03',
    garbage: '\x01garbage\xff',
    findEnd(unread) {
      for (let at = 0; at + 1 < unread.length; at++)
        if (unread[at] === '\x10' && unread[++at] === '\x03') return at - 1;
      return -1;
    },
    answer(request) {
      let begin = 0;
      while (request[begin] === '\x10' && request[begin + 1] !== '\x02') begin += 2; // acknowledgements
      const message = request.slice(begin + 2).replaceAll('\x10\x10', '\x10');
      const [command, level, times = 0, low = 0, source = 0] = [...message].map((one) => one.charCodeAt(0));
      const id = `out/${((times >> 4) & 7) * 128 + low}`;
      if (command === 2) state.command(id, (times & 7) * 128 + source);
      const now = Number(state.now.get(id) ?? 0);
      return ['\x10\x06', frame(command === 2 ? 4 : 3, level!, (times & 0x70) | (now >> 7), low, now & 127)];
    },
    writes: Object.fromEntries(outputs.map((output) => [`out/${output}`, [(output * 7 + 1) % 1000]])),
  };
}

function kramer(count: number): Fake {
  const outputs = numbers(1, count);
  const state = new FakeState(
    each(
      outputs.map((output) => `out/${output}`),
      0,
    ),
  );
  return {
    transport: 'tcp',
    settings: { variables: { inputs: count, outputs: count } },
    state,
    end: '\r',
    garbage: '~01@ROUTE 1,x,\xff\r\n',
    answer(request) {
      if (request === '#') return ['~01@ OK\r\n'];
      if (request === '#MODEL?') return ['~01@MODEL VS\r\n'];
      const [, isAsked, output, input] = /^#ROUTE(\?)? 1,(\d+)(?:,(\d+))?$/.exec(request) ?? [];
      if (output === undefined) return [`~01@${request.slice(1).split(/[? ]/)[0]} ERR002\r\n`];
      if (isAsked === undefined) state.command(`out/${output}`, Number(input));
      return [`~01@ROUTE 1,${output},${state.get(`out/${output}`)}\r\n`];
    },
    writes: Object.fromEntries(outputs.map((output) => [`out/${output}`, [count - output]])),
  };
}

function extron(count: number): Fake {
  const outputs = numbers(1, count);
  const state = new FakeState(
    each(
      outputs.map((output) => `out/${output}`),
      0,
    ),
  );
  return {
    transport: 'tcp',
    settings: { variables: { inputs: count, outputs: count } },
    state,
    end: '\r\n',
    garbage: 'Out\xff In Vid\r\n',
    answer(request) {
      if (request === 'W3CV') return ['Vrb3\r\n'];
      if (request === 'Q') return ['Ver01*1.05\r\n'];
      const [, input, output, sign] = /^(?:(\d+)\*)?(\d+)([!%])$/.exec(request) ?? [];
      if (output === undefined) return ['E10\r\n'];
      if (sign === '!') state.command(`out/${output}`, Number(input));
      return [`Out${output} In${state.get(`out/${output}`)} All\r\n`];
    },
    writes: Object.fromEntries(outputs.map((output) => [`out/${output}`, [count - output]])),
  };
}

function lwrp(count: number): Fake {
  const outputs = numbers(1, count);
  const state = new FakeState(
    each(
      outputs.map((output) => `dst/${output}/address`),
      '239.192.0.0',
    ),
  );
  return {
    transport: 'tcp',
    settings: { variables: { destinations: count, sources: 1, ports: 1 } },
    state,
    end: '\n',
    garbage: 'DST x "\xff\n',
    answer(request) {
      if (request === 'VER') return ['VER LWRP:1.1 DEVN:"Node" SYSV:1\n'];
      if (request === 'SRC') return ['SRC 1 PSNM:"Mic" FASM:0\n'];
      if (request === 'DST')
        return outputs.map(
          (output) => `DST ${output} NAME:"Out" ADDR:"${state.get(`dst/${output}/address`)}" NCHN:2\n`,
        );
      if (request.startsWith('ADD ')) return [`${request.slice(4)} 1 hhhhh\n`];
      const [, output, address] = /^DST (\d+) ADDR:"(.*)"$/.exec(request) ?? [];
      if (output !== undefined) state.command(`dst/${output}/address`, address!);
      return [];
    },
    writes: Object.fromEntries(outputs.map((output) => [`dst/${output}/address`, [`239.192.1.${output}`]])),
  };
}

// Players, radios, projectors, mixers, cameras and receivers.

function mpd(): Fake {
  const state = new FakeState({ state: 'play', volume: 40, 'song/title': 'Blue', 'song/artist': 'Joni' });
  const verbs: Record<string, string> = { play: 'play', 'pause 1': 'pause', stop: 'stop' };
  let list: string[] | undefined;
  const linesOf = (request: string): string | undefined => {
    const [, volume] = /^setvol (\d+)$/.exec(request) ?? [];
    if (volume !== undefined) state.command('volume', Number(volume));
    else if (verbs[request] !== undefined) state.command('state', verbs[request]);
    else if (request === 'status')
      return `volume: ${state.get('volume')}\nrepeat: 0\nstate: ${state.get('state')}\nelapsed: 1.500\n`;
    else if (request === 'currentsong')
      return `file: a.ogg\nTitle: ${state.get('song/title')}\nArtist: ${state.get('song/artist')}\n`;
    else if (request !== 'ping') return undefined;
    return '';
  };
  return {
    transport: 'tcp',
    state,
    greeting: () => 'OK MPD 0.23.5\n',
    end: '\n',
    hasLines: true,
    garbage: 'garbage \xff: 7\n',
    answer(request) {
      if (request === 'command_list_begin') {
        list = [];
        return [];
      }
      if (request !== 'command_list_end' && list !== undefined) {
        list.push(request);
        return [];
      }
      const requests = list ?? [request];
      list = undefined;
      let lines = '';
      for (const [place, one] of requests.entries()) {
        const more = linesOf(one);
        if (more === undefined) return [`ACK [5@${place}] {} unknown command "${one}"\n`];
        lines += more;
      }
      return [`${lines}OK\n`];
    },
    writes: { volume: [55, 20], state: ['pause', 'stop'] },
  };
}

function rigctld(): Fake {
  const state = new FakeState({ frequency: 145_000_000, mode: 'FM', passband: 15_000, ptt: false });
  return {
    transport: 'tcp',
    state,
    end: '\n',
    hasLines: true,
    garbage: 'Garbage: \xff7\n',
    answer(request) {
      const [, name, value] = /^\+\\(\w+)(?: (.*))?$/.exec(request) ?? [];
      if (name === 'get_freq') return [`get_freq:\nFrequency: ${state.get('frequency')}\nRPRT 0\n`];
      if (name === 'get_mode')
        return [`get_mode:\nMode: ${state.get('mode')}\nPassband: ${state.get('passband')}\nRPRT 0\n`];
      if (name === 'get_ptt') return [`get_ptt:\nPTT: ${state.get('ptt') === true ? 1 : 0}\nRPRT 0\n`];
      if (name === 'set_freq') state.command('frequency', Number(value));
      else if (name === 'set_mode') state.command('mode', value!.split(' ')[0]!);
      else if (name === 'set_ptt') state.command('ptt', value === '1');
      else return ['RPRT -11\n'];
      return [`${name}: ${value}\nRPRT 0\n`];
    },
    writes: { frequency: [7_000_000, 14_074_000], mode: ['USB', 'CW'], ptt: [true] },
  };
}

function pjlink(): Fake {
  const state = new FakeState({ power: 0, input: '31', mute: '30', errors: '000000', 'lamp/1/hours': 12_000 });
  const ids: Record<string, string> = { POWR: 'power', INPT: 'input', AVMT: 'mute', ERST: 'errors' };
  const digest = createHash('md5').update('498e4a67secret-word').digest('hex');
  return {
    transport: 'tcp',
    settings: { secrets: { password: 'secret-word' } },
    state,
    greeting: () => 'PJLINK 1 498e4a67\r',
    end: '\r',
    garbage: '%1POWR\xff\r',
    answer(request) {
      const [, own = '', name, value] = /^([\da-f]{32})?%1(\w{4}) (.*)$/.exec(request) ?? [];
      if (own !== '' && own !== digest) return ['PJLINK ERRA\r'];
      if (name === 'LAMP') return [`%1LAMP=${state.get('lamp/1/hours')} 1\r`];
      const id = ids[name ?? ''];
      if (id === undefined) return [`%1${name}=ERR1\r`];
      if (value === '?') return [`%1${name}=${state.get(id)}\r`];
      state.command(id, id === 'power' ? Number(value) : value!);
      return [`%1${name}=OK\r`];
    },
    writes: { power: [1], input: ['32', '11'], mute: ['31', '11'] },
  };
}

function vmix(): Fake {
  const state = new FakeState({
    program: 1,
    preview: 2,
    recording: false,
    streaming: true,
    'fade-to-black': false,
    version: '26.0.0.44',
    'input/1/tally': 1,
    'input/2/tally': 2,
    'input/3/tally': 0,
    'input/4/tally': 0,
  });
  const word = (id: string) => (state.get(id) === true ? 'True' : 'False');
  const tally = () => `TALLY OK ${[1, 2, 3, 4].map((n) => state.get(`input/${n}/tally`)).join('')}\r\n`;
  const take = (program: number, preview: number) => {
    state.command('program', program);
    state.change('preview', preview);
    for (const n of [1, 2, 3, 4]) state.change(`input/${n}/tally`, n === program ? 1 : n === preview ? 2 : 0);
  };
  const functions: Record<string, (input: number) => void> = {
    CutDirect: (input) => take(input, Number(state.get('preview'))),
    PreviewInput: (input) => {
      state.command('preview', input);
      for (const n of [1, 2, 3, 4])
        state.change(`input/${n}/tally`, n === state.get('program') ? 1 : n === input ? 2 : 0);
    },
    StartRecording: () => state.command('recording', true),
    StopRecording: () => state.command('recording', false),
    StartStreaming: () => state.command('streaming', true),
    StopStreaming: () => state.command('streaming', false),
  };
  const document = () =>
    `<vmix><version>${state.get('version')}</version><edition>Pro</edition><inputs><input key="a" number="1" type="Blank" title="A &lt;active&gt;9&lt;/active&gt;">A</input>` +
    `</inputs><overlays><overlay number="1"/></overlays><preview>${state.get('preview')}</preview><active>${state.get('program')}</active>` +
    `<fadeToBlack>${word('fade-to-black')}</fadeToBlack><transitions><transition number="1" effect="Fade"/></transitions>` +
    `<recording duration="12">${word('recording')}</recording><external>True</external><streaming>${word('streaming')}</streaming>` +
    `<playList>True</playList><mix number="2"><preview>7</preview><active>8</active></mix></vmix>\r\n`;
  const paths: Record<string, () => string> = {
    version: () => state.text('version'),
    active: () => state.text('program'),
    preview: () => state.text('preview'),
    recording: () => word('recording'),
    streaming: () => word('streaming'),
    fadeToBlack: () => word('fade-to-black'),
  };
  return {
    transport: 'tcp',
    settings: { variables: { inputs: 4 } },
    state,
    greeting: () => 'VERSION OK 26.0.0.44\r\n',
    end: '\r\n',
    garbage: 'TALLY ER \xff\r\n',
    answer(request) {
      if (request === 'SUBSCRIBE TALLY') return ['SUBSCRIBE OK TALLY\r\n', tally()];
      if (request === 'SUBSCRIBE ACTS') return ['SUBSCRIBE OK ACTS\r\n'];
      if (request === 'TALLY') return [tally()];
      if (request === 'XML') return [`XML ${document().length}\r\n${document()}`];
      const [, path] = /^XMLTEXT vmix\/(\w+)$/.exec(request) ?? [];
      if (path !== undefined) return [`XMLTEXT OK ${paths[path]!()}\r\n`];
      const [, name, input] = /^FUNCTION (\w+)(?: Input=(\d+))?$/.exec(request) ?? [];
      functions[name!]?.(Number(input));
      if (name === 'CutDirect') return ['FUNCTION OK Completed\r\n', `ACTS OK Input ${input} 1\r\n`, tally()];
      return ['FUNCTION OK Completed\r\n'];
    },
    writes: { program: [4, 3], preview: [1, 4], recording: [true], streaming: [false] },
  };
}

function shure(): Fake {
  const channels = [1, 2];
  const initial = (n: number) => ({
    [`ch/${n}/name`]: `Vox ${n}`,
    [`ch/${n}/gain`]: 12,
    [`ch/${n}/muted`]: false,
    [`ch/${n}/frequency`]: 578.35,
    [`ch/${n}/transmitter`]: 'ULXD2',
    [`ch/${n}/battery/bars`]: 4,
    [`ch/${n}/battery/minutes`]: 125,
  });
  const state = new FakeState({ model: 'ULXD4D', ...initial(1), ...initial(2) });
  const reports: Record<string, (n: string) => string> = {
    CHAN_NAME: (n) => `{${state.text(`ch/${n}/name`).padEnd(8)}}`,
    AUDIO_GAIN: (n) => String(Number(state.get(`ch/${n}/gain`)) + 18).padStart(3, '0'),
    AUDIO_MUTE: (n) => (state.get(`ch/${n}/muted`) === true ? 'ON' : 'OFF'),
    FREQUENCY: () => '578350',
    TX_TYPE: () => 'ULXD2',
    BATT_BARS: () => '004',
    BATT_RUN_TIME: () => '00125',
  };
  const report = (n: string, what: string) => `< REP ${n} ${what} ${reports[what]!(n)} >`;
  return {
    transport: 'tcp',
    settings: { variables: { channels: 2 } },
    state,
    end: '>',
    garbage: 'noise > < REP 1 AUDIO_GAIN \xff >',
    answer(request) {
      const [, verb, n, what = '', value = ''] = /< (GET|SET) (?:(\d) )?([A-Z_]+)(?: (.*))? $/.exec(request) ?? [];
      if (what === 'MODEL') return ['< REP MODEL {ULXD4D                          } >'];
      if (what === 'ALL') return channels.flatMap((one) => Object.keys(reports).map((name) => report(`${one}`, name)));
      if (n === undefined || reports[what] === undefined) return ['< REP ERR >'];
      if (verb === 'SET' && what === 'AUDIO_GAIN') state.command(`ch/${n}/gain`, Number(value) - 18);
      if (verb === 'SET' && what === 'AUDIO_MUTE') state.command(`ch/${n}/muted`, value === 'ON');
      if (verb === 'SET' && what === 'CHAN_NAME') state.command(`ch/${n}/name`, value.slice(1, -1).trim());
      return [report(n, what)];
    },
    writes: { 'ch/1/gain': [-18, 42], 'ch/2/gain': [0, 1], 'ch/1/muted': [true], 'ch/2/name': ['Bass', 'Keys'] },
  };
}

function visca(): Fake {
  const state = new FakeState({ power: true, zoom: 0x0123, 'auto-focus': true });
  return {
    transport: 'udp',
    state,
    garbage: '\x01\x11\x00\x04\x00\x00\x00\x01\x90\x50\x03\x00',
    answer(request) {
      const bytes = Buffer.from(request, 'latin1');
      const [id, payload] = [bytes.subarray(4, 8), bytes.subarray(8).toString('hex')];
      const message = (...data: number[]) => Buffer.from([1, 0x11, 0, data.length, ...id, ...data]).toString('latin1');
      const is = (name: string) => (state.get(name) === true ? 2 : 3);
      const zoom = Number(state.get('zoom'));
      if (bytes[0] === 2) return [Buffer.from([2, 1, 0, 1, ...id, 1]).toString('latin1')];
      if (payload === '81090400ff') return [message(0x90, 0x50, is('power'), 0xff)];
      if (payload === '81090438ff') return [message(0x90, 0x50, is('auto-focus'), 0xff)];
      if (payload === '81090447ff')
        return [message(0x90, 0x50, zoom >> 12, (zoom >> 8) & 15, (zoom >> 4) & 15, zoom & 15, 0xff)];
      if (payload.startsWith('81010400')) state.command('power', payload[9] === '2');
      else if (payload.startsWith('81010438')) state.command('auto-focus', payload[9] === '2');
      else if (payload.startsWith('81010447'))
        state.command('zoom', Number.parseInt([9, 11, 13, 15].map((at) => payload[at]).join(''), 16));
      else return [message(0x90, 0x60, 2, 0xff)];
      return [message(0x90, 0x41, 0xff), message(0x90, 0x51, 0xff)];
    },
    writes: { zoom: [0x1abc, 0x2000], power: [false], 'auto-focus': [false] },
  };
}

function nmea(): Fake {
  const state = new FakeState({ utc: '123519', valid: true, altitude: 545.4, satellites: 8, heading: 100 });
  const sentence = (text: string) => {
    const sum = [...text].reduce((all, character) => all ^ character.charCodeAt(0), 0);
    return `$${text}*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`;
  };
  return {
    transport: 'tcp',
    state,
    end: '\n',
    garbage: '$GPHDT,99.9,T*00\r\n$GPRM\xff\r\n',
    answer: () => [],
    talk() {
      state.change('utc', String(Number(state.get('utc')) + 1));
      state.change('heading', Number(state.get('heading')) + 1);
      return [
        sentence(`GPRMC,${state.get('utc')},A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W`),
        sentence(`GPGGA,${state.get('utc')},4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,`),
        sentence(`GPHDT,${state.get('heading')},T`),
      ];
    },
    writes: {},
  };
}

function obs(): Fake {
  const state = new FakeState({
    scene: 'Start',
    streaming: false,
    recording: false,
    'input/Mic/muted': false,
    'input/Mic/volume': -3,
  });
  const sha = (text: string) => createHash('sha256').update(text).digest('base64');
  const wrap = (op: number, d: object) => JSON.stringify({ op, d });
  const event = (eventType: string, eventData: object) => wrap(5, { eventType, eventIntent: 1, eventData });
  return {
    transport: 'ws',
    settings: { secrets: { password: 'secret-word' } },
    state,
    greeting: () => wrap(0, { rpcVersion: 1, authentication: { challenge: 'ch', salt: 'sa' } }),
    garbage: '{"op":7,"d":{"requestStatus":{"result":true},"responseData":{"outputActive":true',
    answer(text) {
      const { op, d } = JSON.parse(text);
      if (op === 1)
        return d.authentication === sha(`${sha('secret-wordsa')}ch`) ? [wrap(2, { negotiatedRpcVersion: 1 })] : [];
      const { requestType, requestId, requestData = {} } = d;
      const answer = (responseData?: object, code = 100) =>
        wrap(7, { requestType, requestId, requestStatus: { result: code === 100, code }, responseData });
      const output = (id: string, name: string, isActive: boolean) => {
        state.command(id, isActive);
        return [answer(), event(`${name}StateChanged`, { outputActive: isActive, outputState: 'x' })];
      };
      switch (requestType) {
        case 'GetVersion':
          return [answer({ obsVersion: '29.0.2' })];
        case 'GetInputList':
          return [answer({ inputs: [{ inputName: 'Mic', inputKind: 'x' }] })];
        case 'GetCurrentProgramScene':
          return [answer({ currentProgramSceneName: state.get('scene') })];
        case 'GetStreamStatus':
          return [answer({ outputActive: state.get('streaming') })];
        case 'GetRecordStatus':
          return [answer({ outputActive: state.get('recording') })];
        case 'GetInputMute':
          return [answer({ inputMuted: state.get('input/Mic/muted') })];
        case 'GetInputVolume':
          return [answer({ inputVolumeMul: 1, inputVolumeDb: state.get('input/Mic/volume') })];
        case 'StartStream':
          return output('streaming', 'Stream', true);
        case 'StopStream':
          return output('streaming', 'Stream', false);
        case 'StartRecord':
          return output('recording', 'Record', true);
        case 'StopRecord':
          return output('recording', 'Record', false);
        case 'SetCurrentProgramScene':
          state.command('scene', requestData.sceneName);
          return [event('CurrentProgramSceneChanged', { sceneName: requestData.sceneName }), answer()];
        case 'SetInputMute':
          state.command('input/Mic/muted', requestData.inputMuted);
          return [answer(), event('InputMuteStateChanged', { inputName: 'Mic', inputMuted: requestData.inputMuted })];
        case 'SetInputVolume':
          state.command('input/Mic/volume', requestData.inputVolumeDb);
          return [
            answer(),
            event('InputVolumeChanged', { inputName: 'Mic', inputVolumeDb: requestData.inputVolumeDb }),
          ];
      }
      return [answer(undefined, 204)];
    },
    writes: {
      scene: ['Live', 'End'],
      streaming: [true],
      recording: [true],
      'input/Mic/muted': [true],
      'input/Mic/volume': [-6, -12],
    },
  };
}

/** The fakes of routers, by the name of their description. */
export const routers: Readonly<Record<string, (count: number) => Fake>> = {
  videohub,
  'sw-p-08': swP08,
  'kramer-3000': kramer,
  'extron-sis': extron,
  lwrp,
};

/** The fakes of all other devices. */
export const others: Readonly<Record<string, () => Fake>> = {
  mpd,
  rigctld,
  obs,
  pjlink,
  vmix,
  'shure-ulxd': shure,
  'visca-ip': visca,
  nmea,
};
