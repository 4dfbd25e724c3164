import type { FlagTable, FlagValues } from './row.js';
import type { FlagsOf } from './table.js';
import { SWITCH } from './takes.js';

/** Flags of `bosun doctor` besides those that runs share with it. */
export const DOCTOR_FLAGS = {
  online: { takes: SWITCH, in: { doctor: 'also send one small request to the model' } },
  json: { takes: SWITCH, in: { doctor: 'as JSON' } },
} as const satisfies FlagTable;

export type DoctorFlags = FlagsOf<'doctor'> & FlagValues<typeof DOCTOR_FLAGS, 'doctor'>;
