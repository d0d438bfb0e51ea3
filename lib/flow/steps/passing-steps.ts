// Steps that pass some values on and drop others, as they come.

import { distinctUntilChanged, skip, skipWhile, startWith, take, takeWhile } from 'rxjs';
import { z } from 'zod';
import { conditional, type NamedStep, ofNumbers, plain, scalar } from './define-step.ts';

const count = z.int({ error: 'integer from 0' }).min(0, { error: 'integer from 0' });
const yes = z.literal(true, { error: 'true' });

export const passingSteps: readonly NamedStep[] = [
  plain('distinctUntilChanged', 'drops a value that is equal to the one before', yes, () => distinctUntilChanged()),
  plain('startWith', 'begins with this value when the rule starts', scalar, (value) => startWith(value)),
  plain('skip', 'drops the first values', count, (number) => skip(number)),
  plain('take', 'passes the first values on, then none', count, (number) => take(number)),
  conditional('skipWhile', 'drops values until the condition is false', (condition) => skipWhile(condition)),
  conditional('takeWhile', 'passes values on until the condition is false', (condition) => takeWhile(condition)),
  ofNumbers(
    'deadband',
    'drops values that differ from the last one passed on by less than this',
    z.number({ error: 'a number' }).min(0, { error: 'a number from 0' }),
    (band) => distinctUntilChanged((last, value) => Math.abs(Number(value) - Number(last)) < band),
  ),
];
