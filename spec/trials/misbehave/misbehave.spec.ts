import { holds } from '../short.ts';

holds(
  'a flow that misbehaves is named in the log, its neighbour loses no change, and the next good save takes effect',
  'misbehave',
  /^\| throws \| .* holds \|\n\| throws-in-the-stream \| .* holds \|\n\| emits-what-is-no-value \| .* holds \|$/m,
);
