// The contract of a connection type, in the order in which the author of a type needs it. The README of this folder shows step by step how
// to add a type.

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
  /** The name in flow files, `virtual-core`; its folder has the same name. */
  readonly type: string;
  /**
   * Whether it has effects outside the process: on the network, on files, on devices. Tests in virtual time do not start such a type, but
   * set and read its parameters themselves.
   */
  readonly isExternal: boolean;
  /** The schema of its settings: a strict object in which every setting has a description. */
  readonly settingsSchema: z.ZodObject;
  /**
   * Declares the parameters of a connection with these settings. The hub calls it whenever it checks flow files, even if nothing runs. It
   * reads no files other than those named in the settings, returns the same result each time, and never throws.
   */
  parameters(settings: Settings, resolvePath: ResolvePath): readonly ParameterDeclaration[];
  /**
   * Returns the resources that a connection with these settings needs exclusively, such as a port; pure. A gateway releases it as soon as
   * it is unsubscribed; any other type when the work that it passes to `finish` ends.
   */
  claims?(settings: Settings, resolvePath: ResolvePath): readonly Claim[];
  /** Returns the parameters of other connections that this one listens to, as a map from local names to addresses; pure. */
  inputs?(settings: Settings): Readonly<Record<string, string>>;
  /** Returns the path of an input's address in the settings; pure. Omitted: `inputs.<name>`. */
  inputPath?(name: string): SettingMistake['path'];
  /** Returns the inputs on which a parameter of the connection depends, so that cycles across connections are found; pure. */
  follows?(settings: Settings): (parameterId: string) => Iterable<string>;
  /** Returns the parameters of the connection whose writes may change a parameter of it, so that people see the way; pure. */
  causes?(settings: Settings, resolvePath: ResolvePath): (parameterId: string) => Iterable<string>;
  /** Returns errors in settings that match the schema, such as an input of the wrong value type; pure. */
  mistakes?(settings: Settings, inputTypes: InputTypes, resolvePath: ResolvePath): readonly SettingMistake[];
  /** Returns settings that logs and `patchbay wire` mask, in addition to those from the environment and from files. */
  secrets?(settings: Settings): readonly string[];
  /**
   * Returns the errors in files that declare parameters, such as device descriptions, each with its location. `shownPath` returns a
   * path as the user wrote it. An error there makes loading fail, like an error in a flow file.
   */
  fileMistakes?(settings: Settings, resolvePath: ResolvePath, shownPath: ResolvePath): readonly FileMistake[];
  /**
   * Returns warnings about settings that work but are probably not intended, such as rights to nonexistent parameters, or a missing folder.
   */
  hints?(settings: Settings, declared: DeclaredAddresses, resolvePath: ResolvePath): readonly SettingHint[];
  /**
   * Returns errors in user files that it reads while it runs, one line each, with the location. `whyUnknown` returns the error for an
   * address; undefined if the address is known. Only `patchbay check` calls this.
   */
  furtherMistakes?(
    settings: Settings,
    resolvePath: ResolvePath,
    whyUnknown: (address: string) => string | undefined,
  ): readonly string[];
  /** Returns the folder of files that it shows and that users may edit, such as dashboards; undefined if there is none; pure. */
  documents?(settings: Settings, resolvePath: ResolvePath): DocumentFolder | undefined;
  /** Returns the files that it reads once, at the start; changing one of them restarts the connection; pure. */
  files?(settings: Settings, resolvePath: ResolvePath): readonly string[];
  /** Returns the files and folders that a backup needs besides `files`; pure. */
  belongings?(settings: Settings, resolvePath: ResolvePath): readonly string[];
  /** Returns the files that must never be served, such as keys and databases, besides `files` and `belongings`; pure. */
  privateFiles?(settings: Settings, resolvePath: ResolvePath): readonly PrivateFiles[];
  /** Returns the folders that it serves, and the settings that name them; pure. */
  servedFolders?(settings: Settings, resolvePath: ResolvePath): readonly ServedFolder[];
  /**
   * Returns the settings that a running connection can adopt without a restart when its settings change; it receives them on `settings$`.
   * If they equal `after`, it is not restarted; undefined if it cannot adopt any; pure. Only for types without `files`, and settings with
   * the same parameters and claims. Omitted: it never can.
   */
  takesOver?(before: Settings, after: Settings): Settings | undefined;
  /**
   * Declares a parameter that a rule names, but that `parameters` lacks because the file that defines it is broken. This way, only the
   * connection fails, and everything that refers to it still loads. Omitted: an unknown parameter is an error.
   */
  presume?(settings: Settings, parameterId: string, resolvePath: ResolvePath): ParameterDeclaration | undefined;
  /** Returns the minimal permissions that a server run by others has to grant, as text for its configuration; pure. */
  permissions?(settings: Settings): string;
  /**
   * Returns the parameters of other hubs that flow files may name, if the connection joins hubs. It reads no file other than the one named
   * in the settings, and never throws. Omitted: there are no other hubs.
   */
  remotes?(settings: Settings, resolvePath: ResolvePath): Remotes;
  /**
   * Whether its parameters hold values written by others, and nothing outside the hub has better values. A store then keeps those that are
   * not read-only, and restores them after a restart. Omitted: its values are lost when the hub stops.
   */
  readonly isKept?: boolean;
  /** Whether its settings grant access to the hub: an edit of them has to be confirmed. */
  readonly grantsAccess?: boolean;
  /**
   * The loss caused by a restart, in words that follow the Connection ID: 'its running timers end'; omitted if nothing worth mentioning is
   * lost.
   */
  readonly lostAtRestart?: string;
  /** Settings needed only by `parameters`. `run` does not receive them, so long lists are not kept twice. */
  readonly declaring?: readonly string[];
  /** Whether a connection with these settings runs without its device; pure. Omitted: none does. */
  isSimulated?(settings: Settings): boolean;
  /** Returns a readable form of a frame, for a binary protocol; omitted: text with escaped characters. Never throws. */
  showFrame?(frame: Uint8Array): string;
  /** How a test plays the device of a connection. Omitted: tests set its parameters themselves. */
  readonly played?: PlayedDevice<Settings>;
  /** The names of settings that are durations, anywhere in the settings: for a small number without a unit, the check asks for the unit. */
  readonly durations?: readonly string[];
}

