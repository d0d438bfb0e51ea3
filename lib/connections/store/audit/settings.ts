// The settings of the audit.

import { z } from 'zod';
import { longDuration } from '../long-duration.ts';
import { selectionSettings } from '../selection-settings.ts';

export const auditSetting = z
  .strictObject({ ...selectionSettings, keep: longDuration('90d').describe('How long entries are kept') })
  .prefault({})
  .describe('Of which parameters changes from outside are noted, with who made them; left out: of all, for 90 days');
