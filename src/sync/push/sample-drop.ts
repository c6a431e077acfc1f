// Drops a file of sample plans if the drop folder does not exist yet, so that the first start with the built-in service
// shows a push. The plans use plates of that service.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from '../../core/atomic-file.ts';
import type { Clock } from '../../core/time/clock.ts';
import { samplePlans } from '../../erp/items/sample-plans.ts';
import type { Fleet } from '../../fleet/client.ts';
import { vehicles } from '../../fleet/endpoints/vehicles.ts';

export async function dropSamplePlans(
  folder: string,
  { fleet, clock, timezone }: { fleet: Fleet; clock: Clock; timezone: string },
): Promise<void> {
  if (existsSync(folder)) return;
  const records = await fleet.call(vehicles, { visible: 1, includes: ['fleet'] });
  const plates = records.flatMap((record) => {
    const { plate } = record as { plate?: unknown };
    return typeof plate === 'string' ? [plate] : [];
  });
  const { name, text } = samplePlans({ nowMs: clock.now(), zone: timezone, plates });
  await replaceFile(join(folder, name), text);
}
