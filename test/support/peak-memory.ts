// Loaded into the real process by `node --import`: writes its peak memory, in MB, to PEAK_FILE when it ends.
import { writeFileSync } from 'node:fs';

const file = process.env.PEAK_FILE;
if (file !== undefined) {
  process.on('exit', () => writeFileSync(file, String(Math.round(process.resourceUsage().maxRSS / 1_024))));
}
