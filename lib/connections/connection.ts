// The contract for connection types. The parts are in the order in which the author of a type needs them. The README in this folder
// explains step by step how to add a type.

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
   * start such connections; they set and read the parameters themselves.
   */
  readonly isExternal: boolean;
  /** The schema for the settings: a strict object in which every setting has a description. */
  readonly settingsSchema: z.ZodObject;
  /**
   * Declares the parameters of a connection with these settings. The hub calls `parameters` whenever it checks flow files, even if no
   * connection is running. The function only reads files that the settings name, always returns the same result, and never throws.
   */
  parameters(settings: Settings, resolvePath: ResolvePath): readonly ParameterDeclaration[];
  /**
   * Returns the resources that a connection with these settings needs exclusively, such as a port. Pure. A gateway releases such a resource
   * as soon as it is unsubscribed; a connection of any other type releases it when the work passed to `finish` has ended.
   */
  claims?(settings: Settings, resolvePath: ResolvePath): readonly Claim[];
  /** Returns the parameters of other connections that the connection listens to, as a map from local names to addresses. Pure. */
  inputs?(settings: Settings): Readonly<Record<string, string>>;
  /** Returns the path to an input's address in the settings. Pure. The default is `inputs.<name>`. */
  inputPath?(name: string): SettingMistake['path'];
  /** Returns a function that returns the inputs that a parameter depends on, so that cycles across connections are found. Pure. */
  follows?(settings: Settings): (parameterId: string) => Iterable<string>;
  /**
   * Returns a function that returns the parameters of the same connection whose writes may change a given parameter, so that people see
   * this relation. Pure.
   */
  causes?(settings: Settings, resolvePath: ResolvePath): (parameterId: string) => Iterable<string>;
  /** Returns the mistakes in settings that match the schema, such as an input with the wrong value type. Pure. */
  mistakes?(settings: Settings, inputTypes: InputTypes, resolvePath: ResolvePath): readonly SettingMistake[];
  /**
   * Returns the settings that must be masked in logs and in `patchbay wire`, in addition to settings from the environment and from files.
   */
  secrets?(settings: Settings): readonly string[];
  /**
   * Returns the mistakes in files that declare parameters, such as device descriptions, with their locations. `shownPath` returns a path as
   * the user wrote it. Such a mistake prevents the flow files from loading, just like a mistake in a flow file.
   */
  fileMistakes?(settings: Settings, resolvePath: ResolvePath, shownPath: ResolvePath): readonly FileMistake[];
  /** Returns hints about settings that work but are probably not intended, such as rights to nonexistent parameters or a missing folder. */
  hints?(settings: Settings, declared: DeclaredAddresses, resolvePath: ResolvePath): readonly SettingHint[];
  /**
   * Returns the mistakes in user files that the connection reads while it is running, with their locations, one line for each mistake.
   * `whyUnknown` returns the error for an unknown address, or undefined if the address is known. Called only by `patchbay check`.
   */
  furtherMistakes?(
    settings: Settings,
    resolvePath: ResolvePath,
    whyUnknown: (address: string) => string | undefined,
  ): readonly string[];
  /**
   * Returns the folder of files that the connection shows and that users may edit, such as dashboards. Returns undefined if there is no
   * such folder. Pure.
   */
  documents?(settings: Settings, resolvePath: ResolvePath): DocumentFolder | undefined;
  /** Returns the files that the connection reads only once, when it starts. A change to such a file restarts the connection. Pure. */
  files?(settings: Settings, resolvePath: ResolvePath): readonly string[];
  /** Returns the files and folders that a backup must contain in addition to `files`. Pure. */
  belongings?(settings: Settings, resolvePath: ResolvePath): readonly string[];
  /** Returns the files that must never be served, such as keys and databases, in addition to `files` and `belongings`. Pure. */
  privateFiles?(settings: Settings, resolvePath: ResolvePath): readonly PrivateFiles[];
  /** Returns the folders that the connection serves, each with the setting that names it. Pure. */
  servedFolders?(settings: Settings, resolvePath: ResolvePath): readonly ServedFolder[];
  /**
   * Returns the settings that a running connection can adopt without a restart after its settings have changed, or undefined if it cannot
   * adopt any settings. Pure. The connection receives these settings on `settings$`. It is not restarted if they equal `after`. Only for
   * types without `files`, and for settings with the same parameters and claims. If `takesOver` is omitted, the connection is always
   * restarted.
   */
  takesOver?(before: Settings, after: Settings): Settings | undefined;
  /**
   * Declares a parameter that a rule names but that `parameters` does not contain because the file that defines it is invalid. In this
   * case, only the connection fails, and everything that refers to the parameter still loads. If `presume` is omitted, an unknown parameter
   * is an error.
   */
  presume?(settings: Settings, parameterId: string, resolvePath: ResolvePath): ParameterDeclaration | undefined;
  /** Returns the minimal permissions that a third-party server must grant to the hub, as text for the server's configuration. Pure. */
  permissions?(settings: Settings): string;
  /**
   * Returns the parameters of other hubs that flow files may name, if the connection joins hubs. The function only reads the file that the
   * settings name, and never throws. If `remotes` is omitted, there are no other hubs.
   */
  remotes?(settings: Settings, resolvePath: ResolvePath): Remotes;
  /**
   * Whether the parameters contain values that clients and rules have written and for which nothing outside the hub has better values. A
   * store then keeps the values of parameters that are not read-only, and restores these values after a restart. If `isKept` is omitted,
   * the values are lost when the hub stops.
   */
  readonly isKept?: boolean;
  /** Whether the settings grant access to the hub. If so, an edit to the settings must be confirmed. */
  readonly grantsAccess?: boolean;
  /**
   * What is lost when the connection restarts, in words that follow the Connection ID: 'its running timers end'. Omitted if nothing worth
   * mentioning is lost.
   */
  readonly lostAtRestart?: string;
  /** The settings that only `parameters` needs. `run` does not receive these settings, so that long lists are not stored twice. */
  readonly declaring?: readonly string[];
  /**
   * Returns whether a connection with these settings runs without its device. Pure. If `isSimulated` is omitted, no connection of this type
   * does.
   */
  isSimulated?(settings: Settings): boolean;
  /**
   * Returns the readable form of a frame in a binary protocol. Never throws. If `showFrame` is omitted, frames are shown as text with
   * escaped characters.
   */
  showFrame?(frame: Uint8Array): string;
  /** The way in which a test simulates the device of a connection. If `played` is omitted, tests set the parameters themselves. */
  readonly played?: PlayedDevice<Settings>;
  /**
   * The names of all settings, at any depth, that are durations. If a duration is a small number without a unit, the check asks for the
   * unit.
   */
  readonly durations?: readonly string[];
}

