import { holds } from '../short.ts';

holds('many Modbus devices are read in time, die and come back', 'modbus', /^reading: .*: holds\ndeath: .*: holds$/m);
