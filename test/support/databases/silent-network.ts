// A way to a server that can go silent: all data is lost, and so is the end of a connection.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface SilentNetwork {
  /** The address, by this way. */
  url: string;
  /** From now on nothing passes. */
  goSilent(): void;
  /** Connections that are made from now on are heard; those of before stay silent. */
  hearNew(): void;
  /** How many connections were made. */
  made(): number;
  close(): void;
}

export async function silentNetworkTo(url: string): Promise<SilentNetwork> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let isSilent = false;
  let since = 0;
  let count = 0;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const made = since;
    count++;
    const isLost = () => isSilent || made < since;
    const far = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => {
        if (!isLost()) to.write(chunk);
      });
      from.on('end', () => {
        if (!isLost()) to.end();
      });
      from.on('close', () => {
        if (!isLost()) to.destroy();
      });
      from.on('error', () => undefined);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const way = new URL(url);
  way.port = String((server.address() as AddressInfo).port);
  return {
    url: way.href,
    goSilent() {
      isSilent = true;
    },
    hearNew() {
      isSilent = false;
      since++;
    },
    made: () => count,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
