// The body of a rule in TypeScript: a stream. When it fails, it is subscribed to again, with backoff.

import { defer, retry, type Subscription, timer } from 'rxjs';
import { Backoff } from '../../../model/backoff.ts';
import type { StreamBody } from '../../plan.ts';
import type { RuleContext } from './rule-context.ts';

const backoffTimes = { firstMs: 1000, longestMs: 30_000 };

export function runStream(body: StreamBody, { runtime: { scheduler }, sources, output }: RuleContext): Subscription {
  const { write, fail } = output;
  const backoff = new Backoff(backoffTimes);
  const stream$ = defer(() => {
    body.connect(sources);
    return body.stream;
  });
  const delay = (error: unknown) => {
    fail(error);
    return timer(backoff.next(), scheduler);
  };
  return stream$.pipe(retry({ delay })).subscribe({
    next: (value) => {
      backoff.reset();
      write(value);
    },
    error: fail,
  });
}
