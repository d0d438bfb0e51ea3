// The contract of connection types (lib/connections/connection.ts), as a suite that holds it against one of them.

import { resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test, { type ExecutionContext } from 'ava';
import { firstValueFrom, ReplaySubject, timeout, VirtualAction, VirtualTimeScheduler } from 'rxjs';
import type { AnyConnectionType, ConnectionEvent } from '../../lib/connections/connection.ts';
import { connectionSchema, flowFileJsonSchema } from '../../lib/flow/check/schema.ts';
import { loadFlows } from '../../lib/hub/index.ts';
import { parameterIdMistake } from '../../lib/model/address.ts';
import { connect } from './connection.ts';
import { connectionTypes } from './connection-types.ts';
import { deadlineMs } from './deadline.ts';
import { createFolder } from './folder.ts';
import { startTestHub, statusOf } from './hub.ts';

/** What the suite has to know of a connection type. */
export interface ContractCase {
  /** Settings with which it declares at least one parameter, where it declares any. */
  readonly settings: object;
  /** Settings beside them with which it claims something; if omitted, it does with `settings`, or never. */
  readonly claiming?: object;
  /**
   * What it sets within 200 ms after all that can be written has been written, in the order of the alphabet. Left out: nothing, as of a type
   * whose values come from outside.
   */
  readonly sets?: readonly string[];
  /** What keeps it from working: at least one for a type that reaches out of the process. */
  readonly troubles?: readonly Trouble[];
}

export interface Trouble {
  /** `the port is taken` */
  readonly what: string;
  readonly state: 'failed' | 'degraded';
  /** What the operator reads. */
  readonly reason: RegExp;
  /** Brings the trouble about; gives the settings of a connection that meets it, and what ends it, where a spec can. */
  cause(t: ExecutionContext): Promise<{ readonly settings: object; end?(): Promise<unknown> }>;
}

const accesses = ['read-only', 'write-only', 'read-write'];

/** Holds the contract against a type. */
export function holdContract(type: AnyConnectionType, contractCase: ContractCase): void {
  holdDeclarations(type, contractCase);
  holdClaims(type, contractCase);
  if (!type.isGateway) holdRun(type, contractCase);
  for (const trouble of contractCase.troubles ?? []) holdTrouble(type, trouble);
  test(`${type.type}: has a trouble here exactly if it reaches out of the process`, (t) =>
    t.is((contractCase.troubles?.length ?? 0) > 0, type.isExternal));
}

function holdDeclarations(type: AnyConnectionType, { settings }: ContractCase): void {
  const name = type.type;
  const written = { type: name, ...settings };

  test(`${name}: refuses unknown settings and describes each of its own`, (t) => {
    const result = connectionSchema(type).safeParse({ ...written, 'no-such-setting': 1 });
    t.like(result.error?.issues[0], { code: 'unrecognized_keys', keys: ['no-such-setting'] });
    for (const [setting, schema] of Object.entries(type.settingsSchema.shape)) t.truthy(schema.description, setting);
  });

  test(`${name}: the JSON Schema of flow files knows it`, (t) => {
    const validate = new Ajv2020({ strict: false }).compile(flowFileJsonSchema(new Map([[name, type]])));
    t.true(validate({ connections: { it: written } }), JSON.stringify(validate.errors));
    t.false(validate({ connections: { it: { ...written, 'no-such-setting': 1 } } }));
  });

  test(`${name}: declares valid parameters, the same each time, and leaves its settings alone`, (t) => {
    const parsed = connectionSchema(type).parse(written);
    const before = JSON.stringify(parsed);
    const [first, second] = [type.parameters(parsed, resolve), type.parameters(parsed, resolve)];
    t.deepEqual(JSON.stringify(first), JSON.stringify(second));
    t.is(JSON.stringify(parsed), before);
    t.is(new Set(first.map(({ id }) => id)).size, first.length);
    for (const { id, access } of first) {
      t.is(parameterIdMistake(id), undefined);
      t.true(accesses.includes(access));
    }
  });
}

function holdClaims(type: AnyConnectionType, { settings, claiming }: ContractCase): void {
  test(`${type.type}: two connections that claim the same are a mistake, and it says what`, async (t) => {
    const connection = { type: type.type, ...settings, ...claiming };
    const claims = type.claims?.(connectionSchema(type).parse(connection), resolve) ?? [];
    t.is(claims.length > 0, type.claims !== undefined || claiming !== undefined, 'what it claims');
    for (const claim of claims) for (const part of [claim.kind, claim.name, claim.scope]) t.not(part, '');
    const flow = { connections: { one: connection, other: connection } };
    const loading = loadFlows([await createFolder(t, { 'flow.json5': flow })], withType(type));
    const mistakes = await loading.then(
      () => '',
      ({ message }) => message,
    );
    t.is(mistakes.match(/expected exclusive use of .*, but "one" also uses it/g)?.length ?? 0, claims.length, mistakes);
  });
}

function holdRun(type: Exclude<AnyConnectionType, { isGateway: true }>, { settings, sets = [] }: ContractCase): void {
  const name = type.type;

  test(`${name}: is cold, tells its state first, stops when unsubscribed and starts again`, async (t) => {
    const connection = connect(type, settings, { folder: await createFolder(t) });
    for (let round = 0; round < 2; round++) {
      const first = await firstValueFrom(connection.events$.pipe(timeout(deadlineMs)));
      t.true('state' in first, 'a state comes before the first value');
      if ('state' in first && first.state === 'degraded') isReason(t, first.reason);
      if (!type.isExternal) t.deepEqual(first, { state: 'running' });
    }
    await Promise.all(connection.unfinished);
    t.deepEqual(
      connection.lines.filter(({ level }) => level === 'error'),
      [],
    );
  });

  test(`${name}: sets only parameters that it declares, and goes on`, async (t) => {
    const scheduler = new VirtualTimeScheduler(VirtualAction, 200);
    const connection = connect(type, settings, { scheduler, folder: await createFolder(t) });
    const ids = new Set(connection.parameters.map(({ id }) => id));
    const sent = new Set<string>();
    const events$ = new ReplaySubject<ConnectionEvent>();
    const subscription = connection.events$.subscribe(events$);
    events$.subscribe({
      next: (event) => 'set' in event && sent.add(event.set),
      error: (error) => t.fail(String(error)),
      complete: () => t.fail('it completed'),
    });
    for (const { id, access } of connection.parameters) if (access !== 'read-only') connection.write(id, '1');
    scheduler.flush();
    await firstValueFrom(events$.pipe(timeout(deadlineMs)));
    subscription.unsubscribe();
    await Promise.all(connection.unfinished);
    t.deepEqual([...sent].sort(), [...sets]);
    for (const id of sent) t.true(ids.has(id), id);
  });
}

function holdTrouble(type: AnyConnectionType, { what, state, reason, cause }: Trouble): void {
  const isOfAll = type.isGateway === true && state === 'failed';
  test(`${type.type}: when ${what} it is ${state} and says why; ${isOfAll ? 'the hub does not start' : 'its neighbours run'}`, async (t) => {
    const { settings, end } = await cause(t);
    const flow = {
      connections: { it: { type: type.type, ...settings }, desk: { type: 'dummy', parameters: ['lamp,B'] } },
    };
    const starting = startTestHub(t, flow, { types: withType(type) });
    if (isOfAll) {
      const error = await t.throwsAsync(starting, { code: 'cannot-start' });
      isReason(t, error!.message);
      t.regex(error!.message, reason);
      return;
    }
    const hub = await starting;
    await hub.logged(new RegExp(`^connection "it" is ${state}: `));
    const status = statusOf(hub, 'it');
    isReason(t, status.reason);
    t.regex(status.reason, reason);
    t.is(status.state, state);
    t.is(statusOf(hub, 'desk').state, 'running');
    if (end === undefined) return;
    const running = /^connection "it" is running$/;
    const before = hub.lines.filter(({ message }) => running.test(message)).length;
    await end();
    await hub.logged(running, before + 1);
    t.is(statusOf(hub, 'it').reason, '');
  });
}

/** One sentence for the operator, and no stack. */
function isReason(t: ExecutionContext, reason: string): void {
  t.regex(reason, /^\S[^\n]{3,}$/);
  t.notRegex(reason, /:\d+:\d+\)?$/);
}

function withType(type: AnyConnectionType): ReadonlyMap<string, AnyConnectionType> {
  return new Map([...connectionTypes, [type.type, type]]);
}
