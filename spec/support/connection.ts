// Runs one connection type by itself, as the hub would: settings parsed, parameters declared, a clock of the test's.

import { resolve } from 'node:path';
import {
  BehaviorSubject,
  firstValueFrom,
  NEVER,
  type Observable,
  ReplaySubject,
  type SchedulerLike,
  Subject,
} from 'rxjs';
import { elementAt, filter, map } from 'rxjs/operators';
import type { ConnectionContext, ConnectionEvent, ConnectionType, Log } from '../../lib/connections/connection.ts';
import { connectionSchema } from '../../lib/flow/check/schema.ts';
import { monotonicScheduler } from '../../lib/hub/index.ts';
import type { ParameterDeclaration } from '../../lib/model/parameter.ts';
import { convert, type Value } from '../../lib/model/value.ts';
import { within } from './deadline.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
}

export interface LogRecorder extends Log {
  readonly lines: LogLine[];
  child(): Log;
  /** Resolves with the first message that matches, or with a later one by its number, of those that are there or come. */
  logged(pattern: RegExp, number?: number): Promise<string>;
}

/** A log that keeps its lines. */
export function createLogRecorder(): LogRecorder {
  const lines: LogLine[] = [];
  const lines$ = new ReplaySubject<LogLine>();
  const at = (level: LogLine['level']) => (_: object, message: string) => {
    lines.push({ level, message });
    lines$.next({ level, message });
  };
  const log = { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const logged = (pattern: RegExp, number = 1) => {
    const match$ = lines$.pipe(
      map(({ message }) => message),
      filter((message) => pattern.test(message)),
      elementAt(number - 1),
    );
    return within(firstValueFrom(match$), `a line ${pattern} of the log`);
  };
  return Object.assign(log, { child: () => log, logged });
}

export interface ConnectionUnderTest {
  readonly parameters: readonly ParameterDeclaration[];
  readonly events$: Observable<ConnectionEvent>;
  readonly lines: LogLine[];
  /** What the connection has handed over to be finished. */
  readonly unfinished: Promise<unknown>[];
  /** Writes to a parameter as another connection would; throws as the graph does. */
  write(parameterId: string, input: unknown): void;
}

export function connect(
  type: ConnectionType,
  settings: object,
  options: { scheduler?: SchedulerLike; timeOfDay?: () => number; folder?: string } = {},
): ConnectionUnderTest {
  const parsed = connectionSchema(type).parse({ type: type.type, ...settings });
  const resolvePath = (path: string) => resolve(options.folder ?? '.', path);
  const parameters = type.parameters(parsed, resolvePath);
  const inboxes = new Map(parameters.map(({ id }) => [id, new Subject<Value>()]));
  const unfinished: Promise<unknown>[] = [];
  const log = createLogRecorder();
  const context: ConnectionContext<unknown> = {
    id: 'test',
    settings: parsed,
    log,
    withoutSecrets: (text) => text,
    scheduler: options.scheduler ?? monotonicScheduler,
    timeOfDay: options.timeOfDay ?? Date.now,
    resolvePath,
    settings$: NEVER,
    finish: (work) => void unfinished.push(work),
    inbox: (id) => inboxes.get(id)!,
    inputTypes: new Map(),
    input: () => new BehaviorSubject<Value | undefined>(undefined),
    lastChange: () => undefined,
    cause: () => undefined,
    wire: () => {},
    wireReceived: () => {},
    own: () => undefined,
    turn: (work) => work(),
    atSettle: (work) => work,
    restored: new Map(),
    memory: undefined,
    left: undefined,
    leave: () => {},
  };
  return {
    parameters,
    events$: type.run(context),
    lines: log.lines,
    unfinished,
    write(id, input) {
      const declaration = parameters.find((parameter) => parameter.id === id)!;
      inboxes.get(id)!.next(declaration.accept?.(input) ?? convert(declaration.type, input));
    },
  };
}
