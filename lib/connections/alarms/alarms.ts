// The connection type `alarms`. An alarm is raised when a parameter has had a certain value for some time. It remains until its cause is
// over and an operator has acknowledged it.

import { Observable } from 'rxjs';
import type { ParameterDeclaration } from '../../model/parameter.ts';
import { defineConnectionType } from '../connection.ts';
import { AlarmBoard, type AlarmsSettings, all, longestShelfMs, settingsSchema } from './board.ts';

export const alarms = defineConnectionType({
  type: 'alarms',
  isExternal: false,
  settingsSchema,
  durations: ['delay'],
  parameters: ({ alarms }) => [
    ...Object.entries(alarms).flatMap(([name, { text }]) => parametersOf(name, text)),
    ...parametersOfAll,
  ],
  inputs: ({ alarms }) => Object.fromEntries(Object.entries(alarms).map(([name, { when }]) => [name, when])),
  inputPath: (name) => ['alarms', name, 'when'],
  follows: (settings) => (parameterId) =>
    isSet(parameterId) || parameterId.endsWith('/shelved') ? [] : followedBy(settings, parameterId),
  causes: (settings) => (parameterId) => {
    if (isSet(parameterId)) return [];
    const alarm = followedBy(settings, parameterId);
    const actions = alarm.flatMap((name) => [`${name}/ack`, `${name}/shelve`]);
    return alarm.length === 0 ? [] : [`${all}/ack`, ...actions];
  },
  mistakes: ({ alarms }, inputTypes) =>
    Object.entries(alarms).flatMap(([name, { when }]) => {
      const path = ['alarms', name];
      const other = ownerOf(alarms, name);
      if (other !== undefined)
        return { path, message: `expected a name other than "${name}", which is a parameter of the alarm "${other}"` };
      const type = inputTypes.get(name);
      if (type === undefined || type === 'B') return [];
      return { path: [...path, 'when'], message: `expected a parameter of type B, got "${when}" (${type})` };
    }),
  run: (context) => new Observable((subscriber) => new AlarmBoard(context, subscriber).start()),
});

function parametersOf(name: string, text = ''): ParameterDeclaration[] {
  return [
    { id: name, type: 'B', access: 'read-only', ...(text !== '' && { about: { label: text } }) },
    { id: `${name}/active`, type: 'B', access: 'read-only' },
    { id: `${name}/acknowledged`, type: 'B', access: 'read-only' },
    { id: `${name}/state`, type: 'S', access: 'read-only' },
    { id: `${name}/ack`, type: 'T', access: 'write-only' },
    { id: `${name}/priority`, type: 'I', access: 'read-only' },
    { id: `${name}/shelve`, type: 'I', access: 'write-only', about: { unit: 'ms', min: 0, max: longestShelfMs } },
    { id: `${name}/shelved`, type: 'B', access: 'read-only' },
  ];
}

const parametersOfAll: readonly ParameterDeclaration[] = [
  { id: `${all}/active`, type: 'I', access: 'read-only' },
  { id: `${all}/unacknowledged`, type: 'I', access: 'read-only' },
  { id: `${all}/shelved`, type: 'I', access: 'read-only' },
  { id: `${all}/priority`, type: 'I', access: 'read-only' },
  { id: `${all}/text`, type: 'S', access: 'read-only' },
  { id: `${all}/ack`, type: 'T', access: 'write-only' },
];

/** Returns the names of the inputs that a parameter depends on. Each input has the same name as its alarm. */
function followedBy({ alarms }: AlarmsSettings, parameterId: string): readonly string[] {
  if (parameterId.startsWith(`${all}/`)) return Object.keys(alarms);
  const name = Object.hasOwn(alarms, parameterId) ? parameterId : aboveOf(parameterId);
  return Object.hasOwn(alarms, name) ? [name] : [];
}

/** Returns whether a parameter is a setting or a command, whose value does not depend on any alarm. */
function isSet(parameterId: string): boolean {
  return /\/(ack|shelve|priority)$/.test(parameterId) && parameterId !== `${all}/priority`;
}

/** Returns the part of a Parameter ID before the last slash, or the whole ID if it contains no slash. */
function aboveOf(parameterId: string): string {
  return parameterId.replace(/\/[^/]*$/, '');
}

/** Returns the name of an alarm that has a parameter with this name, or undefined if there is no such alarm. */
function ownerOf(alarms: AlarmsSettings['alarms'], name: string): string | undefined {
  const owner = aboveOf(name);
  const has = owner !== name && Object.hasOwn(alarms, owner) && parametersOf(owner).some(({ id }) => id === name);
  return has ? owner : undefined;
}
