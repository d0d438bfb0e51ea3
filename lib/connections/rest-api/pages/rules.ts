// POST /hub/rules: operators switch rules on and off.

import { z } from 'zod';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { RuleSwitch } from '../../../wire/http/operation/rules.ts';
import { answerPost } from '../http/answer-post.ts';
import type { Operation } from './operation.ts';

const switchSchema = z.strictObject({
  rule: z.string({ error: 'the name of a rule' }),
  file: z.string({ error: 'the path of a flow file' }).optional(),
  enabled: z.boolean({ error: 'true or false' }),
}) satisfies z.ZodType<RuleSwitch>;

/** `POST /hub/rules`, `{"rule":"lamp off","enabled":false}`: answers with its status. Errors: `not-found`, `conflict`. */
export function switchRule(
  { hub, log, queue, by, visitor }: Operation,
  response: HttpResponse,
  request: HttpRequest,
): void {
  answerPost({ response, request, visitor, queue, log }, switchSchema, ({ rule, file, enabled }) =>
    hub.switchRule(rule, file, enabled, by),
  );
}
