// The schemas of what runs in shadow.

import {
  type DeviationCount,
  type Difference,
  keptDeviations,
  type Reload,
} from '../../../../model/reports/reload-report.ts';
import type {
  Deviation,
  DeviationSide,
  ReloadAnswer,
  ReloadRequest,
  ShadowReport,
} from '../../../../wire/http/operation/shadow.ts';
import { describe, list, object, oneOf, type Properties, type Schema } from './schema.ts';
import { address, count, flag, origin, texts, time, value, valueType } from './words.ts';

/** What each schema describes. */
export interface DescribedOfShadow {
  readonly Reload: ReloadRequest;
  readonly Reloaded: ReloadAnswer;
  readonly Shadow: ShadowReport;
}

const names: Properties<Difference> = { added: texts, removed: texts, changed: texts };
const side = object<DeviationSide>({}, { value: describe(value, 'Of a trigger, how often it fired'), origin });
const shadow = object<ShadowReport>({
  since: time,
  kind: oneOf(['rules', 'reload', 'none']),
  rules: describe(texts, 'Those that run in shadow and not live'),
  left: describe(texts, 'Those that are live, and would not be'),
  notInShadow: describe(texts, 'Connections that a reload would change, and that reach out of the process'),
  parameters: list(object<DeviationCount>({ address, count, differs: flag })),
  count: describe(count, 'How many deviations there were'),
  deviations: describe(
    list(object<Deviation>({ time, parameter: address, type: valueType, done: side, would: side })),
    `The newest ${keptDeviations.toLocaleString('en')}, oldest first`,
  ),
});

export const shadowSchemas: { readonly [Name in keyof DescribedOfShadow]: Schema<DescribedOfShadow[Name]> } = {
  Reload: object<ReloadRequest>({}, { shadow: flag }),
  Reloaded: object<ReloadAnswer>(
    {},
    { swapped: object<Reload>({ connections: object<Difference>(names), rules: object<Difference>(names) }), shadow },
  ),
  Shadow: shadow,
};
