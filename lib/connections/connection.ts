// The contract of a connection type, in the order in which somebody who writes one needs it. The README of this folder
// shows how to add a type, step by step.

import type { Observable, SchedulerLike } from 'rxjs';
import type { z } from 'zod';
import type { Change, Parameter, ParameterDeclaration } from '../model/parameter.ts';
import type { Value, ValueType } from '../model/value.ts';
import type { Claim } from './claim.ts';
import type { HubPort } from './hub-port.ts';
import type { Kept, Memory, PrivateFiles } from './persistence.ts';
import type { ResolvePath, SettingHint, SettingMistake } from './setting.ts';

/** What every connection type says about itself; all but `type`, `isExternal`, `settingsSchema` and `parameters` is optional. */
interface ConnectionTypeBasics<Settings> {
  /** The name by which flow files call it, `virtual-core`; its folder has the same name. */
  readonly type: string;
  /**
   * Whether it reaches out of the process: to the network, a file, a device. Tests in virtual time do not start a type that
   * does; they set and read its parameters themselves.
   */
  readonly isExternal: boolean;
  /** The shape of its settings, a strict object in which every setting has a description. */
  readonly settingsSchema: z.ZodObject;
  /**
   * Declares the parameters of a connection with these settings. It is called whenever flow files are checked, also when
   * nothing runs: it reads at most the files that the settings name, gives the same each time, and never throws.
   */
  parameters(settings: Settings, resolvePath: ResolvePath): readonly ParameterDeclaration[];
  /**
   * Tells what a connection with these settings needs for itself alone, such as a port; pure. A gateway frees it the moment
   * it is unsubscribed, every other type by the end of the work that it hands to `finish`.
   */
  claims?(settings: Settings, resolvePath: ResolvePath): readonly Claim[];
  /** Tells which parameters of others the connection listens to, by a name of its own: name → address; pure. */
  inputs?(settings: Settings): Readonly<Record<string, string>>;
  /** Tells where in the settings the address of an input stands; pure. Left out: `inputs.<name>`. */
  inputPath?(name: string): SettingMistake['path'];
  /** Tells which inputs a parameter of the connection depends on, so that cycles across connections are found; pure. */
  follows?(settings: Settings): (parameterId: string) => Iterable<string>;
  /** Tells what is wrong with settings whose shape is right, such as an input of the wrong value type; pure. */
  mistakes?(settings: Settings, inputTypes: InputTypes): readonly SettingMistake[];
  /** Tells what works in the settings and is probably not meant, such as a right to parameters that there are none of, or a missing folder. */
  hints?(settings: Settings, declared: DeclaredAddresses, resolvePath: ResolvePath): readonly SettingHint[];
  /**
   * Tells what is wrong in files that people write and that it reads while it runs, a line each with its place; `whyUnknown` tells
   * what is wrong with an address, undefined: nothing. Only `patchbay check` asks.
   */
  furtherMistakes?(
    settings: Settings,
    resolvePath: ResolvePath,
    whyUnknown: (address: string) => string | undefined,
  ): readonly string[];
  /** Tells which files it reads once, when it starts; a change of one of them starts the connection anew; pure. */
  files?(settings: Settings, resolvePath: ResolvePath): readonly string[];
  /** Tells which files and folders belong to it beside those of `files`, so that a backup has them; pure. */
  belongings?(settings: Settings, resolvePath: ResolvePath): readonly string[];
  /** Tells which files nobody may be served, such as keys and databases, beside those of `files` and `belongings`; pure. */
  privateFiles?(settings: Settings, resolvePath: ResolvePath): readonly PrivateFiles[];
  /** Tells which folders it serves, by the settings that name them; pure. */
  servedFolders?(settings: Settings, resolvePath: ResolvePath): readonly ServedFolder[];
  /**
   * Tells which settings a running connection can go to by itself where others are wanted: it is told them by `settings$`. Where these
   * are the others, it is not started anew; undefined: it cannot go anywhere; pure. Only for a type without `files`, and settings of
   * which its parameters and claims are the same. Left out: it cannot.
   */
  takesOver?(before: Settings, after: Settings): Settings | undefined;
  /**
   * Declares a parameter that a rule names and `parameters` lacks, because the file that would tell it is broken: then this
   * connection fails alone, and everything that leads to it still loads. Left out: an unknown parameter is a mistake.
   */
  presume?(settings: Settings, parameterId: string, resolvePath: ResolvePath): ParameterDeclaration | undefined;
  /** The least that a server which others run has to permit it, as text for the configuration of that server; pure. */
  permissions?(settings: Settings): string;
  /**
   * Tells which parameters of other hubs may be named in flow files, where the connection joins hubs; it reads at most the file
   * that the settings name, and never throws. Left out: there are no other hubs.
   */
  remotes?(settings: Settings, resolvePath: ResolvePath): Remotes;
  /**
   * Whether its parameters hold what others have written, and nothing outside of the hub knows better: then a store keeps those
   * that are not read-only, and gives them back after a restart. Left out: no value of it outlives the hub.
   */
  readonly isKept?: boolean;
  /** Settings that only `parameters` reads; `run` does not get them, so that long lists are not kept twice. */
  readonly declaring?: readonly string[];
  /** The names of settings that are durations, wherever in the settings: a small number without a unit is asked about. */
  readonly durations?: readonly string[];
}

