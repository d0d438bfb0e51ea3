// The contract of a connection type, in the order in which the author of a type needs its parts. The README of this folder shows step by
// step how to add a type.

import type { Observable, SchedulerLike } from 'rxjs';
import type { z } from 'zod';
import type { Transport } from '../device/transport.ts';
import type { HubError } from '../model/error.ts';
import type { Change, Parameter, ParameterDeclaration } from '../model/parameter.ts';
import type { FramePart } from '../model/reports/wire-log.ts';
import type { Value, ValueType } from '../model/value.ts';
import type { Claim } from './claim.ts';
import type { DocumentFolder } from './editing.ts';
import type { HubPort } from './hub-port.ts';
import type { Kept, Memory, PrivateFiles } from './persistence.ts';
import type { FileMistake, ResolvePath, SettingHint, SettingMistake } from './setting.ts';

/** The properties of every connection type. Only `type`, `isExternal`, `settingsSchema` and `parameters` are required. */
interface ConnectionTypeBasics<Settings> {
  /** The name in flow files, such as `virtual-core`. The type's folder has the same name. */
  readonly type: string;
  /**
   * Whether connections of this type have effects outside the process: on the network, on files or on devices. Tests in virtual time do not
   * start such connections, but set and read their parameters themselves.
   */
  readonly isExternal: boolean;
  /** The schema for the settings: a strict object in which every setting has a description. */
  readonly settingsSchema: z.ZodObject;
  /**
   * Declares the parameters of a connection with these settings. The hub calls `parameters` whenever it checks flow files, even if no
   * connection is running. The function reads no files other than those named in the settings, always returns the same result, and never
   * throws.
   */
  parameters(settings: Settings, resolvePath: ResolvePath): readonly ParameterDeclaration[];
  /**
   * Returns the resources that a connection with these settings needs exclusively, such as a port; pure. A gateway releases such a resource
   * as soon as it is unsubscribed; any other type does so when the work passed to `finish` ends.
   */
  claims?(settings: Settings, resolvePath: ResolvePath): readonly Claim[];
  /** Returns the parameters of other connections to which the connection listens, as a map from local names to addresses; pure. */
  inputs?(settings: Settings): Readonly<Record<string, string>>;
  /** Returns the path at which the settings contain an input's address; pure. Default: `inputs.<name>`. */
  inputPath?(name: string): SettingMistake['path'];
  /** Returns the inputs on which a parameter depends, so that cycles across connections are found; pure. */
  follows?(settings: Settings): (parameterId: string) => Iterable<string>;
  /**
   * Returns the parameters of the same connection whose writes may change a parameter, so that people see the connection between them;
   * pure.
   */
  causes?(settings: Settings, resolvePath: ResolvePath): (parameterId: string) => Iterable<string>;
  /** Returns errors in settings that match the schema, such as an input with the wrong value type; pure. */
  mistakes?(settings: Settings, inputTypes: InputTypes, resolvePath: ResolvePath): readonly SettingMistake[];
  /** Returns settings that logs and `patchbay wire` must mask, in addition to settings from the environment and from files. */
  secrets?(settings: Settings): readonly string[];
  /**
   * Returns the errors in files that declare parameters, such as device descriptions, each with its location. `shownPath` returns a path as
   * the user wrote it. Such an error makes loading fail, just like an error in a flow file.
   */
  fileMistakes?(settings: Settings, resolvePath: ResolvePath, shownPath: ResolvePath): readonly FileMistake[];
  /**
   * Returns warnings about settings that work but are probably not intended, such as rights to nonexistent parameters or a missing folder.
   */
  hints?(settings: Settings, declared: DeclaredAddresses, resolvePath: ResolvePath): readonly SettingHint[];
  /**
   * Returns the errors in user files that the connection reads while it is running, one line each, with the location. `whyUnknown` returns
   * the error for an address; undefined if the address is known. Called only by `patchbay check`.
   */
  furtherMistakes?(
    settings: Settings,
    resolvePath: ResolvePath,
    whyUnknown: (address: string) => string | undefined,
  ): readonly string[];
  /**
   * Returns the folder whose files the connection shows and users may edit, such as dashboards, or undefined if there is no such folder;
   * pure.
   */
  documents?(settings: Settings, resolvePath: ResolvePath): DocumentFolder | undefined;
  /** Returns the files that the connection reads once, at the start; a change to such a file restarts the connection; pure. */
  files?(settings: Settings, resolvePath: ResolvePath): readonly string[];
  /** Returns the files and folders that a backup needs in addition to `files`; pure. */
  belongings?(settings: Settings, resolvePath: ResolvePath): readonly string[];
  /** Returns the files that must never be served, such as keys and databases, in addition to `files` and `belongings`; pure. */
  privateFiles?(settings: Settings, resolvePath: ResolvePath): readonly PrivateFiles[];
  /** Returns the folders that the connection serves, and the settings that name them; pure. */
  servedFolders?(settings: Settings, resolvePath: ResolvePath): readonly ServedFolder[];
  /**
   * Returns the settings that a running connection can adopt without a restart when its settings change, or undefined if it cannot adopt
   * any; pure. The connection receives these settings on `settings$` and is not restarted if they equal `after`. Only for types without
   * `files`, and for settings with the same parameters and claims. If omitted, connections are always restarted.
   */
  takesOver?(before: Settings, after: Settings): Settings | undefined;
  /**
   * Declares a parameter that a rule names but that `parameters` lacks because the file that defines the parameter is broken. Only the
   * connection then fails, and everything that refers to the parameter still loads. If omitted, an unknown parameter is an error.
   */
  presume?(settings: Settings, parameterId: string, resolvePath: ResolvePath): ParameterDeclaration | undefined;
  /** Returns the minimal permissions that a third-party server must grant, as text for the server's configuration; pure. */
  permissions?(settings: Settings): string;
  /**
   * Returns the parameters of other hubs that flow files may name, if the connection joins hubs. The function reads no file other than the
   * one named in the settings, and never throws. If omitted, there are no other hubs.
   */
  remotes?(settings: Settings, resolvePath: ResolvePath): Remotes;
  /**
   * Whether the parameters contain values that clients and rules have written and for which nothing outside the hub has better values. A
   * store then keeps the values of parameters that are not read-only, and restores them after a restart. If omitted, the values are lost
   * when the hub stops.
   */
  readonly isKept?: boolean;
  /** Whether the settings grant access to the hub, so that an edit must be confirmed. */
  readonly grantsAccess?: boolean;
  /**
   * What a restart causes to be lost, in words that follow the Connection ID: 'its running timers end'. Omitted if nothing worth mentioning
   * is lost.
   */
  readonly lostAtRestart?: string;
  /** Settings that only `parameters` needs. `run` does not receive them, so that long lists are not kept twice. */
  readonly declaring?: readonly string[];
  /** Returns whether a connection with these settings runs without its device; pure. If omitted, no connection does. */
  isSimulated?(settings: Settings): boolean;
  /**
   * Returns a readable form of a frame in a binary protocol. If omitted, frames are shown as text with escaped characters. Never throws.
   */
  showFrame?(frame: Uint8Array): string;
  /** How a test plays the device of a connection. If omitted, tests set the parameters themselves. */
  readonly played?: PlayedDevice<Settings>;
  /** The names of all settings, at any depth, that are durations. For a small number without a unit, the check then asks for the unit. */
  readonly durations?: readonly string[];
}

