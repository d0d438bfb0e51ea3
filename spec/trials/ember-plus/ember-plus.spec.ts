import { holds } from '../short.ts';

holds(
  'a large Ember+ device is mirrored and shown, dies and comes back',
  'ember-plus',
  /^mirror: .*: holds\nmatrix: .*: holds\nstreams: .*: holds\ndeath: .*: holds\nprovider: .*: holds$/m,
);
