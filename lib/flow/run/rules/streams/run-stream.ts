// The body of a rule in TypeScript: a stream. When it fails, it is subscribed to again, with backoff.

import { resolve } from 'node:path';
import { defer, retry, Subscription, timer } from 'rxjs';
import { groupDigits } from '../../../../model/digits.ts';
import { Backoff, restartTimes } from '../../../../model/time/backoff.ts';
import type { Sources, StreamBody } from '../../../plan.ts';
import { ownName } from '../../../programs/flow-code.ts';
import { formatPlace, placeIn } from '../../../programs/stack.ts';
import type { RuleContext } from '../rule-context.ts';
import { StreamCauses } from './stream-causes.ts';

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

// What the stream of a rule in TypeScript observes. All of it ends with the rule, also what the stream has subscribed to meanwhile
// and never lets go of; and of that there may be so much.

/** How often the streams of a rule may be subscribed to at the same time. */
export const maxSubscriptions = 1000;
const tooMany = `its streams are subscribed to ${groupDigits(maxSubscriptions)} times at most, the next was not`;

/** The sources of a rule for its stream; all that is subscribed to ends with the subscription. */
function streamSources(
  body: StreamBody,
  { plan, runtime, sources, trace }: RuleContext,
  causes: StreamCauses,
  subscription: Subscription,
): Sources {
  let count = 0;
  const bounded = (subscribe: () => Subscription): Subscription => {
    if (subscription.closed) return Subscription.EMPTY;
    if (count >= maxSubscriptions) {
      const place = placeOfCaller(plan.file);
      const message = place === undefined ? tooMany : `${tooMany} (${place})`;
      trace.limit(message);
      runtime.reports.limited(plan, message);
      return Subscription.EMPTY;
    }
    count++;
    const one = subscribe();
    one.add(() => {
      count--;
      subscription.remove(one);
    });
    subscription.add(one);
    return one;
  };
  const own: Sources = {
    any: (addresses, listener, listensToWrites) =>
      bounded(() => sources.any(addresses, { next: (value) => goIn(() => listener.next(value)) }, listensToWrites)),
    named(named, next, listensToWrites) {
      const goOn: typeof next = (values, isComplete) => goIn(() => next(values, isComplete));
      return bounded(() => sources.named(named, goOn, listensToWrites));
    },
    peek: (address) => sources.peek(address),
  };
  /** What the stream subscribes to meanwhile belongs to this rule, and not to another of the same file. */
  const goIn = (work: () => void) =>
    causes.goIn(() => {
      body.connect(own);
      work();
    });
  return own;
}

/** Where in the author's own files the present call comes from. */
function placeOfCaller(file: string): string | undefined {
  const flow = { path: resolve(file), name: file };
  const place = placeIn(new Error('asked').stack ?? '', (path) => ownName(path, flow));
  return place && formatPlace(place);
}
