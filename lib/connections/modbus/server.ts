// A Modbus server: answers requests from clients with the values of parameters, and sets parameters to the values that clients write.

import { HubError } from '../../model/error.ts';
import type { Value } from '../../model/value.ts';
import {
  type Frame,
  illegalAddress,
  illegalFunction,
  illegalValue,
  mostRead,
  mostWritten,
  readFunctions,
  type Table,
  tables,
} from './frame.ts';
import { acceptValue, decodeRegisters, encodeRegisters, type Item, isOfBits } from './registers.ts';

export interface ServerOptions {
  readonly items: readonly Item[];
  /** Whether the server answers requests to any unit. Over TCP, clients of a single device use the unit IDs 0, 1 or 255. */
  readonly answersAnyUnit: boolean;
  /** Returns an item's value, or undefined if the value is unknown. */
  read(item: Item): Value | undefined;
  /** Sets the values that a client has written, in one turn. */
  write(values: readonly (readonly [Item, Value])[]): void;
}

/** The items at each address in a table. Bits in the same register are separate items. */
type Addresses = Map<number, Item[]>;

class Exception extends Error {
  readonly code: number;
  constructor(code: number) {
    super();
    this.code = code;
  }
}

export class ModbusServer {
  readonly #options: ServerOptions;
  readonly #units = new Map<number, Readonly<Record<Table, Addresses>>>();

  constructor(options: ServerOptions) {
    this.#options = options;
    for (const item of options.items) {
      let unit = this.#units.get(item.unitId);
      if (unit === undefined) {
        unit = { coil: new Map(), discrete: new Map(), input: new Map(), holding: new Map() };
        this.#units.set(item.unitId, unit);
      }
      for (let at = item.address; at < item.address + item.width; at++) {
        const here = unit[item.table].get(at);
        if (here === undefined) unit[item.table].set(at, [item]);
        else here.push(item);
      }
    }
  }

  /** Returns the answer to a request, or undefined if the request is for another unit or is a broadcast to all units. */
  answer({ unitId, pdu }: Pick<Frame, 'unitId' | 'pdu'>): Buffer | undefined {
    const isForAll = unitId === 0 && !this.#options.answersAnyUnit;
    const [only] = this.#units.values();
    const one = this.#options.answersAnyUnit ? only : this.#units.get(unitId);
    const units = isForAll ? [...this.#units.values()] : one === undefined ? [] : [one];
    let answer: Buffer | undefined;
    for (const unit of units)
      try {
        answer = this.#handle(unit, pdu);
      } catch (error) {
        if (!(error instanceof Exception || error instanceof HubError)) throw error;
        answer = Buffer.of(pdu[0]! | 0x80, error instanceof Exception ? error.code : illegalValue);
      }
    return isForAll ? undefined : answer;
  }

  #handle(unit: Readonly<Record<Table, Addresses>>, pdu: Buffer): Buffer {
    const code = pdu[0]!;
    const table = tables.find((name) => readFunctions[name] === code);
    if (![1, 2, 3, 4, 5, 6, 15, 16].includes(code)) throw new Exception(illegalFunction);
    if (pdu.length < 5) throw new Exception(illegalValue);
    const [address, count] = [pdu.readUInt16BE(1), pdu.readUInt16BE(3)];
    if (table !== undefined) return this.#read(unit[table], table, code, address, count);
    if (code === 5 && count !== 0 && count !== 0xff00) throw new Exception(illegalValue);
    if (code === 5) this.#writeBits(unit.coil, address, 1, Buffer.of(count === 0 ? 0 : 1));
    else if (code === 6) this.#writeRegisters(unit.holding, address, pdu.subarray(3, 5));
    else {
      const isCoil = code === 15;
      const bytes = isCoil ? Math.ceil(count / 8) : 2 * count;
      const most = mostWritten[isCoil ? 'coil' : 'holding'];
      if (count < 1 || count > most || pdu[5] !== bytes || pdu.length < 6 + bytes) throw new Exception(illegalValue);
      if (isCoil) this.#writeBits(unit.coil, address, count, pdu.subarray(6));
      else this.#writeRegisters(unit.holding, address, pdu.subarray(6, 6 + bytes));
    }
    return Buffer.from(pdu.subarray(0, 5));
  }

  /** Reads values. Addresses without a parameter and unknown values are read as 0 if there are known values next to them. */
  #read(addresses: Addresses, table: Table, code: number, address: number, count: number): Buffer {
    if (count < 1 || count > mostRead[table]) throw new Exception(illegalValue);
    const isBits = isOfBits(table);
    const data = Buffer.alloc(isBits ? Math.ceil(count / 8) : 2 * count);
    let isFound = false;
    for (let index = 0; index < count; index++)
      for (const item of addresses.get(address + index) ?? []) {
        isFound = true;
        if (isBits) data[index >> 3]! |= this.#options.read(item) === true ? 1 << (index & 7) : 0;
        else if (item.settings.bit !== undefined || index === 0 || item.address === address + index) {
          const registers = this.#registersOf(item);
          const skipped = address + index - item.address;
          for (let at = skipped; at < item.width && index + at - skipped < count; at++) {
            const place = 2 * (index + at - skipped);
            data.writeUInt16BE(data.readUInt16BE(place) | registers.readUInt16BE(2 * at), place);
          }
        }
      }
    if (!isFound) throw new Exception(illegalAddress);
    return Buffer.concat([Buffer.of(code, data.length), data]);
  }

  #registersOf(item: Item): Buffer {
    const value = this.#options.read(item);
    const { bit } = item.settings;
    const registers = Buffer.alloc(2 * item.width);
    if (value === undefined) return registers;
    if (bit !== undefined) {
      registers.writeUInt16BE(value === true ? 1 << bit : 0);
      return registers;
    }
    try {
      return encodeRegisters(item, value);
    } catch (error) {
      if (error instanceof HubError) return registers; // a restored value that does not fit into its register
      throw error;
    }
  }

  #writeBits(addresses: Addresses, address: number, count: number, data: Buffer): void {
    const values: (readonly [Item, Value])[] = [];
    for (let index = 0; index < count; index++) {
      const [item] = addresses.get(address + index) ?? [];
      if (item === undefined) throw new Exception(illegalAddress);
      values.push([item, (data[index >> 3]! & (1 << (index & 7))) !== 0]);
    }
    this.#options.write(values);
  }

  /** Writes registers. If a client writes only one of a value's two registers, the other register keeps its content. */
  #writeRegisters(addresses: Addresses, address: number, data: Buffer): void {
    const touched = new Set<Item>();
    for (let at = 0; at < data.length / 2; at++) {
      const items = addresses.get(address + at);
      if (items === undefined) throw new Exception(illegalAddress);
      for (const item of items) touched.add(item);
    }
    const values: (readonly [Item, Value])[] = [];
    for (const item of touched) {
      const registers = this.#registersOf(item);
      for (let at = 0; at < item.width; at++) {
        const from = 2 * (item.address + at - address);
        if (from >= 0 && from < data.length) data.copy(registers, 2 * at, from, from + 2);
      }
      const value = decodeRegisters(item, registers, 0);
      if (value === undefined) throw new Exception(illegalValue);
      acceptValue(item, value); // checks min, max and choices; errors become exception 3
      values.push([item, value]);
    }
    this.#options.write(values);
  }
}
