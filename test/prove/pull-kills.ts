// npm run prove: every pull job killed at counted steps spread over its run.
//   node test/prove/pull-kills.ts 50
import { PULLS, sweep } from '../support/pull-kills.ts';

const kills = Number(process.argv[2] ?? 50);
let wrong = 0;
for (const job of Object.keys(PULLS)) {
  const result = await sweep(job, kills);
  wrong += result.wrong.length;
  process.stdout.write(
    `${job}: ${result.kills} kills over ${result.steps} steps, ${result.wrong.length} wrong\n`,
  );
}
process.exitCode = wrong === 0 ? 0 : 1;
