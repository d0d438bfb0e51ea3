// POST /hub/rules: operators switch rules on and off.

import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import { ruleSwitch } from '../../../wire/http/operation.ts';
import { answerPost } from '../http/answer-post.ts';
import type { Operation } from './operation.ts';

/** `POST /hub/rules`, `{"rule":"lamp off","enabled":false}`: answers with its status. Errors: `not-found`, `conflict`. */
export function switchRule(
  { hub, log, queue, by, visitor }: Operation,
  response: HttpResponse,
  request: HttpRequest,
): void {
  answerPost({ response, request, visitor, queue, log }, ruleSwitch, ({ rule, file, enabled }) =>
    hub.switchRule(rule, file, enabled, by),
  );
}
