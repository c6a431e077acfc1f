// The health check of the container: 0 while the daemon's status server answers /livez.
const url = process.env.ROADBOOK_LIVEZ ?? 'http://127.0.0.1:4780/livez';
try {
  const { ok } = await fetch(url, { signal: AbortSignal.timeout(4_000) });
  process.exitCode = ok ? 0 : 1;
} catch {
  process.exitCode = 1;
}