/** The way in which a test simulates the device of a connection. */
export interface PlayedDevice<Settings> {
  /** Returns the converters for the device's messages in a test. Pure. Errors: `cannot-start` if the device description is invalid. */
  messages(settings: Settings, resolvePath: ResolvePath): PlayedMessages;
  /** Runs the connection over `transport` instead of its own transport. The connection uses only its scheduler and no random numbers. */
  run(context: ConnectionContext<Settings>, transport: Transport): Observable<ConnectionEvent>;
}

/** A message as written in a test: in the readable form of the protocol, or as text or hexadecimal bytes. */
export type WrittenMessage = string | { readonly text: string } | { readonly hex: string };

export interface PlayedMessages {
  readonly transport: Pick<Transport, 'keepsFrames' | 'isPassive'>;
  /**
   * Returns the bytes that the device (`in`) or the hub (`out`) sends, and the frames in them in the form that `show` returns. Errors:
   * `Error` with a readable message.
   */
  read(
    written: WrittenMessage,
    direction: 'in' | 'out',
  ): { readonly bytes: Uint8Array; readonly frames: readonly string[] };
  /** Returns the readable form of a frame, in which `sent` compares frames. */
  show(frame: Uint8Array): string;
}

/**
 * Returns the converters for a protocol whose packets appear in tests as formatted by `show`. `encode` parses this format. Errors: `Error`
 * with a readable message.
 */
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
  /** The absolute path of the served folder. */
  readonly path: string;
}

/**
 * Returns the addresses of one connection or of all connections. Returns undefined if the connection may belong to another hub whose
 * addresses are not all known.
 */
export type DeclaredAddresses = (connectionId?: string) => Iterable<string> | undefined;

/** The parameters of other hubs, as far as they are known when flow files are checked. */
export interface Remotes {
  /** The parameters, keyed by address; undefined if they are unknown. In this case, any Connection ID may belong to another hub. */
  readonly parameters: ReadonlyMap<string, Pick<ParameterDeclaration, 'type' | 'access'>> | undefined;
  /** The file that lists the parameters and that the hub watches; undefined if there is no file. */
  readonly file: string | undefined;
  /** The mistake in this file, and the path of the setting that names the file. */
  readonly mistake?: { readonly path: SettingMistake['path']; readonly message: string };
}

/** A connection type whose connections see only their own parameters and their inputs, unless `run` also uses `hub`. */
export interface ConnectionType<Settings = unknown> extends ConnectionTypeBasics<Settings> {
  readonly isGateway?: false;
  /**
   * Creates the running connection. The Observable is cold: a subscription starts the connection, and the end of the subscription stops it;
   * a stopped connection may be started again. The Observable never completes; its errors are described at `ConnectionEvent`. `hub` is for
   * types that connect devices and also show other parameters of the hub to them; it is undefined if the connection runs without a hub.
   */
  run(context: ConnectionContext<Settings>, hub?: HubPort): Observable<ConnectionEvent>;
}