/** A device that a test simulates. */
export interface PlayedDevice<Settings> {
  /** Returns the format in which tests write the device's messages; pure. Errors: `cannot-start` if the description contains errors. */
  messages(settings: Settings, resolvePath: ResolvePath): PlayedMessages;
  /** Runs the connection over this transport instead of its own, without randomness, and using only its scheduler. */
  run(context: ConnectionContext<Settings>, transport: Transport): Observable<ConnectionEvent>;
}

/** A message as written in tests: in the format of the protocol, or as text or hexadecimal bytes. */
export type WrittenMessage = string | { readonly text: string } | { readonly hex: string };

export interface PlayedMessages {
  readonly transport: Pick<Transport, 'keepsFrames' | 'isPassive'>;
  /**
   * Returns the bytes that the device (`in`) or the hub (`out`) sends, and the frames they contain, in the form returned by `show`. Errors:
   * one sentence.
   */
  read(
    written: WrittenMessage,
    direction: 'in' | 'out',
  ): { readonly bytes: Uint8Array; readonly frames: readonly string[] };
  /** Returns a frame in the form in which `sent` compares frames. */
  show(frame: Uint8Array): string;
}

/** Returns the messages for a protocol whose packets tests write in the form of `show`. `encode` reads this form. Errors: one sentence. */
export function playedPackets(
  isPassive: boolean,
  show: (packet: Uint8Array) => string,
  encode: (text: string, direction: 'in' | 'out') => Uint8Array,
): PlayedMessages {
  return {
    transport: { keepsFrames: true, isPassive },
    show,
    read(written, direction) {
      const isHex = typeof written === 'object' && 'hex' in written;
      const text = typeof written === 'string' ? written : 'text' in written ? written.text : written.hex;
      const bytes = isHex ? Buffer.from(text.replaceAll(/\s/g, ''), 'hex') : encode(text, direction);
      return { bytes, frames: [show(bytes)] };
    },
  };
}

