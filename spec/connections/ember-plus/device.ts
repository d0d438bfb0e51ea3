// A process that plays an Ember+ provider, with the servers of emberplus-connection and node-emberplus, which others have written.
// 1.1 has a parameter of each type, 1.2 channels, 1.3 a matrix, 1.4 meters, 1.5 a function. `limited` accepts no value above 100.

import { createRequire } from 'node:module';

/** What the process is told at its start. */
export interface DeviceTask {
  readonly port: number;
  readonly package?: 'emberplus-connection' | 'node-emberplus';
  /** How many channels there are, each of them a node with two parameters. */
  readonly channels?: number;
  /** How many targets and sources the matrix has. */
  readonly signals?: number;
  readonly meters?: number;
  /** The first channel; a device that comes back in another shape has others. */
  readonly firstChannel?: number;
  /** Whether nodes report that they are online. */
  readonly reportsOnline?: boolean;
}

/** What it is told later. */
export type DeviceMessage =
  | { readonly set: readonly [path: string, value: unknown] }
  | { readonly connect: readonly [target: number, source: number] }
  | { readonly online: readonly [path: string, isOnline: boolean] }
  | { readonly add: readonly [parent: string, number: number, identifier: string] }
  | { readonly streamsPerSecond: number }
  | 'written';

// biome-ignore lint/suspicious/noExplicitAny: the packages have types of their own, which the specs do not need
type Any = any;
const require = createRequire(import.meta.url);

/** How many channels a node of channels has. */
const perGroup = 100;

if (process.send !== undefined) {
  process.once('disconnect', () => process.exit());
  process.once('message', (task: DeviceTask) => {
    const play = task.package === 'node-emberplus' ? playSecond : playFirst;
    void play(task).then((told) => {
      process.on('message', (message: DeviceMessage) => told(message));
      process.send!('ready');
    });
  });
}

async function playFirst(task: DeviceTask): Promise<(message: DeviceMessage) => void> {
  const { EmberServer, Model, Types, berEncode }: Any = require('emberplus-connection');
  const { ParameterType, ParameterAccess } = Model;
  const written: string[] = [];
  const online = task.reportsOnline === true ? true : undefined;
  const node = (number: number, identifier: string, children: Any[]) =>
    new Model.NumberedTreeNodeImpl(
      number,
      new Model.EmberNodeImpl(identifier, undefined, undefined, online),
      Object.fromEntries(children.map((child) => [child.number, child])),
    );
  const parameter = (number: number, type: Any, identifier: string, value: unknown, more: object = {}) => {
    const contents = new Model.ParameterImpl(type, identifier, undefined, value);
    return new Model.NumberedTreeNodeImpl(
      number,
      Object.assign(contents, { access: ParameterAccess.ReadWrite, ...more }),
    );
  };
  const { Integer, Real, String: Text, Boolean: Flag, Enum, Octets } = ParameterType;
  const all = node(1, 'all', [
    parameter(1, Integer, 'int', 7, { minimum: -1000, maximum: 1000, description: 'An integer', format: '%d ms' }),
    parameter(2, Real, 'real', -12.5, { minimum: -100, maximum: 100, format: '%.1f dB' }),
    parameter(3, Text, 'text', 'Grüße'),
    parameter(4, Flag, 'flag', true),
    parameter(5, Enum, 'mode', 1, { enumeration: 'off\non\nauto' }),
    parameter(6, Octets, 'bytes', Buffer.from('00ff', 'hex')),
    parameter(7, Integer, 'scaled', 250, { factor: 100, minimum: -1000, maximum: 1000 }),
    parameter(8, Integer, 'shown', 3, { access: ParameterAccess.Read }),
    parameter(9, Integer, 'limited', 50),
    parameter(10, Integer, 'silent', 1),
  ]);
  const { channels = 4, firstChannel = 1, signals = 4, meters = 0 } = task;
  const groups: Any[] = [];
  for (let at = 0; at < channels; at += perGroup)
    groups.push(
      node(
        at / perGroup + 1,
        `group-${at / perGroup + 1}`,
        Array.from({ length: Math.min(perGroup, channels - at) }, (_, index) => {
          const number = firstChannel + at + index;
          return node(index + 1, `ch-${number}`, [
            parameter(1, Real, 'gain', -number),
            parameter(2, Flag, 'mute', number % 2 === 0),
          ]);
        }),
      ),
    );
  const matrix = new Model.MatrixImpl('router', undefined, undefined, {}, 'Router', Model.MatrixType.OneToN);
  Object.assign(matrix, {
    ...{ addressingMode: Model.MatrixAddressingMode.Linear, targetCount: signals, sourceCount: signals },
    connections: Object.fromEntries(
      Array.from({ length: signals }, (_, target) => [target, { target, sources: [(target + 1) % signals] }]),
    ),
  });
  const meterNodes = Array.from({ length: meters }, (_, index) =>
    parameter(index + 1, Real, `meter-${index + 1}`, 0, { access: ParameterAccess.Read, streamIdentifier: index + 1 }),
  );
  const root = node(1, 'device', [
    all,
    node(2, 'channels', groups),
    new Model.NumberedTreeNodeImpl(3, matrix),
    node(4, 'meters', meterNodes),
    new Model.NumberedTreeNodeImpl(5, new Model.EmberFunctionImpl('go', undefined, [], [])),
  ]);
  const server = new EmberServer(task.port, '127.0.0.1');
  server.on('error', () => {});
  server.on('clientError', () => {});
  server.onSetValue = async (element: Any, value: unknown) => {
    const { identifier } = element.contents;
    written.push(`${identifier} ${Buffer.isBuffer(value) ? value.toString('hex') : value}`);
    if (identifier === 'silent') return true;
    if (identifier === 'limited' && Number(value) > 100) return false;
    server.update(element, { value });
    return true;
  };
  server.onMatrixOperation = async (element: Any, connections: Any) => {
    for (const connection of Object.values(connections) as Any[]) {
      written.push(`connect ${connection.target} ${connection.sources}`);
      server.updateMatrixConnection(element, connection);
    }
  };
  server.onInvocation = async (_: Any, { contents }: Any) => {
    written.push('invoke');
    return { id: contents.invocation.id, success: true };
  };
  await server.init({ 1: root });
  const find = (path: string) => server.getElementByPath(path);
  const broadcast = (data: Buffer) => {
    for (const client of server._clients) client.sendBER(data);
  };
  let level = 0;
  return (message) => {
    if (message === 'written') process.send!(written.splice(0));
    else if ('set' in message) server.update(find(message.set[0]), { value: message.set[1] });
    else if ('connect' in message)
      server.updateMatrixConnection(find('1.3'), { target: message.connect[0], sources: [message.connect[1]] });
    else if ('online' in message) server.update(find(message.online[0]), { isOnline: message.online[1] });
    else if ('add' in message) {
      const [parent, number, identifier] = message.add;
      const above = find(parent);
      const added = node(number, identifier, [parameter(1, Integer, 'new', 42)]);
      added.parent = above;
      for (const child of Object.values(added.children) as Any[]) child.parent = added;
      above.children[number] = added;
      const shown = new Model.QualifiedElementImpl(`${parent}.${number}`, added.contents);
      broadcast(berEncode([shown], Types.RootType.Elements));
    } else {
      setInterval(() => {
        level += 1;
        const entries = meterNodes.map((_, index) => ({
          identifier: index + 1,
          value: { type: Real, value: -((level + index) % 90) - 0.5 },
        }));
        for (let at = 0; at < entries.length; at += 25)
          broadcast(berEncode(entries.slice(at, at + 25), Types.RootType.Streams));
      }, 1000 / message.streamsPerSecond);
    }
  };
}