/**
 * A connection type that gives access to the whole hub, such as the REST API. If such a gateway fails at startup, the hub does not start.
 */
export interface GatewayType<Settings = unknown> extends ConnectionTypeBasics<Settings> {
  readonly isGateway: true;
  readonly isExternal: true;
  /**
   * Prepares for `restore` while the flow files are being checked, for example by starting a thread. The hub calls `prepare` at startup if
   * a flow file contains a connection of this type. If the hub then does not start, no effects must remain.
   */
  prepare?(): void;
  /**
   * Returns the values that were saved in an earlier run of the hub. The hub calls `restore` once, before any connection is running, and
   * waits for the result. Therefore, the promise must resolve soon and must not reject.
   */
  restore?(context: RestoreContext<Settings>): Promise<Kept>;
  /**
   * Returns the reason why other connections and rules start only when the gateway begins the hub's work. Pure. If `startsOnLeaderOnly` is
   * omitted or returns undefined, they start immediately.
   */
  startsOnLeaderOnly?(settings: Settings): string | undefined;
  /**
   * Returns whether the gateway runs only while the hub leads, and starts before all other connections, because only the leader may use the
   * gateway's data. Pure. If `flushesLast` is omitted, the gateway always runs.
   */
  flushesLast?(settings: Settings): boolean;
  /**
   * Returns a function that returns the parts of the gateway that record a parameter, such as `history` and `snapshot night`, so that
   * people see where the parameter is used. Pure.
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
      /** The ID of the parameter that the value is for. */
      readonly set: string;
      /** The parameter as returned by `ConnectionContext.own`. If `own` is omitted, the hub looks up the parameter. */
      readonly own?: Parameter | undefined;
      readonly value: unknown;
      /** The change that led to this value, if the hub cannot determine this change itself: see `ConnectionContext.scheduler`. */
      readonly because?: Change | undefined;
      /**
       * Whether the device already had this value before the hub connected. The value is then shown, but no rule runs. Has an effect only
       * while the value is unknown.
       */
      readonly isRestored?: boolean;
    }
  /** Makes the value of a parameter unknown, for example because the device has reported that it does not know the value. */
  | { readonly unset: string }
  /** Reports that a write to a parameter with `isConfirmed` has failed, because the device has refused the write or has not answered. */
  | { readonly settle: string; readonly error: HubError }
  /**
   * Reports whether values are stale because the device is offline. With `device`, the event concerns only the parameters of that device.
   * Without `device`, all values become stale, or the values of parameters without a device become fresh.
   */
  | { readonly stale: boolean; readonly device?: string }
  /** Declares parameters that the device has reported. */
  | { readonly declare: readonly ParameterDeclaration[] }
  /** Withdraws parameters from earlier `declare` events, keyed by Parameter ID, because the device no longer has these parameters. */
  | { readonly withdraw: readonly string[] }
  | { readonly state: 'running' }
  | {
      readonly state: 'degraded';
      /** A sentence for the operator that states the problem and its reason. */
      readonly reason: string;
    };

