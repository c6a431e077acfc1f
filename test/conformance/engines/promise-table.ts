// The promises as one table: job by engine by promise. A cell is filled by the test that has seen it kept.
export interface PromiseTable {
  /** Runs the proof; the cell says `broken` unless it ends well. */
  prove(job: string, engine: string, promise: string, proof: () => Promise<void>): Promise<void>;
  /** Every cell that is not kept. */
  broken(): string[];
  text(): string;
}

export function promiseTable(): PromiseTable {
  const cells = new Map<string, Map<string, string>>();
  const promises: string[] = [];
  return {
    async prove(job, engine, promise, proof) {
      const row = cells.get(`${job} | ${engine}`) ?? new Map<string, string>();
      cells.set(`${job} | ${engine}`, row.set(promise, 'broken'));
      if (!promises.includes(promise)) promises.push(promise);
      await proof();
      row.set(promise, 'kept');
    },
    broken: () =>
      [...cells].flatMap(([name, row]) =>
        [...row].filter(([, word]) => word !== 'kept').map(([promise]) => `${name}: ${promise}`),
      ),
    text() {
      const lines = [...cells].map(([name, row]) => {
        const words = promises.map((promise) => row.get(promise) ?? '');
        return `| ${[name, ...words].join(' | ')} |`;
      });
      return [
        `| job | engine | ${promises.join(' | ')} |`,
        `|---|---|${promises.map(() => '---|').join('')}`,
        ...lines.sort(),
      ].join('\n');
    },
  };
}