/** A folder whose files are served to clients. */
export interface ServedFolder {
  readonly setting: SettingMistake['path'];
  /** The absolute path. */
  readonly path: string;
}

/**
 * Returns the addresses of one connection or of all connections, or undefined if they may belong to another hub whose addresses are not all
 * known.
 */
export type DeclaredAddresses = (connectionId?: string) => Iterable<string> | undefined;

/** The parameters of other hubs, as far as they are known when flow files are checked. */
export interface Remotes {
  /** The parameters by address; undefined if they are not known and any Connection ID may belong to another hub. */
  readonly parameters: ReadonlyMap<string, Pick<ParameterDeclaration, 'type' | 'access'>> | undefined;
  /** The file that lists the parameters, which the hub watches; undefined if there is no file. */
  readonly file: string | undefined;
  /** The error in this file, and the setting that names the file. */
  readonly mistake?: { readonly path: SettingMistake['path']; readonly message: string };
}

/** A connection type whose connections see only their own parameters and inputs, unless `run` takes the hub as well. */
export interface ConnectionType<Settings = unknown> extends ConnectionTypeBasics<Settings> {
  readonly isGateway?: false;
  /**
   * Creates the running connection. The Observable is cold: subscribing starts the connection, and unsubscribing stops it; a stopped
   * connection may be started again. The Observable never completes; `ConnectionEvent` describes its errors. `hub` is for a type that
   * connects devices and also shows other parameters of the hub to its peer; undefined if the connection runs alone.
   */
  run(context: ConnectionContext<Settings>, hub?: HubPort): Observable<ConnectionEvent>;
}

/** A connection type that gives access to the whole hub, such as the REST API. A hub does not start if one of its gateways fails. */
export interface GatewayType<Settings = unknown> extends ConnectionTypeBasics<Settings> {
  readonly isGateway: true;
  readonly isExternal: true;
  /**
   * Prepares for `restore` while the flow files are being checked, for example by starting a thread. The hub calls `prepare` at startup if
   * a flow file contains a connection of this type. There must be no lasting effect if the hub does not start.
   */
  prepare?(): void;
  /**
   * Returns the values that were saved in an earlier run of the hub. The hub calls `restore` once, before any connection is running, and
   * waits for the result, so the promise must resolve soon and must not reject.
   */
  restore?(context: RestoreContext<Settings>): Promise<Kept>;
  /**
   * Returns the reason why other connections and rules start only when the gateway begins the hub's work; pure. If the function is omitted
   * or returns undefined, they start immediately.
   */
  startsOnLeaderOnly?(settings: Settings): string | undefined;
  /**
   * Returns whether the gateway runs only while the hub leads, starting before all other connections, because only the leader may use the
   * gateway's data; pure. If omitted, the gateway always runs.
   */
  flushesLast?(settings: Settings): boolean;
  /**
   * Returns which parts of the gateway record a parameter, such as `history` and `snapshot night`, so that people see where the parameter
   * is used; pure.
   */
  records?(settings: Settings): (address: string) => readonly string[];
  run(context: ConnectionContext<Settings>, hub: HubPort): Observable<ConnectionEvent>;
}