/** A folder whose files clients get. */
export interface ServedFolder {
  readonly setting: SettingMistake['path'];
  /** Its full path. */
  readonly path: string;
}

/** The addresses of a connection, or of all; undefined: they may be those of another hub, and are not all known. */
export type DeclaredAddresses = (connectionId?: string) => Iterable<string> | undefined;

/** The parameters of other hubs, as far as flow files can be checked against them. */
export interface Remotes {
  /** By address; undefined: they are not known, and any Connection ID may be one of another hub. */
  readonly parameters: ReadonlyMap<string, Pick<ParameterDeclaration, 'type' | 'access'>> | undefined;
  /** The file that tells them, which is watched; undefined: there is none. */
  readonly file: string | undefined;
  /** What is wrong with the file, and the setting that names it. */
  readonly mistake?: { readonly path: SettingMistake['path']; readonly message: string };
}

/** A connection type that sees its own parameters and its inputs, and nothing else. */
export interface ConnectionType<Settings = unknown> extends ConnectionTypeBasics<Settings> {
  readonly isGateway?: false;
  /**
   * Creates the running connection. The Observable is cold: subscribing starts the connection, unsubscribing stops it, and
   * it may be started again afterwards. It never completes. How it errs is told at `ConnectionEvent`.
   */
  run(context: ConnectionContext<Settings>): Observable<ConnectionEvent>;
}

/** A connection type that opens the whole hub to others, such as the REST API. A hub does not start while one of them fails. */
export interface GatewayType<Settings = unknown> extends ConnectionTypeBasics<Settings> {
  readonly isGateway: true;
  readonly isExternal: true;
  /**
   * Gives what it has kept of an earlier run of the hub. The hub asks once, before any connection runs, and waits: it comes to an
   * end soon, and never rejects.
   */
  restore?(context: RestoreContext<Settings>): Promise<Kept>;
  /** Tells why no other connection and no rule runs before the gateway has them begin; pure. Left out, undefined: they run at once. */
  startsOnLeaderOnly?(settings: Settings): string | undefined;
  /**
   * Whether the gateway runs only while the hub does its work, before all other connections, as what it has belongs to whoever does
   * it; pure. Left out: it always runs.
   */
  flushesLast?(settings: Settings): boolean;
  run(context: ConnectionContext<Settings>, hub: HubPort): Observable<ConnectionEvent>;
}

export type AnyConnectionType = ConnectionType | GatewayType;

/**
 * What a running connection emits: a value for one of its parameters, `{ set: 'pulse/1', value: true }`, or its own state.
 *
 * A connection is in one of these states:
 * - *running*: everything works. It emits `{ state: 'running' }` as soon as that is so.
 * - *degraded*: it does not work at the moment, or only in part, and nobody has to change the settings for it to get well: the
 *   disk is full, the device does not answer. It emits the state with a reason, goes on trying by itself, and emits `running`
 *   once it works again.
 * - *failed*: it cannot work as it is set up: the port is taken, the template does not parse. `run` errs with
 *   `new HubError('cannot-start', reason)`.
 * - *disabled*: its settings or somebody's hand keep it stopped. Only the hub says so.
 *
 * Whenever `run` has erred the hub subscribes to it again, after 1 s, 2 s, 4 s, … 30 s. An error that is not `cannot-start` is
 * a crash: the connection is shown as degraded, with the message of the error. To complete is a crash as well.
 */
export type ConnectionEvent =
  | {
      /** The Parameter ID. */
      readonly set: string;
      /** What `ConnectionContext.own` gave for it; left out: it is looked up. */
      readonly own?: Parameter | undefined;
      readonly value: unknown;
      /** The change that led to this value, where the hub cannot know it: see `ConnectionContext.scheduler`. */
      readonly because?: Change | undefined;
    }
  | { readonly state: 'running' }
  | {
      readonly state: 'degraded';
      /** One sentence for the operator: what does not work, and why. */
      readonly reason: string;
    };

