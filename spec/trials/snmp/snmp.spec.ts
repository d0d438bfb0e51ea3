import { needs } from '../../support/programs.ts';
import { holds } from '../short.ts';

needs('snmpd', 'snmp');

holds(
  'many SNMP agents are read in time, die, stop and come back, and their traps arrive',
  'snmp',
  /^reading: .*: holds\nneighbours: .*: holds\ntraps: .*: holds\ndeath: .*: holds\nstop: .*: holds$/m,
);
