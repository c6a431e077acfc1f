// The transport, loaded with its first call: the HTTP client takes a tenth of a second and 30 MB, and a command that
// only looks at the warehouse calls nobody.
import type { Transport, TransportOptions } from './transport.ts';

export function lazyTransport(options: TransportOptions): Transport {
  let opened: Promise<Transport> | undefined;
  return {
    async send(request, how) {
      opened ??= import('./transport.ts').then(({ createTransport }) => createTransport(options));
      return (await opened).send(request, how);
    },
    close() {
      opened?.then(
        (transport) => transport.close(),
        () => undefined,
      );
    },
  };
}
