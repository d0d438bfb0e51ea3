// Five kinds of routers. First those that answer badly: answers cut, glued, with garbage between, late, lost, doubled, in another order. Then
// 400 crosspoints that are set in one turn, at routers whose side has Nagle's algorithm on: what a router writes in a second piece stays there
// until the first piece is acknowledged, which takes 40 ms unless the hub has something to send. One command after the other would take 16 s.

import test, { type ExecutionContext } from 'ava';
import type { Value } from '../../../lib/model/value.ts';
import { eventually } from '../../support/deadline.ts';
import { startTestHub, statusOf, writer } from '../../support/hub.ts';
import { type Peer, type PeerOptions, startPeer } from '../../support/peer.ts';

const count = 400;
const limitMs = 8000; // 300 on a machine that does nothing else

interface Router extends Pick<PeerOptions, 'greeting' | 'end' | 'findEnd' | 'answer'> {
  /** The variables of the description. */
  readonly variables: Readonly<Record<string, number>>;
  /** The number of the first output, and the parameter of an output. */
  readonly first: number;
  readonly id: (output: number) => string;
  /** What is set at an output. */
  readonly value: (output: number) => number | string;
  /** A message that the hub does not understand. */
  readonly garbage: string;
}

/** Notes what is set at an output of the router. */
type NoteSet = (output: number, value: Value) => void;

const outputs = (first: number) => Array.from({ length: count }, (_, index) => first + index);

function videohub(noteSet: NoteSet = () => {}): Router {
  const block = (head: string, lines: readonly string[]) => `${head}:\n${lines.map((line) => `${line}\n`).join('')}\n`;
  const zeros = outputs(0).map((output) => `${output} 0`);
  return {
    variables: { inputs: count, outputs: count },
    first: 0,
    id: (output) => `out/${output}`,
    value: (output) => count - output,
    greeting: () => block('VIDEOHUB DEVICE', ['Model name: Hub']) + block('VIDEO OUTPUT ROUTING', zeros),
    end: '\n\n',
    garbage: 'GARBAGE:\n7 x\n\n',
    answer(request) {
      const [head, ...lines] = request.split('\n');
      if (head === 'VIDEO OUTPUT ROUTING:')
        for (const line of lines) noteSet(...(line.split(' ').map(Number) as [number, number]));
      return head === 'VIDEO OUTPUT ROUTING:' ? ['ACK\n\n', block('VIDEO OUTPUT ROUTING', lines)] : ['ACK\n\n'];
    },
  };
}

function swP08(noteSet: NoteSet = () => {}): Router {
  const frame = (...data: number[]) => {
    const sum = -data.reduce((all, byte) => all + byte, data.length) & 0xff;
    const stuffed = [...data, data.length, sum].flatMap((byte) => (byte === 0x10 ? [byte, byte] : [byte]));
    return Buffer.from([0x10, 0x02, ...stuffed, 0x10, 0x03]).toString('latin1');
  };
  const sources = outputs(0).map(() => 0);
  return {
    variables: { outputs: count },
    first: 0,
    id: (output) => `out/${output}`,
    value: (output) => (output * 7 + 1) % 1000,
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
      const output = ((times >> 4) & 7) * 128 + low;
      if (command === 2) {
        sources[output] = (times & 7) * 128 + source;
        noteSet(output, sources[output]!);
      }
      const now = sources[output] ?? 0;
      return ['\x10\x06', frame(command === 2 ? 4 : 3, level!, (times & 0x70) | (now >> 7), low, now & 127)];
    },
  };
}

