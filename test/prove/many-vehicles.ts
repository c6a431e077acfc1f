// npm run prove: a large fleet against the sandbox, on its clock. Fails where the calls are not what
// `roadbook plan` says, an address is too long, or a vehicle lacks events. Writes a section of
// docs/explanation/reliability.md.
//   node test/prove/many-vehicles.ts 100000
import { MOST_URL_BYTES } from '../../src/sync/pull/plan/chunks.ts';
import { giveSection } from '../support/proofs/reliability-page.ts';
import { isAsPlanned, simulateManyVehicles } from '../support/pull/many-vehicles.ts';

const vehicles = Number(process.argv[2] ?? 100_000);
const EVENTS_A_DAY = 24;
const { stages, longestAddress, outOfLine, peakMb } = await simulateManyVehicles(vehicles, EVENTS_A_DAY);

const formatted = (number: number): string => number.toLocaleString('en');
const rows = stages.map(({ what, calls, retries, planned, slices, records, seconds, rssMb }) => {
  const expected = planned === null ? 'none' : formatted(planned);
  return `| ${[what, formatted(calls), expected, formatted(retries), formatted(slices), formatted(records), seconds.toFixed(1), rssMb.toFixed(0)].join(' | ')} |`;
});
const body = `
${formatted(vehicles)} vehicles with ${EVENTS_A_DAY} events a day, product and sandbox in one process, SQLite. Calls are counted by the
sandbox; beside them are the estimate of \`roadbook plan\` and the retries of the product: the first try of a retried call
may not have arrived.

| stage | calls | planned | retries | slices | records | seconds | RSS, MB |
|---|---|---|---|---|---|---|---|
${rows.join('\n')}

The longest address had ${formatted(longestAddress)} bytes, of ${formatted(MOST_URL_BYTES)} that are allowed. ${formatted(outOfLine)} vehicles had another number of events than the service
reports for one when it is asked directly.
Peak memory of the process, sandbox included: ${peakMb.toFixed(0)} MB. The listing of so many vehicles is one answer:
\`service.max_body_mb\` has to allow it, about 1 KB a vehicle.

Made by \`node test/prove/many-vehicles.ts ${vehicles}\`. A sample of it runs with every \`npm test\`
(test/scenario/pull/many-vehicles.test.ts).
`;
process.stdout.write(body);
if (stages.every(isAsPlanned) && longestAddress <= MOST_URL_BYTES && outOfLine === 0)
  giveSection('A large fleet', body, {
    run: 'vehicles and events of a large fleet',
    many: `${formatted(vehicles)} vehicles`,
    lost: `${outOfLine} vehicles with another number of events than the service has`,
  });
else process.exitCode = 1;