/** A device that a test simulates. */
export interface PlayedDevice<Settings> {
  /** Returns how tests write its messages; pure. Errors: `cannot-start` for a description with errors. */
  messages(settings: Settings, resolvePath: ResolvePath): PlayedMessages;
  /** Runs the connection over this transport instead of its own, without randomness, and only on its scheduler. */
  run(context: ConnectionContext<Settings>, transport: Transport): Observable<ConnectionEvent>;
}

/** A message as written in tests: in the form of the protocol, or as text or hex bytes. */
export type WrittenMessage = string | { readonly text: string } | { readonly hex: string };

export interface PlayedMessages {
  readonly transport: Pick<Transport, 'keepsFrames' | 'isPassive'>;
  /** Returns the bytes that the device (`in`) or the hub (`out`) sends, and the frames in them in the form returned by `show`. Errors: one sentence. */
  read(
    written: WrittenMessage,
    direction: 'in' | 'out',
  ): { readonly bytes: Uint8Array; readonly frames: readonly string[] };
  /** Returns a frame in the form that `sent` compares. */
  show(frame: Uint8Array): string;
}

/** Returns the messages of a protocol whose packets tests write in the form of `show`. `encode` reads that form. Errors: one sentence. */
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

/** The addresses of one connection or of all; undefined if the addresses may belong to another hub, whose addresses are not all known. */
export type DeclaredAddresses = (connectionId?: string) => Iterable<string> | undefined;

/** The parameters of other hubs, as far as they are known when flow files are checked. */
export interface Remotes {
  /** By address; undefined if they are not known, and any Connection ID may be one of another hub. */
  readonly parameters: ReadonlyMap<string, Pick<ParameterDeclaration, 'type' | 'access'>> | undefined;
  /** The file with the parameters, which the hub watches; undefined if there is none. */
  readonly file: string | undefined;
  /** The error in the file, and the setting that names it. */
  readonly mistake?: { readonly path: SettingMistake['path']; readonly message: string };
}

/** A connection type that sees only its own parameters and its inputs, unless its `run` takes the hub as well. */
export interface ConnectionType<Settings = unknown> extends ConnectionTypeBasics<Settings> {
  readonly isGateway?: false;
  /**
   * Creates the running connection. The Observable is cold: subscribing starts the connection, unsubscribing stops it, and it may be
   * started again afterwards. It never completes. `ConnectionEvent` describes its errors. `hub` is for a type that connects devices and
   * also shows other parameters of the hub to its peer; undefined if the connection runs alone.
   */
  run(context: ConnectionContext<Settings>, hub?: HubPort): Observable<ConnectionEvent>;
}