export type AnyConnectionType = ConnectionType | GatewayType;

/**
 * The events of a running connection: a value for one of its parameters, `{ set: 'pulse/1', value: true }`, or its own state.
 *
 * A connection is in one of these states:
 * - *running*: everything works. The connection emits `{ state: 'running' }` as soon as this is the case.
 * - *degraded*: the connection currently does not work, or works only in part, but can recover without new settings, for example because the
 *   disk is full or the device does not answer. The connection emits this state with a reason, keeps trying, and emits `running` once it
 *   works again.
 * - *failed*: the connection cannot work with its settings, for example because the port is taken or the template cannot be parsed. `run`
 *   errors with `new HubError('cannot-start', reason)`.
 * - *disabled*: the settings or a user keep the connection stopped. Only the hub sets this state.
 *
 * After an error from `run`, the hub subscribes again, after 1 s, 2 s, 4 s, … 30 s. An error other than `cannot-start` is a crash: the hub
 * shows the connection as degraded, with the error message. Completion also counts as a crash.
 */
export type ConnectionEvent =
  | {
      /** The Parameter ID. */
      readonly set: string;
      /** The parameter, from `ConnectionContext.own`. If omitted, the hub looks up the parameter. */
      readonly own?: Parameter | undefined;
      readonly value: unknown;
      /** The change that led to this value, if the hub cannot know this change itself: see `ConnectionContext.scheduler`. */
      readonly because?: Change | undefined;
      /**
       * Whether the device had this value before the hub connected: the value is then shown, but no rule runs. Has an effect only while the
       * value is unknown.
       */
      readonly isRestored?: boolean;
    }
  /** The value of a parameter is no longer known, for example because the device has reported this. */
  | { readonly unset: string }
  /** A write to a parameter with `isConfirmed` has failed, because the device refused it or did not answer. */
  | { readonly settle: string; readonly error: HubError }
  /**
   * Whether the values are stale because the device is offline. With `device`, this concerns only the parameters of this device. Without
   * `device`, all values become stale, or the values without a device become fresh.
   */
  | { readonly stale: boolean; readonly device?: string }
  /** Declares parameters that the device has reported. */
  | { readonly declare: readonly ParameterDeclaration[] }
  /** Withdraws Parameter IDs from `declare` that the device no longer has. */
  | { readonly withdraw: readonly string[] }
  | { readonly state: 'running' }
  | {
      readonly state: 'degraded';
      /** One sentence for the operator, with the problem and its reason. */
      readonly reason: string;
    };

