// The driver module of module-1.ts on the real base of API 2.x.

import { InstanceBase, InstanceStatus, TCPHelper } from 'companion-base-2';
import { misbehave } from './misbehave.ts';

misbehave('import');

interface Types {
  config: { host: string; port: number };
  secrets: undefined;
  actions: Record<string, { options: Record<string, number> }>;
  feedbacks: Record<string, { type: 'boolean'; options: { input: number } }>;
  variables: Record<string, string>;
}

export default class Device extends InstanceBase<Types> {
  #socket: TCPHelper | undefined;
  #program = '';

  constructor(internal: unknown) {
    super(internal);
    misbehave('construct');
  }

  getConfigFields() {
    misbehave('fields');
    return [
      { type: 'static-text' as const, id: 'info', width: 12, label: 'About', value: 'A device' },
      { type: 'textinput' as const, id: 'host', label: 'Host', width: 6, default: '192.0.2.1' },
      { type: 'number' as const, id: 'port', label: 'Port', width: 6, default: 9990, min: 1, max: 65_535 },
    ];
  }

  async init({ host, port }: Types['config']) {
    this.setVariableDefinitions({ program: { name: 'The source on the air' }, label: { name: 'A text' } });
    const define = (values: Record<string, string>) => {
      this.setVariableDefinitions(Object.fromEntries(Object.keys(values).map((id) => [id, { name: id }])));
      this.setVariableValues(values);
    };
    this.setActionDefinitions({
      program: {
        name: 'Select a source',
        options: [{ type: 'number', id: 'input', label: 'Input', default: 1, min: 1, max: 99 }],
        callback: async ({ options }) => {
          if (options.input === 13) throw new Error('13 is not a source');
          await this.#socket?.send(`program ${options.input}\n`);
        },
      },
      misbehave: { name: 'Misbehave', options: [], callback: async () => misbehave('later', define) },
      say: {
        name: 'Say a text',
        options: [
          { type: 'textinput', id: 'text', label: 'Text', default: 'hello' },
          {
            type: 'dropdown',
            id: 'how',
            label: 'How',
            default: 'loud',
            choices: [
              { id: 'loud', label: 'Loudly' },
              { id: 2, label: 'Twice' },
            ],
          },
          { type: 'checkbox', id: 'now', label: 'At once', default: true },
        ],
        callback: async ({ options: { text, how, now } }) => {
          this.log('info', `says ${text}`);
          await this.#socket?.send(`say ${text} ${how} ${now}\n`);
        },
      },
    });
    this.setFeedbackDefinitions({
      program: {
        type: 'boolean',
        name: 'A source is on the air',
        defaultStyle: {},
        options: [{ type: 'number', id: 'input', label: 'Input', default: 1, min: 1, max: 99 }],
        callback: ({ options }) => String(options.input) === this.#program,
      },
    });
    misbehave('init', define);
    this.updateStatus(InstanceStatus.Connecting);
    this.#socket = new TCPHelper(host, port, { reconnect_interval: 200 });
    this.#socket.on('connect', () => this.updateStatus(InstanceStatus.Ok));
    this.#socket.on('end', () => this.updateStatus(InstanceStatus.Disconnected));
    this.#socket.on('error', (error) => this.updateStatus(InstanceStatus.ConnectionFailure, error.message));
    this.#socket.on('data', (data) => {
      for (const line of data.toString().split('\n')) {
        const [word, value = ''] = line.split(' ');
        if (word !== 'program') continue;
        this.#program = value;
        this.setVariableValues({ program: value, label: `source ${value}` });
        this.checkFeedbacks('program');
      }
    });
  }

  async configUpdated() {}

  async destroy() {
    this.#socket?.destroy();
  }
}