/** The environment in which a connection runs. */
export interface ConnectionContext<Settings> {
  /** The ID of the connection, as in the flow file. */
  readonly id: string;
  /** The settings of the connection, as parsed with the schema. */
  readonly settings: Settings;
  /**
   * The settings to adopt without a restart, as returned by `takesOver`. Hot, replays nothing, synchronous, never completes, never errors.
   */
  readonly settings$: Observable<Settings>;
  /**
   * Returns a parameter of the connection, or undefined if the connection has no parameter with this ID. Intended for connections that set
   * thousands of parameters in one turn and would otherwise spend a tenth of their time on having each parameter looked up by the hub.
   */
  own(parameterId: string): Parameter | undefined;
  /**
   * Returns the values that clients and rules write to a parameter of the connection. Hot, replays nothing, synchronous, never errors.
   * While subscribed, `accept` replaces the `accept` in the parameter's declaration, for checks that only the running connection can make.
   */
  inbox(parameterId: string, accept?: ParameterDeclaration['accept']): Observable<Value>;
  /**
   * The only clock of the connection. `now()` returns milliseconds and never jumps. The scheduler tracks causes: if a connection emits an
   * event while it is being notified of a change, or in work scheduled during the notification, this change is the cause of the event.
   */
  readonly scheduler: SchedulerLike;
  /** Returns the time of day, in milliseconds since 1970. It jumps when the machine's clock is set. */
  timeOfDay(): number;
  readonly log: Log;
  /** Replaces the strings in the settings that come from the environment or from a file with `***`. The log does this automatically. */
  withoutSecrets(text: string): string;
  /** Resolves a path in the settings against the folder of the flow file. */
  readonly resolvePath: ResolvePath;
  /**
   * Registers work that the hub waits for before it ends, such as writing a file. Must be called while the connection is being
   * unsubscribed.
   */
  finish(work: Promise<unknown>): void;
  /** Combines all events that the connection emits during `work` into one turn, which rules and clients see as a single change. */
  turn(work: () => void): void;
  /** Returns the value of an input. Hot, replays last (undefined if unknown; nothing for a trigger), synchronous, never errors. */
  input(name: string): Observable<Value | undefined>;
  /**
   * Returns the change that is currently being delivered, such as the write that an inbox emits, or undefined if no change is being
   * delivered.
   */
  cause(): Change | undefined;
  /**
   * Records a copy of a sent or received frame for `patchbay wire`. A frame with a `fault` counts as refused; `fault` states the reason.
   */
  wire(direction: 'in' | 'out', bytes: Uint8Array, fault?: string): void;
  /** Like `wire`, but records several received frames: the frames in the list from the index `from` up to the index `end`. */
  wireReceived(frames: readonly FramePart[], from: number, end: number): void;
  /** The value types of the inputs, keyed by name. */
  readonly inputTypes: InputTypes;
  /**
   * Returns the last change to an input. While the connection is being notified of a change to an input, returns the change to which the
   * notification belongs.
   */
  lastChange(name: string): Change | undefined;
  /**
   * Returns a function that schedules `work`, which needs a consistent state of all inputs. After each call of the function, `work` runs
   * once: after all writes in the current turn, or in a separate turn. All resulting events form one turn. The work must not throw.
   */
  atSettle(work: () => void): () => void;
  /** The values that a store has kept, keyed by Parameter ID, as they were when the connection started. Empty in a hub without a store. */
  readonly restored: ReadonlyMap<string, Value>;
  /** The connection's work in progress, which continues after a restart of the hub; undefined in a hub without a store. */
  readonly memory: Memory | undefined;
  /**
   * The state that the connection's previous run in this hub has left behind, for example before a reload with other settings; undefined if
   * there is no such state.
   */
  readonly left: unknown;
  /** Leaves a state for the connection's next run in this hub. Must be called while the connection is being unsubscribed. */
  leave(what: unknown): void;
}

/** The environment of a gateway before the hub is running. */
export type RestoreContext<Settings> = Pick<ConnectionContext<Settings>, 'id' | 'settings' | 'log' | 'resolvePath'>;

/** The value types of a connection's inputs, keyed by input name. An input with an invalid address has no type. */
export type InputTypes = ReadonlyMap<string, ValueType>;

/**
 * The log of one connection. Each entry consists of data and a sentence. For each kind of entry, at most one entry is written per second,
 * with the number of entries that it represents. The kind defaults to the sentence. The kind must be specified if the sentence contains
 * text from outside.
 */
export interface Log {
  /** Whether entries at the debug level are written anywhere. If they are not, the text of such entries need not be created. */
  readonly isDebugging?: boolean;
  debug(data: object, message: string, kind?: string): void;
  info(data: object, message: string, kind?: string): void;
  warn(data: object, message: string, kind?: string): void;
  error(data: object, message: string, kind?: string): void;
}

/** A connection type with its literal name and its schema. TypeScript derives the type of the settings in flow files from the schema. */
export interface DefinedConnectionType<Name extends string, Schema extends z.ZodObject> extends ConnectionType {
  readonly type: Name;
  readonly settingsSchema: Schema;
}

/** A gateway type with its literal name and its schema, like `DefinedConnectionType`. */
export interface DefinedGatewayType<Name extends string, Schema extends z.ZodObject> extends GatewayType {
  readonly type: Name;
  readonly settingsSchema: Schema;
}

/** Defines a connection type. The type of its settings is inferred from the schema. */
export function defineConnectionType<const Name extends string, Schema extends z.ZodObject>(
  type: ConnectionType<z.output<Schema>> & { readonly type: Name; readonly settingsSchema: Schema },
): DefinedConnectionType<Name, Schema> {
  return type as unknown as DefinedConnectionType<Name, Schema>;
}

/** Defines a gateway type. The type of its settings is inferred from the schema. */
export function defineGatewayType<const Name extends string, Schema extends z.ZodObject>(
  type: Omit<GatewayType<z.output<Schema>>, 'isGateway'> & { readonly type: Name; readonly settingsSchema: Schema },
): DefinedGatewayType<Name, Schema> {
  return { ...type, isGateway: true } as unknown as DefinedGatewayType<Name, Schema>;
}