/** A connection type that gives access to the whole hub, such as the REST API. A hub does not start while one of them fails. */
export interface GatewayType<Settings = unknown> extends ConnectionTypeBasics<Settings> {
  readonly isGateway: true;
  readonly isExternal: true;
  /**
   * Prepares for `restore` while the flow files are being checked, for example starts a thread. The hub calls it at startup if a flow file
   * has a connection of the type. It must have no lasting effect if the hub does not start.
   */
  prepare?(): void;
  /**
   * Returns the saved values of an earlier run of the hub. The hub calls it once, before any connection runs, and waits for it, so it has
   * to resolve soon and must not reject.
   */
  restore?(context: RestoreContext<Settings>): Promise<Kept>;
  /**
   * Returns the reason why other connections and rules start only when the gateway begins the hub's work; pure. Omitted or undefined: they
   * start immediately.
   */
  startsOnLeaderOnly?(settings: Settings): string | undefined;
  /**
   * Whether the gateway runs only while the hub leads, starting before all other connections, because only the leader may use its data;
   * pure. Omitted: it always runs.
   */
  flushesLast?(settings: Settings): boolean;
  /** Returns what of it records a parameter, such as `history` and `snapshot night`, so that people see its uses; pure. */
  records?(settings: Settings): (address: string) => readonly string[];
  run(context: ConnectionContext<Settings>, hub: HubPort): Observable<ConnectionEvent>;
}

export type AnyConnectionType = ConnectionType | GatewayType;

/**
 * The events of a running connection: a value for one of its parameters, `{ set: 'pulse/1', value: true }`, or its own state.
 *
 * A connection is in one of these states:
 * - *running*: everything works. It emits `{ state: 'running' }` as soon as this is the case.
 * - *degraded*: it currently does not work, or works only in part, but can recover without new settings: the disk is full, the device does
 *   not answer. It emits the state with a reason, keeps trying, and emits `running` once it works again.
 * - *failed*: it cannot work with its settings: the port is taken, the template cannot be parsed. `run` errors with
 *   `new HubError('cannot-start', reason)`.
 * - *disabled*: its settings or a user keep it stopped. Only the hub sets this state.
 *
 * After each error of `run` the hub subscribes to it again, after 1 s, 2 s, 4 s, … 30 s. An error other than `cannot-start` is a crash: the
 * hub shows the connection as degraded, with the message of the error. Completing counts as a crash, too.
 */
export type ConnectionEvent =
  | {
      /** The Parameter ID. */
      readonly set: string;
      /** The parameter, from `ConnectionContext.own`; if omitted, the hub looks it up. */
      readonly own?: Parameter | undefined;
      readonly value: unknown;
      /** The change that led to this value, if the hub cannot know it: see `ConnectionContext.scheduler`. */
      readonly because?: Change | undefined;
      /**
       * Whether the device had this value before the hub connected: the value is shown, but no rule runs. It has an effect only while the
       * value is unknown.
       */
      readonly isRestored?: boolean;
    }
  /** The value of a parameter is no longer known, for example because the device reports this. */
  | { readonly unset: string }
  /** A write to a parameter with `isConfirmed` has failed: the device refused it, or did not answer. */
  | { readonly settle: string; readonly error: HubError }
  /**
   * Whether the values are stale because the device is offline. With `device`, only those of its parameters. Without it, all values become
   * stale, or those without a device become fresh.
   */
  | { readonly stale: boolean; readonly device?: string }
  /** Parameters that the device has reported. */
  | { readonly declare: readonly ParameterDeclaration[] }
  /** Parameter IDs of `declare` that the device no longer has. */
  | { readonly withdraw: readonly string[] }
  | { readonly state: 'running' }
  | {
      readonly state: 'degraded';
      /** One sentence for the operator: the problem and its reason. */
      readonly reason: string;
    };

