import { holds } from '../short.ts';

holds('OSC messages over UDP and TCP arrive, and the others do not wait', 'osc', /^udp: .*: holds\ntcp: .*: holds$/m);