/** What a running connection has to work with. */
export interface ConnectionContext<Settings> {
  /** The Connection ID. */
  readonly id: string;
  /** The settings of the connection, as the schema has parsed them. */
  readonly settings: Settings;
  /** Settings that it takes over, as `takesOver` says. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly settings$: Observable<Settings>;
  /**
   * One of the connection's parameters; undefined: it has none of this ID. For a connection that sets thousands with each change: to look
   * each of them up again would be a tenth of its work.
   */
  own(parameterId: string): Parameter | undefined;
  /**
   * What others write to one of the connection's parameters. Hot, replays nothing, synchronous, never errors. While it is subscribed
   * to, `accept` replaces that of the declaration, where what is possible is known to the running connection alone.
   */
  inbox(parameterId: string, accept?: ParameterDeclaration['accept']): Observable<Value>;
  /**
   * The only clock of the connection; `now()` counts milliseconds and never jumps. It remembers causes: what a connection
   * emits while it is told a change, or in work that it scheduled then, has that change as its cause.
   */
  readonly scheduler: SchedulerLike;
  /** The time of day, in milliseconds since 1970; it jumps when somebody sets the clock of the machine. */
  timeOfDay(): number;
  readonly log: Log;
  /** A text with `***` in place of each text of the settings that comes from the environment or a file. The log needs no such call. */
  withoutSecrets(text: string): string;
  /** Resolves a path of the settings against the folder of the flow file. */
  readonly resolvePath: ResolvePath;
  /** Hands over work that the hub waits for before it ends, such as a file being written; called while unsubscribing. */
  finish(work: Promise<unknown>): void;
  /** Makes one turn of all that the connection emits during `work`: rules and clients see it as one change. */
  turn(work: () => void): void;
  /** The value of an input. Hot, replays last (undefined: unknown; a trigger: nothing), synchronous, never errors. */
  input(name: string): Observable<Value | undefined>;
  /** The value types of the inputs, by name. */
  readonly inputTypes: InputTypes;
  /** The last change of an input; while an input is told, the change that is told. */
  lastChange(name: string): Change | undefined;
  /**
   * Prepares work that needs all inputs as of one moment. Each call of the function that it returns has the work run once: after
   * all writes of the present turn, or in a turn of its own. What the work emits is one turn. The work must not throw.
   */
  atSettle(work: () => void): () => void;
  /**
   * The values of its parameters that a store keeps, by Parameter ID, as they are when the connection starts; empty in a hub
   * without a store.
   */
  readonly restored: ReadonlyMap<string, Value>;
  /** What it has under way, for a restart of the hub to go on with; undefined in a hub without a store. */
  readonly memory: Memory | undefined;
  /** What its last life in this hub has left, such as when a reload has changed its settings; undefined: nothing. */
  readonly left: unknown;
  /** Leaves something to its next life in this hub; called while unsubscribing. */
  leave(what: unknown): void;
}

/** What a connection has to work with before the hub runs. */
export type RestoreContext<Settings> = Pick<ConnectionContext<Settings>, 'id' | 'settings' | 'log' | 'resolvePath'>;

/** The value types of the inputs of a connection, by name; an input whose address is a mistake has none. */
export type InputTypes = ReadonlyMap<string, ValueType>;

/**
 * The log of one connection: data first, then the sentence. Entries of one kind are written once a second at most, with how
 * often they came. The kind is the sentence unless it is given; give one where the sentence holds what others send.
 */
export interface Log {
  debug(data: object, message: string, kind?: string): void;
  info(data: object, message: string, kind?: string): void;
  warn(data: object, message: string, kind?: string): void;
  error(data: object, message: string, kind?: string): void;
}

/** A connection type with its name and schema as they are, from which TypeScript knows what flow files may say. */
export interface DefinedConnectionType<Name extends string, Schema extends z.ZodObject> extends ConnectionType {
  readonly type: Name;
  readonly settingsSchema: Schema;
}

/** A gateway type, as `DefinedConnectionType`. */
export interface DefinedGatewayType<Name extends string, Schema extends z.ZodObject> extends GatewayType {
  readonly type: Name;
  readonly settingsSchema: Schema;
}

/** Defines a connection type; the type of its settings follows from its schema. */
export function defineConnectionType<const Name extends string, Schema extends z.ZodObject>(
  type: ConnectionType<z.output<Schema>> & { readonly type: Name; readonly settingsSchema: Schema },
): DefinedConnectionType<Name, Schema> {
  return type as unknown as DefinedConnectionType<Name, Schema>;
}

/** Defines a gateway type; the type of its settings follows from its schema. */
export function defineGatewayType<const Name extends string, Schema extends z.ZodObject>(
  type: Omit<GatewayType<z.output<Schema>>, 'isGateway'> & { readonly type: Name; readonly settingsSchema: Schema },
): DefinedGatewayType<Name, Schema> {
  return { ...type, isGateway: true } as unknown as DefinedGatewayType<Name, Schema>;
}
