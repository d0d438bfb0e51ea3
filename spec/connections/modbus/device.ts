// A process that plays Modbus devices, with the servers of modbus-serial, which others have written: over TCP or at a serial port. Each
// register contains its address at first, each fourth bit is on. The addresses 900 to 999 do not exist, 800 accepts no value above 100,
// 801 answers that the device is busy, twice, and 802 takes what is written after 1.2 s.

import { type EventEmitter, once } from 'node:events';
import { createRequire } from 'node:module';

/** What the process is told at its start. */
export interface DeviceTask {
  readonly ports?: readonly number[];
  readonly serial?: string;
  /** The units that answer; default: all. */
  readonly units?: readonly number[];
}

/** What it is told later: to set a register, or to report what has been written. */
export type DeviceMessage = { readonly set: readonly [address: number, value: number] } | 'written';

type Server = new (vector: object, options: object, serial?: object) => EventEmitter;
const { ServerTCP, ServerSerial } = createRequire(import.meta.url)('modbus-serial') as {
  ServerTCP: Server;
  ServerSerial: Server;
};

const refused = (modbusErrorCode: number) => Object.assign(new Error('refused'), { modbusErrorCode });

if (process.send !== undefined) {
  process.once('disconnect', () => process.exit());
  const holding = Array.from({ length: 1000 }, (_, index) => index);
  const coils = Array.from({ length: 1000 }, (_, index) => index % 4 === 0);
  const written: string[] = [];
  let busy = 2;
  let units: readonly number[] | undefined;
  const silent = new Promise<never>(() => {});
  const read = (address: number, unit: number) => {
    if (units?.includes(unit) === false) return silent;
    if (address >= 900) throw refused(2);
    return holding[address];
  };
  const write = (address: number, value: number) => {
    written.push(`${address} ${value}`);
    if (address >= 900) throw refused(2);
    if (address === 800 && value > 100) throw refused(3);
    if (address === 801 && busy-- > 0) throw refused(6);
    const store = () => {
      holding[address] = value;
    };
    if (address === 802) setTimeout(store, 1200);
    else store();
  };
  const vector = {
    getHoldingRegister: read,
    getInputRegister: read,
    getCoil: (address: number) => coils[address],
    getDiscreteInput: (address: number) => coils[address],
    setRegister: write,
    setCoil: (address: number, value: boolean) => {
      written.push(`coil ${address} ${value}`);
      coils[address] = value;
    },
  };
  process.once('message', async ({ ports = [], serial, units: own }: DeviceTask) => {
    units = own;
    const servers = ports.map((port) => new ServerTCP(vector, { host: '127.0.0.1', port, unitID: 255 }));
    for (const server of servers) server.on('socketError', () => {});
    await Promise.all(servers.map((server) => once(server, 'initialized')));
    if (serial !== undefined) {
      const options = { path: serial, baudRate: 19_200, parity: 'even' };
      const server = new ServerSerial(vector, { ...options, unitID: 255 }, options);
      server.on('error', () => {});
      await once(server, 'initialized');
    }
    process.on('message', (message: DeviceMessage) => {
      if (message === 'written') process.send!(written.splice(0));
      else holding[message.set[0]] = message.set[1];
    });
    process.send!('ready');
  });
}