function kramer(noteSet: NoteSet = () => {}): Router {
  const routes = outputs(0).map(() => 0);
  return {
    variables: { inputs: count, outputs: count },
    first: 1,
    id: (output) => `out/${output}`,
    value: (output) => count - output,
    end: '\r',
    garbage: '~01@ROUTE 1,x,\xff\r\n',
    answer(request) {
      if (request === '#') return '~01@ OK\r\n';
      if (request === '#MODEL?') return '~01@MODEL VS\r\n';
      const [, isAsked, output, input] = /^#ROUTE(\?)? 1,(\d+)(?:,(\d+))?$/.exec(request) ?? [];
      if (output === undefined) return `~01@${request.slice(1).split(/[? ]/)[0]} ERR002\r\n`;
      if (isAsked === undefined) {
        routes[Number(output)] = Number(input);
        noteSet(Number(output), Number(input));
      }
      return `~01@ROUTE 1,${output},${routes[Number(output)] ?? 0}\r\n`;
    },
  };
}

function extron(noteSet: NoteSet = () => {}): Router {
  const ties = outputs(0).map(() => 0);
  return {
    variables: { inputs: count, outputs: count },
    first: 1,
    id: (output) => `out/${output}`,
    value: (output) => count - output,
    end: '\r\n',
    garbage: 'Out\xff In Vid\r\n',
    answer(request) {
      if (request === 'W3CV') return 'Vrb3\r\n';
      if (request === 'Q') return 'Ver01*1.05\r\n';
      const [, input, output, sign] = /^(?:(\d+)\*)?(\d+)([!%])$/.exec(request) ?? [];
      if (output === undefined) return 'E10\r\n';
      if (sign === '!') {
        ties[Number(output)] = Number(input);
        noteSet(Number(output), Number(input));
      }
      return `Out${output} In${ties[Number(output)] ?? 0} All\r\n`;
    },
  };
}

function lwrp(noteSet: NoteSet = () => {}): Router {
  const addresses = new Map<number, string>();
  const line = (output: number) => `DST ${output} NAME:"Out" ADDR:"${addresses.get(output) ?? '239.192.0.0'}" NCHN:2\n`;
  return {
    variables: { destinations: count, sources: 1, ports: 1 },
    first: 1,
    id: (output) => `dst/${output}/address`,
    value: (output) => `239.192.1.${output}`,
    end: '\n',
    garbage: 'DST x "\xff\n',
    answer(request) {
      if (request === 'VER') return 'VER LWRP:1.1 DEVN:"Node" SYSV:1\n';
      if (request === 'SRC') return 'SRC 1 PSNM:"Mic" FASM:0\n';
      if (request === 'DST') return outputs(1).map(line);
      if (request.startsWith('ADD ')) return `${request.slice(4)} 1 hhhhh\n`;
      const [, output, address] = /^DST (\d+) ADDR:"(.*)"$/.exec(request) ?? [];
      if (output === undefined) return undefined;
      addresses.set(Number(output), address!);
      noteSet(Number(output), address!);
      return undefined;
    },
  };
}

const routers: Readonly<Record<string, (noteSet?: NoteSet) => Router>> = {
  videohub,
  'sw-p-08': swP08,
  'kramer-3000': kramer,
  'extron-sis': extron,
  lwrp,
};

/** What a bad router makes of its answers: what it sends, and after how many milliseconds. `number` counts the answers. */
const faults: Readonly<
  Record<string, (answer: string, number: number) => readonly (readonly [text: string, ms: number])[]>
> = {
  doubled: (answer) => [
    [answer, 0],
    [answer, 0],
  ],
  'in another order': (answer, number) => [[answer, 40 * (number % 3)]],
  'lost and late': (answer, number) => (number % 7 === 3 ? [] : [[answer, number % 5 === 2 ? 2300 : 0]]),
};

/** How many outputs are set while a router answers badly. */
const few = 12;

for (const [protocol, create] of Object.entries(routers)) {
  test(`answers that are cut, glued, or have garbage between them are read as they are: ${protocol}`, async (t) => {
    const { garbage } = create();
    await setBadly(t, protocol, create, (answer) => [[`${garbage}${answer}${garbage}${garbage}`, 0]], 1);
  });
  for (const [name, fault] of Object.entries(faults))
    test(`no value is wrong, no confirmed write lost and none sent twice where answers are ${name}: ${protocol}`, (t) =>
      setBadly(t, protocol, create, fault));
}

