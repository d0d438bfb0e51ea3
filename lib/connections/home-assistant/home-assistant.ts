// The connection type `home-assistant`: Home Assistant entities as parameters, over Home Assistant's WebSocket API.

import { Observable } from 'rxjs';
import type { Transport } from '../../device/transport.ts';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { type ConnectionContext, type ConnectionEvent, defineConnectionType, playedPackets } from '../connection.ts';
import { Loss } from '../loss.ts';
import type { ResolvePath } from '../setting.ts';
import { declarationOf, Entities } from './entities.ts';
import { eventPart, partsOf } from './kinds.ts';
import {
  createTransports,
  domainOf,
  expectedOf,
  type HomeAssistantSettings,
  type Item,
  itemsOf,
  settingsSchema,
  splitEntity,
} from './settings.ts';
import { readMessage, showMessage } from './text.ts';

export const homeAssistant = defineConnectionType({
  type: 'home-assistant',
  isExternal: true,
  settingsSchema,
  durations: ['connectTimeout', 'idleTimeout', 'confirmTimeout', 'hold'],
  parameters: (settings, resolvePath) => allItems(settings, resolvePath).map(declare),
  mistakes: (settings, _, resolvePath) => [
    ...itemsOf(settings).mistakes,
    ...expectedOf(settings, resolvePath).mistakes,
  ],
  hints: ({ values, discover, expect }) =>
    Object.keys(values).length === 0 && discover === undefined && expect.length === 0
      ? [{ path: [], message: 'the connection has no parameters; set `values` or `discover`' }]
      : [],
  files: ({ expect }, resolvePath) => (typeof expect === 'string' ? [resolvePath(expect)] : []),
  secrets: ({ token }) => [token],
  isSimulated: ({ simulate }) => simulate,
  showFrame: showMessage,
  played: { messages: () => playedPackets(false, showMessage, readMessage), run },
  run: (context) => (context.settings.simulate ? simulate(context) : run(context)),
});

/** Returns the parameters that the settings define. */
function allItems(settings: HomeAssistantSettings, resolvePath: ResolvePath): readonly Item[] {
  const expected = expectedOf(settings, resolvePath).list.map(({ id, type }): Item => {
    const [entityId, name] = splitEntity(id)!;
    const domain = domainOf(entityId);
    const part = partsOf(domain)?.[name] ?? (domain === 'event' ? eventPart(name) : { type });
    return { id, entityId, name, part: part.type === type ? part : { ...part, type }, type };
  });
  return [...itemsOf(settings).items, ...expected];
}

function declare({ id, type, part, entityId }: Item): ParameterDeclaration {
  const entity = entityId === undefined ? undefined : { id: entityId, state: '', attributes: {} };
  return declarationOf({ id, type, part, about: {}, entity });
}

/** Connects to Home Assistant over a test's transport or, by default, over the transports in the settings. */
function run(context: ConnectionContext<HomeAssistantSettings>, played?: Transport): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const { settings, scheduler, resolvePath } = context;
    const loss = new Loss(settings, scheduler, () => entities.forget());
    const entities = new Entities({
      context,
      transports: played === undefined ? createTransports(settings, resolvePath) : [played],
      items: allItems(settings, resolvePath),
      emit: (event) => subscriber.next(event),
      online: () => loss.end(),
      offline: () => loss.begin(),
      ...(played && { random: () => 1 }),
    });
    entities.start();
    return () => {
      loss.end();
      context.finish(entities.stop());
    };
  });
}

/** Runs without Home Assistant, and confirms every write immediately. */
function simulate(context: ConnectionContext<HomeAssistantSettings>): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const items = allItems(context.settings, context.resolvePath);
    const writing = items
      .filter(({ part }) => part.call !== undefined)
      .map((item) =>
        context.inbox(item.id).subscribe({
          next: (value) => {
            if (declare(item).isConfirmed === true) subscriber.next({ set: item.id, value, because: context.cause() });
          },
          error: (error) => subscriber.error(error),
        }),
      );
    subscriber.next({ state: 'running' });
    subscriber.next({ stale: false });
    for (const { entityId } of items) if (entityId !== undefined) subscriber.next({ stale: false, device: entityId });
    return () => {
      for (const one of writing) one.unsubscribe();
    };
  });
}
