import { holds } from '../short.ts';

holds('surfaces show their images and lamps while others die', 'satellite', /until the lamp: holds$/m);
