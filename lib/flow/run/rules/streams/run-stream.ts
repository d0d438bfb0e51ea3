// The body of a rule in TypeScript: a stream. When it fails, it is subscribed to again, with backoff.

import { defer, retry, Subscription, timer } from 'rxjs';
import { Backoff, restartTimes } from '../../../../model/time/backoff.ts';
import type { StreamBody } from '../../../plan.ts';
import type { RuleContext } from '../rule-context.ts';
import { StreamCauses } from './stream-causes.ts';
import { streamSources } from './stream-sources.ts';

export function runStream(body: StreamBody, context: RuleContext): Subscription {
  const { scheduler, graph } = context.runtime;
  const { output } = context;
  const backoff = new Backoff(restartTimes);
  const subscription = new Subscription();
  const causes = new StreamCauses(graph, scheduler);
  const sources = streamSources(body, context, causes, subscription);
  const stream$ = defer(() => {
    body.connect(sources);
    return body.stream;
  });
  const delay = (error: unknown) => {
    output.fail(error);
    return timer(backoff.next(), scheduler);
  };
  const run = () =>
    stream$.pipe(retry({ delay })).subscribe({
      next(value) {
        backoff.reset();
        causes.comeOut(() => output.write(value));
      },
      error: (error) => output.fail(error),
    });
  causes.goIn(() => subscription.add(run()));
  return subscription;
}
