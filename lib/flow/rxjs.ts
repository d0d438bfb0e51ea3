// What flows in TypeScript get where they import `rxjs`.

export * from 'rxjs';
export {
  audit,
  auditTime,
  concatMap,
  exhaustMap,
  mergeMap,
  sample,
  sampleTime,
  switchMap,
  throttle,
  throttleTime,
} from './run/rules/streams/stream-operators.ts';
export {
  asap,
  asapScheduler,
  async,
  asyncScheduler,
  bufferTime,
  debounceTime,
  delay,
  interval,
  publishReplay,
  queue,
  queueScheduler,
  ReplaySubject,
  repeat,
  retry,
  shareReplay,
  timeInterval,
  timeout,
  timeoutWith,
  timer,
  timestamp,
  windowTime,
} from './run/rules/streams/timed-operators.ts';