/** The environment of a running connection. */
export interface ConnectionContext<Settings> {
  /** The Connection ID. */
  readonly id: string;
  /** The settings of the connection, as parsed by the schema. */
  readonly settings: Settings;
  /** The settings to adopt, as returned by `takesOver`. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly settings$: Observable<Settings>;
  /**
   * Returns a parameter of the connection, or undefined if it has no parameter with this ID. Meant for connections that set thousands of
   * parameters with each change, because looking up all these parameters again would be a tenth of their work.
   */
  own(parameterId: string): Parameter | undefined;
  /**
   * The values that clients and rules write to a parameter of the connection. Hot, replays nothing, synchronous, never errors. During the
   * subscription, `accept` replaces the `accept` in the declaration, for checks that only the running connection can make.
   */
  inbox(parameterId: string, accept?: ParameterDeclaration['accept']): Observable<Value>;
  /**
   * The only clock of the connection; `now()` returns milliseconds and never jumps. The scheduler tracks causes: if a connection emits an
   * event while it is being notified of a change, or in work scheduled during the notification, the change is the cause of the event.
   */
  readonly scheduler: SchedulerLike;
  /** The time of day, in milliseconds since 1970. The time jumps when the machine's clock is set. */
  timeOfDay(): number;
  readonly log: Log;
  /** Replaces strings in the settings that come from the environment or a file with `***`. The log does this automatically. */
  withoutSecrets(text: string): string;
  /** Resolves a path in the settings against the folder of the flow file. */
  readonly resolvePath: ResolvePath;
  /** Registers work for which the hub waits before it ends, such as writing a file. Call `finish` while unsubscribing. */
  finish(work: Promise<unknown>): void;
  /** Combines all events that the connection emits during `work` into one turn, which rules and clients see as a single change. */
  turn(work: () => void): void;
  /** The value of an input. Hot, replays last (undefined if unknown; nothing for a trigger), synchronous, never errors. */
  input(name: string): Observable<Value | undefined>;
  /** The change that is currently being delivered, such as the write that an inbox emits; undefined if there is none. */
  cause(): Change | undefined;
  /** Records a sent or received frame for `patchbay wire`. A frame with a `fault`, which is the reason, counts as refused. */
  wire(direction: 'in' | 'out', bytes: Uint8Array, fault?: string): void;
  /** Like `wire`, but for many received frames: the frames between two positions in the list. */
  wireReceived(frames: readonly FramePart[], from: number, end: number): void;
  /** The value types of the inputs, by name. */
  readonly inputTypes: InputTypes;
  /** The last change of an input. While the connection is being notified of a change of an input, returns this change. */
  lastChange(name: string): Change | undefined;
  /**
   * Prepares work that needs a consistent state of all inputs. After each call to the returned function, the work runs once: after all
   * writes in the current turn, or in a separate turn. All resulting events form one turn. The work must not throw.
   */
  atSettle(work: () => void): () => void;
  /** The values that a store has kept, by Parameter ID, when the connection starts; empty in a hub without a store. */
  readonly restored: ReadonlyMap<string, Value>;
  /** The work in progress, which is continued when the hub is restarted; undefined in a hub without a store. */
  readonly memory: Memory | undefined;
  /**
   * The state that the connection's previous run in this hub has left, for example before a reload with other settings; undefined if there
   * is none.
   */
  readonly left: unknown;
  /** Leaves state for the connection's next run in this hub. Call `leave` while unsubscribing. */
  leave(what: unknown): void;
}

/** The environment of a gateway before the hub is running. */
export type RestoreContext<Settings> = Pick<ConnectionContext<Settings>, 'id' | 'settings' | 'log' | 'resolvePath'>;

/** The value types of a connection's inputs, by name. An input with a wrong address has no type. */
export type InputTypes = ReadonlyMap<string, ValueType>;

/**
 * The log of one connection. Each entry consists of data and a sentence. At most one entry per kind and second is written, with the number
 * of entries that it represents. The default kind is the sentence. Specify a kind if the sentence contains text from outside.
 */
export interface Log {
  /** Whether entries at the debug level are written anywhere; if they are not, their text need not be created. */
  readonly isDebugging?: boolean;
  debug(data: object, message: string, kind?: string): void;
  info(data: object, message: string, kind?: string): void;
  warn(data: object, message: string, kind?: string): void;
  error(data: object, message: string, kind?: string): void;
}

/** A connection type with its literal name and schema, from which TypeScript derives the settings in flow files. */
export interface DefinedConnectionType<Name extends string, Schema extends z.ZodObject> extends ConnectionType {
  readonly type: Name;
  readonly settingsSchema: Schema;
}

/** A gateway type with its literal name and schema, like `DefinedConnectionType`. */
export interface DefinedGatewayType<Name extends string, Schema extends z.ZodObject> extends GatewayType {
  readonly type: Name;
  readonly settingsSchema: Schema;
}

/** Defines a connection type; the type of the settings is inferred from the schema. */
export function defineConnectionType<const Name extends string, Schema extends z.ZodObject>(
  type: ConnectionType<z.output<Schema>> & { readonly type: Name; readonly settingsSchema: Schema },
): DefinedConnectionType<Name, Schema> {
  return type as unknown as DefinedConnectionType<Name, Schema>;
}

/** Defines a gateway type; the type of the settings is inferred from the schema. */
export function defineGatewayType<const Name extends string, Schema extends z.ZodObject>(
  type: Omit<GatewayType<z.output<Schema>>, 'isGateway'> & { readonly type: Name; readonly settingsSchema: Schema },
): DefinedGatewayType<Name, Schema> {
  return { ...type, isGateway: true } as unknown as DefinedGatewayType<Name, Schema>;
}