/** The environment of a running connection. */
export interface ConnectionContext<Settings> {
  /** The Connection ID. */
  readonly id: string;
  /** The settings of the connection, parsed by the schema. */
  readonly settings: Settings;
  /** Settings to adopt, as returned by `takesOver`. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly settings$: Observable<Settings>;
  /**
   * Returns a parameter of the connection; undefined if it has none with this ID. For connections that set thousands of parameters with
   * each change, because looking up each one again would be a tenth of their work.
   */
  own(parameterId: string): Parameter | undefined;
  /**
   * The values written by others to a parameter of the connection. Hot, replays nothing, synchronous, never errors. While it is subscribed
   * to, `accept` replaces the one in the declaration, for checks that only the running connection can make.
   */
  inbox(parameterId: string, accept?: ParameterDeclaration['accept']): Observable<Value>;
  /**
   * The only clock of the connection; `now()` returns milliseconds and never jumps. It tracks causes: an event that a connection emits
   * while it is notified of a change, or in work scheduled during that, has the change as its cause.
   */
  readonly scheduler: SchedulerLike;
  /** The time of day, in milliseconds since 1970. It jumps when the machine's clock is set. */
  timeOfDay(): number;
  readonly log: Log;
  /** Masks each text in the settings that comes from the environment or a file as `***`. The log does this automatically. */
  withoutSecrets(text: string): string;
  /** Resolves a path in the settings against the folder of the flow file. */
  readonly resolvePath: ResolvePath;
  /** Registers work that the hub waits for before it ends, such as a file being written; called while unsubscribing. */
  finish(work: Promise<unknown>): void;
  /** Combines all events that the connection emits during `work` into one turn: rules and clients see them as one change. */
  turn(work: () => void): void;
  /** The value of an input. Hot, replays last (undefined: unknown; a trigger: nothing), synchronous, never errors. */
  input(name: string): Observable<Value | undefined>;
  /** The change that is being delivered, such as the write that an inbox emits; undefined if none is. */
  cause(): Change | undefined;
  /** Records a sent or received frame for `patchbay wire`. `fault` is the reason why it was refused; the frame then counts as refused. */
  wire(direction: 'in' | 'out', bytes: Uint8Array, fault?: string): void;
  /** Works as `wire`, for many received frames: those of the list from one place to another. */
  wireReceived(frames: readonly FramePart[], from: number, end: number): void;
  /** The value types of the inputs, by name. */
  readonly inputTypes: InputTypes;
  /** The last change of an input; while the connection is notified of an input, that change. */
  lastChange(name: string): Change | undefined;
  /**
   * Prepares work that needs all inputs at one point in time. After each call of the returned function, the work runs once: after all
   * writes of the current turn, or in a separate turn. All of its events form one turn. The work must not throw.
   */
  atSettle(work: () => void): () => void;
  /** The values from a store when the connection starts, by Parameter ID; empty in a hub without a store. */
  readonly restored: ReadonlyMap<string, Value>;
  /** The work in progress, which a restarted hub continues; undefined in a hub without a store. */
  readonly memory: Memory | undefined;
  /** The state left by its previous run in this hub, for example before a reload with other settings; undefined if there is none. */
  readonly left: unknown;
  /** Passes state to its next run in this hub; call it while unsubscribing. */
  leave(what: unknown): void;
}

/** The environment of a gateway before the hub runs. */
export type RestoreContext<Settings> = Pick<ConnectionContext<Settings>, 'id' | 'settings' | 'log' | 'resolvePath'>;

/** The value types of the inputs of a connection, by name; an input with a wrong address has none. */
export type InputTypes = ReadonlyMap<string, ValueType>;

/**
 * The log of one connection: data first, then the sentence. At most one entry per kind and second is written, with the number of entries
 * that it represents. The default kind is the sentence. Set a kind if the sentence contains text from outside.
 */
export interface Log {
  /** false: entries of the level debug are written nowhere, so their text need not be made. */
  readonly isDebugging?: boolean;
  debug(data: object, message: string, kind?: string): void;
  info(data: object, message: string, kind?: string): void;
  warn(data: object, message: string, kind?: string): void;
  error(data: object, message: string, kind?: string): void;
}

/** A connection type with its literal name and schema, from which TypeScript derives the settings of flow files. */
export interface DefinedConnectionType<Name extends string, Schema extends z.ZodObject> extends ConnectionType {
  readonly type: Name;
  readonly settingsSchema: Schema;
}

/** A gateway type, like `DefinedConnectionType`. */
export interface DefinedGatewayType<Name extends string, Schema extends z.ZodObject> extends GatewayType {
  readonly type: Name;
  readonly settingsSchema: Schema;
}

/** Defines a connection type; the type of its settings is inferred from its schema. */
export function defineConnectionType<const Name extends string, Schema extends z.ZodObject>(
  type: ConnectionType<z.output<Schema>> & { readonly type: Name; readonly settingsSchema: Schema },
): DefinedConnectionType<Name, Schema> {
  return type as unknown as DefinedConnectionType<Name, Schema>;
}

/** Defines a gateway type; the type of its settings is inferred from its schema. */
export function defineGatewayType<const Name extends string, Schema extends z.ZodObject>(
  type: Omit<GatewayType<z.output<Schema>>, 'isGateway'> & { readonly type: Name; readonly settingsSchema: Schema },
): DefinedGatewayType<Name, Schema> {
  return { ...type, isGateway: true } as unknown as DefinedGatewayType<Name, Schema>;
}