async function setBadly(
  t: ExecutionContext,
  protocol: string,
  create: (noteSet: NoteSet) => Router,
  fault: (typeof faults)[string],
  pieceBytes?: number,
): Promise<void> {
  const history = new Map<number, Value[]>();
  const {
    variables,
    first,
    id,
    value,
    garbage: _,
    answer,
    ...options
  } = create((output, set) => {
    history.set(output, [...(history.get(output) ?? []), set]);
  });
  let isBad = false;
  let number = 0;
  const peer: Peer = await startPeer(t, {
    ...options,
    ...(pieceBytes === undefined ? {} : { pieceBytes }),
    answer(request) {
      const answers = [answer(request) ?? []].flat();
      if (!isBad) return answers;
      for (const [text, ms] of answers.flatMap((one) => fault(one, number++))) setTimeout(() => peer.send(text), ms);
      return undefined;
    },
  });
  const small = Object.fromEntries(
    Object.entries(variables).map(([name, all]) => [name, name === 'inputs' ? all : few + first]),
  );
  const tcp = `127.0.0.1:${peer.port}`;
  const hub = await startTestHub(t, { connections: { it: { type: 'device', tcp, protocol, variables: small } } });
  await eventually(() => statusOf(hub, 'it').state === 'running', 'the router to be there');
  const addresses = outputs(first)
    .slice(0, few)
    .map((output) => [output, `it/${id(output)}`] as const);
  const initial = new Map(addresses.map(([output, address]) => [output, hub.find(address)!.value]));
  isBad = true;
  const confirmed: number[] = [];
  const settled = addresses.map(async ([output, address]) => {
    hub.write(address, value(output), writer);
    await hub.whenConfirmed(hub.find(address)!, 60_000).then(
      () => confirmed.push(output),
      () => {}, // refused, or not confirmed in time
    );
  });
  await Promise.all(settled);
  for (const [output, address] of addresses) {
    const set = history.get(output) ?? [];
    const now = hub.find(address)!.value;
    t.true(now === initial.get(output) || set.includes(now!), `${address}: ${now}, which the router never had`);
    if (confirmed.includes(output)) t.is(set.at(-1), value(output), `${address} is confirmed`);
    if (protocol !== 'sw-p-08') t.true(set.length <= 1, `${address} was sent ${set.length} times`); // which repeats by itself
  }
  t.log(`${confirmed.length} of ${few} confirmed`);
  if (pieceBytes !== undefined) t.is(confirmed.length, few);
}

for (const [protocol, create] of Object.entries(routers))
  test.serial(`400 crosspoints of one turn reach a router with Nagle's algorithm at once: ${protocol}`, (t) =>
    setAll(t, protocol, create()),
  );

async function setAll(t: ExecutionContext, protocol: string, router: Router): Promise<void> {
  const { variables, first, id, value, garbage: _, ...options } = router;
  const peer = await startPeer(t, { ...options, hasNagle: true });
  const hub = await startTestHub(t, {
    connections: { it: { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol, variables } },
  });
  await eventually(() => statusOf(hub, 'it').state === 'running', 'the router to be there');
  const addresses = outputs(first).map((output) => [`it/${id(output)}`, value(output)] as const);
  const startMs = performance.now();
  hub.turn(() => {
    for (const [address, wanted] of addresses) hub.write(address, wanted, writer);
  });
  await eventually(
    () =>
      addresses.every(
        ([address, wanted]) => hub.find(address)!.value === wanted && hub.find(address)!.wanted === undefined,
      ),
    'all crosspoints to be confirmed',
  );
  const tookMs = performance.now() - startMs;
  t.log(`${tookMs.toFixed(0)} ms`);
  t.true(tookMs < limitMs, `${tookMs} ms`);
}
