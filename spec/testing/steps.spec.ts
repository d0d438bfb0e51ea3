// What each kind of step of a test means, and how it fails.

import test from 'ava';
import { ring, runSteps } from '../support/flow/flow-test.ts';

const passing: Record<string, [steps: object[], given?: object]> = {
  'timers of a step’s time run before it, and what it sets at once before it expects': [
    [
      { at: 0, ...ring, expect: { 'desk/lamp': true } },
      { at: '2999ms', expect: { 'desk/lamp': true } },
      { at: '3s', expect: { 'desk/lamp': false } },
    ],
  ],
  'a step without a time is at that of the step before': [
    [{ at: '1s', ...ring }, { expect: { 'desk/lamp': true } }, { at: '3.999s', expect: { 'desk/lamp': true } }],
  ],
  'timers of 0 ms run out within the step that starts them': [
    [{ set: { 'clock/timer/2/start': 0 }, expect: { 'clock/timer/2/trigger': true } }],
  ],
  'values are converted': [
    [{ set: { 'desk/level': '0.5', 'desk/text': 7 }, expect: { 'desk/percent': '50', 'desk/echo': '7' } }],
  ],
  'numbers that differ by rounding alone are equal': [
    [{ set: { 'desk/level': 0.29 }, expect: { 'desk/percent': 29 } }],
  ],
  'null is unknown': [[{ expect: { 'desk/level': null, 'desk/percent': null } }]],
  'values are set one after the other': [
    [{ set: { 'desk/text': 'a', 'desk/echo': 'b' }, expect: { 'desk/echo': 'b', 'desk/text': 'a' } }],
  ],
  'given values fire no rule and are there from the start': [
    [{ expect: { 'desk/text': 'hello', 'desk/echo': null, 'desk/lamp': true } }],
    { 'desk/text': 'hello', 'desk/lamp': true },
  ],
  'a trigger has fired since the last step that expected something': [
    [
      { ...ring, expect: { 'clock/timer/1/trigger': false, 'desk/bell': true } },
      { at: '4s', ...ring },
      { at: '5s', expect: { 'clock/timer/1/trigger': true, 'desk/bell': 1 } },
      { at: '6s', expect: { 'clock/timer/1/trigger': 0, 'desk/bell': false } },
    ],
  ],
  'a trigger is counted': [[{ at: '10m', expect: { 'clock/pulse/1': 10 } }]],
  'never does not include the end of its span': [
    [ring, { during: '3s', never: { 'desk/lamp': false } }, { at: '3s', expect: { 'desk/lamp': false } }],
  ],
  'never of a trigger is that it has fired': [
    [
      ring,
      { during: '3s', never: { 'clock/timer/1/trigger': true } },
      { at: '3s', expect: { 'clock/timer/1/trigger': 1 } },
    ],
  ],
  'spans overlap later steps': [
    [
      { ...ring, during: '4s', never: { 'desk/text': 'x' } },
      { at: '1s', ...ring },
      { at: '3500ms', expect: { 'desk/lamp': true } },
    ],
  ],
  'what only the outside world sets is set by the test, and not started': [
    [
      { set: { 'keys/input/f1': true }, expect: { 'desk/echo': 'pressed' } },
      { set: { 'keys/layout': 'de' }, expect: { 'desk/echo': 'de', 'keys/layout': 'de' } },
      { ...ring, expect: { 'keys/output/f2': 1 } },
      { expect: { 'keys/_status/connected': true } },
      { set: { 'keys/_status/connected': false }, expect: { 'keys/_status/connected': false } },
    ],
    { 'keys/layout': 'us' },
  ],
};
for (const [name, [steps, given]] of Object.entries(passing))
  test(name, async (t) => {
    const { isPassed, timeline } = await runSteps(t, steps, given);
    t.true(isPassed, timeline);
    t.is(timeline, '');
  });

const failing: Record<string, [steps: object[], mark: RegExp, given?: object]> = {
  'a value that is not as expected': [
    [
      { at: 0, ...ring },
      { at: '1s', expect: { 'desk/lamp': false } },
    ],
    /^>> {2}0:00:01\.000 {2}desk\/lamp +expected false, got true, since 0:00:00\.000 by rule "bell on" \(.*flow\.json5:\d+:\d+\)$/m,
  ],
  'an unknown value': [[{ expect: { 'desk/percent': 3 } }], /^>> .*desk\/percent +expected 3, got unknown \(/m],
  'a known value that shall be unknown': [
    [{ expect: { 'desk/lamp': null } }],
    /^>> .*desk\/lamp +expected unknown, got false, since 0:00:00\.000 by connection "desk" \(/m,
  ],
  'a trigger that has not fired': [
    [
      { ...ring, at: '1s' },
      { at: '3999ms', expect: { 'clock/timer/1/trigger': true } },
    ],
    /^>> {2}0:00:03\.999 {2}clock\/timer\/1\/trigger +expected fired, got not fired/m,
  ],
  'a trigger that has fired': [
    [ring, { at: '3s', expect: { 'clock/timer/1/trigger': false } }],
    /expected not fired, got fired once/,
  ],
  'a trigger that has fired too often': [
    [{ at: '3m', expect: { 'clock/pulse/1': 2 } }],
    /expected fired 2 times, got fired 3 times/,
  ],
  'never, from the start': [[{ during: 1, never: { 'desk/lamp': false } }], /got false, which `never` rules out/],
  'never, in passing': [
    [
      { during: '10s', never: { 'desk/lamp': true } },
      { at: '5s', ...ring },
      { at: '9s', expect: { 'desk/lamp': false } },
    ],
    /^>> {2}0:00:05\.000 {2}desk\/lamp +got true, which `never` rules out/m,
  ],
  'never of a trigger': [
    [{ ...ring, during: '3001ms', never: { 'clock/timer/1/trigger': true } }],
    /^>> {2}0:00:03\.000 {2}clock\/timer\/1\/trigger +got fired, which `never` rules out/m,
  ],
};
for (const [name, [steps, mark, given]] of Object.entries(failing))
  test(`fails: ${name}`, async (t) => {
    const { isPassed, timeline } = await runSteps(t, steps, given);
    t.false(isPassed);
    t.regex(timeline, mark);
  });
