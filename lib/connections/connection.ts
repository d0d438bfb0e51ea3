// The contract of a connection type. A connection is a cold Observable:
// subscribing starts it, unsubscribing stops it, an error is a crash that is logged and retried with backoff.

import type { Observable, SchedulerLike } from 'rxjs';
import type { z } from 'zod';
import type { Change, ParameterDeclaration } from '../model/parameter.ts';
import type { Value, ValueType } from '../model/value.ts';
import type { Claim } from './claim.ts';
import type { HubPort } from './hub-port.ts';

/**
 * What a running connection tells: a parameter it sets (`{set: 'pulse/1', value: true}`), or its own state. What it sets is
 * caused by the change that it is being told, or was told when it scheduled the work that sets it; `because` says better.
 */
export type ConnectionEvent =
  | { readonly set: string; readonly value: unknown; readonly because?: Change | undefined }
  | { readonly state: 'running' | 'degraded'; readonly reason?: string };

/** Resolves a path of the settings against the folder of the flow file. */
export type ResolvePath = (path: string) => string;

/**
 * Structured log of one connection: data first, then the sentence. Entries of one kind are written once a second at most, with
 * how often they came; left out, the kind is the sentence. Where it holds what clients send, a kind says what is told together.
 */
export interface Log {
  debug(data: object, message: string, kind?: string): void;
  info(data: object, message: string, kind?: string): void;
  warn(data: object, message: string, kind?: string): void;
  error(data: object, message: string, kind?: string): void;
}

export interface ConnectionContext<Config> {
  readonly id: string;
  readonly config: Config;
  /** The connection's only clock; `now()` is monotonic milliseconds. It remembers what caused the work it runs later. */
  readonly scheduler: SchedulerLike;
  readonly log: Log;
  readonly resolvePath: ResolvePath;
  /** Hands over work that has to end before the hub does, such as a file being written; call it when unsubscribed. */
  finish(work: Promise<unknown>): void;
  /** What others write to one of the connection's parameters. Hot, replays nothing, synchronous, never errors. */
  inbox(parameterId: string): Observable<Value>;
  /** The types of the inputs by name. */
  readonly inputTypes: InputTypes;
  /** The value of an input. Hot, replays last (undefined: unknown; a trigger: nothing), synchronous, never errors. */
  input(name: string): Observable<Value | undefined>;
  /** The last change of an input, the one being told included. */
  lastChange(name: string): Change | undefined;
  /**
   * Prepares work that needs consistent values. Each call of what it returns has the work run once: when no write of the
   * present turn waits any more, or in a turn of its own. All that the work sets is one turn. It must not throw.
   */
  atSettle(work: () => void): () => void;
}

/** The types of the inputs of a connection by name; an input whose address is a mistake has none. */
export type InputTypes = ReadonlyMap<string, ValueType>;

/** Something wrong with the settings at a path within them; of a name that is not known the nearest one is told. */
export type SettingMistake = { readonly path: readonly (string | number)[] } & (
  | { readonly message: string }
  | { readonly unknown: string; readonly name: string; readonly known: readonly string[] }
);

interface ConnectionBasics<Config> {
  readonly type: string;
  /** true: it reaches out of the process; tests in virtual time declare it only, and set its parameters themselves. */
  readonly isExternal?: boolean;
  /** Settings of the type, a strict object; parsing reports every mistake at once. */
  readonly config: z.ZodObject;
  /** Settings that only `parameters` needs: they are let go of once the parameters are declared. */
  readonly declaring?: readonly string[];
  /** The parameters of a connection with these settings; reads at most the files that they name, and never throws. */
  parameters(config: Config, resolvePath: ResolvePath): readonly ParameterDeclaration[];
  /**
   * Declares a parameter that an address names and `parameters` lacks, while what would tell it is broken: the connection
   * shall fail by itself, and not the load of everything that leads to it. Left out: there are no such parameters.
   */
  presume?(config: Config, parameterId: string, resolvePath: ResolvePath): ParameterDeclaration | undefined;
  /** Files that the settings name and that it reads once, at its start: a change of one starts it anew; pure. */
  files?(config: Config, resolvePath: ResolvePath): readonly string[];
  /**
   * What a connection with these settings needs for itself alone; pure. A gateway frees it the moment it is unsubscribed,
   * all others by the end of the work that they hand to `finish`.
   */
  claims?(config: Config, resolvePath: ResolvePath): readonly Claim[];
  /** The parameters that the connection listens to: name → address, as its setting `inputs` has them; pure. */
  inputs?(config: Config): Readonly<Record<string, string>>;
  /** Tells which inputs a parameter of the connection follows, so that cycles across connections are found; pure. */
  follows?(config: Config): (parameterId: string) => Iterable<string>;
  /** What is wrong with settings whose shape is right; pure. */
  mistakes?(config: Config, inputTypes: InputTypes): readonly SettingMistake[];
}

/** A connection type that sees its own parameters only. `run` is cold and emits `{state: 'running'}` once it works. */
export interface ConnectionType<Config = unknown> extends ConnectionBasics<Config> {
  readonly isGateway?: false;
  run(context: ConnectionContext<Config>): Observable<ConnectionEvent>;
}

/** A connection type that opens the whole graph to others. A gateway that cannot start ends the start of the hub. */
export interface GatewayType<Config = unknown> extends ConnectionBasics<Config> {
  readonly isGateway: true;
  run(context: ConnectionContext<Config>, hub: HubPort): Observable<ConnectionEvent>;
}

export type AnyConnectionType = ConnectionType | GatewayType;

/** Whether a connection type reaches out of the process, as gateways do. */
export function isExternal({ isExternal = false, isGateway = false }: AnyConnectionType): boolean {
  return isExternal || isGateway;
}

/** Defines a connection type; its settings type follows from its schema. */
export function defineConnectionType<Schema extends z.ZodObject>(
  type: ConnectionType<z.output<Schema>> & { readonly config: Schema },
): ConnectionType {
  return type as unknown as ConnectionType;
}

/** Defines a gateway type; its settings type follows from its schema. */
export function defineGatewayType<Schema extends z.ZodObject>(
  type: Omit<GatewayType<z.output<Schema>>, 'isGateway'> & { readonly config: Schema },
): GatewayType {
  return { ...type, isGateway: true } as unknown as GatewayType;
}
