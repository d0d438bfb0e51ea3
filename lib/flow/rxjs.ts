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