async function playSecond(task: DeviceTask): Promise<(message: DeviceMessage) => void> {
  const { EmberServer, EmberServerEvent, ParameterType }: Any = {
    ...require('node-emberplus'),
    ...require('node-emberplus/lib/server/ember-server'),
    ...require('node-emberplus/lib/common/parameter-type'),
  };
  const { channels = 4, signals = 4 } = task;
  const written: string[] = [];
  const json = [
    {
      identifier: 'device',
      children: [
        {
          identifier: 'all',
          children: [
            { identifier: 'int', value: 7, type: 'integer', access: 'readWrite', minimum: -1000, maximum: 1000 },
            { identifier: 'real', value: -12.5, type: 'real', access: 'readWrite' },
            { identifier: 'text', value: 'Gruss', type: 'string', access: 'readWrite' },
            { identifier: 'flag', value: true, type: 'boolean', access: 'readWrite' },
            { identifier: 'mode', value: 1, type: 'enum', enumeration: 'off\non\nauto', access: 'readWrite' },
          ],
        },
        {
          identifier: 'channels',
          children: Array.from({ length: channels }, (_, index) => ({
            identifier: `ch-${index + 1}`,
            children: [{ identifier: 'gain', value: -(index + 1), type: 'integer', access: 'readWrite' }],
          })),
        },
        {
          ...{ identifier: 'router', type: 'oneToN', mode: 'linear', targetCount: signals, sourceCount: signals },
          connections: Array.from({ length: signals }, (_, target) => ({ target, sources: [(target + 1) % signals] })),
        },
        {
          identifier: 'go',
          func() {
            written.push('invoke');
            return [];
          },
        },
      ],
    },
  ];
  void ParameterType;
  const tree = EmberServer.createTreeFromJSON(json);
  const server = new EmberServer({ host: '127.0.0.1', port: task.port, tree });
  server.on(EmberServerEvent?.ERROR ?? 'error', () => {});
  server.on('clientError', () => {});
  server.on('value-change', (element: Any) => written.push(`${element.contents.identifier} ${element.contents.value}`));
  server.on('matrix-change', ({ target, sources }: Any) => written.push(`connect ${target} ${sources}`));
  await server.listen();
  const find = (path: string) => server.tree.getElementByPath(path);
  return (message) => {
    if (message === 'written') process.send!(written.splice(0));
    else if ('set' in message) server.setValue(find(message.set[0]), message.set[1]);
    else if ('connect' in message) server.matrixSet('0.2', message.connect[0], [message.connect[1]]);
  };
}
