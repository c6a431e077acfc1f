// A way to a server that can go silent: what is sent is lost, the end of a connection too.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface SilentNetwork {
  /** The address, by this way. */
  url: string;
  goSilent(): void;
  close(): void;
}

export async function silentNetworkTo(url: string): Promise<SilentNetwork> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => {
        if (!isSilent) to.write(chunk);
      });
      from.on('close', () => {
        if (!isSilent) to.destroy();
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
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
