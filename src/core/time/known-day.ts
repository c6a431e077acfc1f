// A local day as a person or a script gives it.
import { z } from 'zod';

/** Every warehouse can store the instants of these days. */
export const knownDay = z.iso.date().refine((day) => day >= '1970-01-01' && day < '2200-01-01');
