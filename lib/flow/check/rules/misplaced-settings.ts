// Explains where misplaced settings in a rule belong: settings named as in other languages, and steps. No further errors are reported for
// these settings.

import { isJsonObject } from '../../../model/json-object.ts';
import { stepTypes } from '../../steps/steps.ts';
import type { SourceLocation } from '../source-location.ts';

/** Names from other languages for the settings of a rule, each with the Patchbay name. */
const settingNames: ReadonlyMap<string, string> = new Map([
  ['if', 'when'],
  ['condition', 'when'],
  ['on', 'from'],
  ['source', 'from'],
  ['trigger', 'from'],
  ['then', 'to'],
  ['target', 'to'],
  ['destination', 'to'],
  ['set', 'to'],
  ['value', 'map'],
  ['expression', 'map'],
  ['steps', 'pipe'],
  ['hears', 'hear'],
]);

/** Names from other languages for steps, each with the Patchbay name. */
const otherSteps: ReadonlyMap<string, string> = new Map([
  ['when', 'filter'],
  ['if', 'filter'],
  ['condition', 'filter'],
  ['where', 'filter'],
  ['debounce', 'debounceTime'],
  ['throttle', 'throttleTime'],
  ['audit', 'auditTime'],
  ['sample', 'sampleTime'],
  ['wait', 'delay'],
  ['sleep', 'delay'],
]);

/** Returns the step that corresponds to a name from another language, or undefined if no such step is known. */
export function stepMeantBy(name: string): string | undefined {
  return otherSteps.get(name);
}

/** Reports misplaced settings in a rule, with or without a stream. Returns the rule without these settings. */
export function withoutMisplaced(
  location: SourceLocation,
  item: unknown,
  settings: object,
  isStream: boolean,
): unknown {
  if (!isJsonObject(item)) return item;
  const messages = Object.keys(item).flatMap((key): [key: string, message: string][] => {
    if (!isStream && key === 'pipe') return isJsonObject(item.pipe) ? [[key, messageOfPipe(item.pipe)]] : [];
    if (Object.hasOwn(settings, key)) return [];
    const message = isStream ? messageInStream(key, settings) : messageOf(key, item);
    return message === undefined ? [] : [[key, message]];
  });
  if (messages.length === 0) return item;
  for (const [key, message] of messages) location.at(key).add(message);
  const misplaced = new Set(messages.map(([key]) => key));
  return Object.fromEntries(Object.entries(item).filter(([key]) => !misplaced.has(key)));
}

function messageOf(key: string, item: Readonly<Record<string, unknown>>): string | undefined {
  const step = stepTypes.has(key) ? key : settingNames.has(key) ? undefined : otherSteps.get(key);
  if (step === undefined) {
    const meant = settingNames.get(key);
    return meant && `unknown setting "${key}", did you mean "${meant}"?`;
  }
  const afterMap = item.map === undefined ? '' : ', which comes after map';
  return `"${key}" is a step: put it in pipe${afterMap}: pipe: [${written(step, item[key])}]`;
}

function messageInStream(key: string, settings: object): string | undefined {
  const step = stepTypes.has(key) ? key : otherSteps.get(key);
  if (step !== undefined)
    return `"${key}" is not a setting of a rule with a stream: use an operator of the stream, from: ….pipe(${step}(…))`;
  const meant = settingNames.get(key);
  return meant && Object.hasOwn(settings, meant) ? `unknown setting "${key}", did you mean "${meant}"?` : undefined;
}

function messageOfPipe(pipe: Readonly<Record<string, unknown>>): string {
  const steps = Object.entries(pipe).map(([step, setting]) => written(step, setting));
  return `expected a list of steps, got an object: pipe: [${steps.join(', ')}]`;
}

function written(step: string, setting: unknown): string {
  return `{ ${step}: ${(JSON.stringify(setting) ?? '…').replaceAll('"', "'")} }`;
}
