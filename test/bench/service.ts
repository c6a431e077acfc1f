// The sandbox in bulk mode as a process of its own, so that its work is not measured.
import { startSandbox } from '../../src/sandbox/sandbox.ts';

const [vehicles = '500', perVehiclePerDay = '200', answerMs = '0'] = process.argv.slice(2);
const sandbox = await startSandbox({
  vehicles: Number(vehicles),
  churn: false,
  bulkEvents: { perVehiclePerDay: Number(perVehiclePerDay) },
  ...(answerMs !== '0' && { faults: [{ call: '*', fault: 'latency', ms: Number(answerMs) }] }),
});
process.send?.({ url: sandbox.url, credentials: sandbox.credentials });
process.once('disconnect', () => void sandbox.close());
