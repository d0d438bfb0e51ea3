// The hub that is soaked: many parameters that change all the time, rules that copy some of them, a loop, a rule that fails, one that
// each reload changes, a store, and a keyboard where there is a display.

import { parameterIdOf, plantOf } from '../../support/load/many-parameters.ts';

export const copies = 100;
/** What a reload changes: by what the level is multiplied. */
export const factors = [100, 1000] as const;

export interface SoakedFlow {
  readonly parameters: number;
  readonly factor: number;
  readonly hasKeyboard: boolean;
}

export function soakedFlow({ parameters, factor, hasKeyboard }: SoakedFlow) {
  const loud = { exclude: ['plant/**', 'copy/**', 'desk/loop/*'] };
  return {
    connections: {
      api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1' },
      ...plantOf(parameters).connections,
      copy: { type: 'dummy', parameters: Array.from({ length: copies }, (_, index) => `${index},F`) },
      desk: { type: 'dummy', parameters: ['level,F,0', 'factored,F,0', 'loop/a,F', 'loop/b,F', 'text,S', 'number,I'] },
      store: { type: 'store', folder: 'data', maxSize: '32MB', history: [loud], audit: loud },
      ...(hasKeyboard && { keys: { type: 'keyboard', inputKeys: ['ctrl-f1'] } }),
    },
    rules: [
      ...Array.from({ length: copies }, (_, index) => ({
        name: `copy ${index}`,
        from: `plant/${parameterIdOf(index)}`,
        to: `copy/${index}`,
      })),
      { name: 'loop there', from: 'desk/loop/a', map: 'value + 1', to: 'desk/loop/b' },
      { name: 'loop back', from: 'desk/loop/b', map: 'value + 1', to: 'desk/loop/a' },
      { name: 'fails', from: 'desk/text', to: 'desk/number' },
      { name: 'factored', from: 'desk/level', map: `value * ${factor}`, to: 'desk/factored' },
    ],
  };
}
