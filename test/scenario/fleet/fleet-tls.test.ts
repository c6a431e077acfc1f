// Failures below HTTP on a TLS connection: before the handshake has ended nothing can have been sent; after it, a
// write may have been done, whatever the TLS error says.
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { getCACertificates, type SecureVersion, setDefaultCACertificates } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Ambiguous } from '../../../src/core/errors.ts';
import { createPointOfInterest } from '../../../src/fleet/endpoints/create-point-of-interest.ts';
import { pointsOfInterest } from '../../../src/fleet/endpoints/points-of-interest.ts';
import { faultFailure } from '../../../src/fleet/transport/failures.ts';
import { createTransport } from '../../../src/fleet/transport/transport.ts';
import type { TransportFault } from '../../../src/fleet/transport/transport-fault.ts';
import { failureOf, openFleet, QUICK_RETRY } from '../../support/fleet/fleet-setup.ts';
import { type Certificate, selfSigned } from '../../support/fleet/self-signed.ts';

const POINT = { title: 'Depot', latitude: -23.5, longitude: -46.6, point_of_interest_category_id: 7 };
/** The head of a TLS record that announces data, followed by data that was never encrypted. */
const GARBAGE = Buffer.concat([Buffer.from([0x17, 3, 3, 0, 64]), Buffer.alloc(64, 0x5a)]);

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
}

/** A TCP server that drops its connections when the test ends. */
async function serveRaw(onConnection: (socket: Socket) => void): Promise<string> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return `https://127.0.0.1:${port}`;
}

function trust({ cert }: Certificate): void {
  const before = getCACertificates('default');
  setDefaultCACertificates([cert]);
  onTestFinished(() => setDefaultCACertificates(before));
}

/** The service over TLS; any call except the login is accepted and then left to `onAccepted`. */
async function serveTls(options: ServerOptions, onAccepted: () => void) {
  const accepted: string[] = [];
  const server = createHttpsServer(options, (request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      if (request.url === '/auth/login/') return response.end('{"access_token":"t"}');
      accepted.push(`${request.method} ${body}`);
      return onAccepted();
    });
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { accepted, port };
}

/** A proxy in front of the service: it forwards bytes until it writes some of its own to every client. */
async function serveBehindProxy(maxVersion: SecureVersion) {
  const certificate = selfSigned();
  trust(certificate);
  const clients = new Set<Socket>();
  const service = await serveTls({ ...certificate, maxVersion }, () => {
    for (const client of clients) client.write(GARBAGE);
  });
  const url = await serveRaw((client) => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    const inner = connect(service.port, '127.0.0.1');
    inner.on('error', () => client.destroy());
    client.pipe(inner).pipe(client);
  });
  return { accepted: service.accepted, url };
}

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('a connection of %s', (version) => {
  it('that breaks after a write was accepted leaves the outcome unclear', async () => {
    const { url, accepted } = await serveBehindProxy(version);
    const failure = await failureOf(openFleet(url, undefined).fleet.call(createPointOfInterest, { data: POINT }));
    expect(accepted).toEqual([expect.stringMatching(/^POST .*Depot/)]);
    expect(failure).toBeInstanceOf(Ambiguous);
    expect(failure.message).toMatch(/\((EPROTO|ERR_SSL_\w+)\)$/);
  });

  it('that breaks after a read was sent has the read retried', async () => {
    const { url, accepted } = await serveBehindProxy(version);
    const failure = await failureOf(openFleet(url, undefined).fleet.call(pointsOfInterest, {}));
    expect(failure).toMatchObject({ code: 'connection_lost' });
    expect(accepted).toHaveLength(QUICK_RETRY.attempts);
  });
});

describe('a handshake', () => {
  const write = { method: 'POST', path: '/point_of_interest/', query: '', body: '{}' } as const;

  /** The result of a write that is sent without a login before it. */
  async function failureOfWrite(url: string, timeoutMs = 10_000) {
    const transport = createTransport({ baseUrl: url, timeoutMs, maxBodyBytes: 1_024 });
    onTestFinished(() => transport.close());
    const fault = await failureOf(transport.send(write, { freshConnection: true }));
    return faultFailure({ ...write, kind: 'write' }, fault as unknown as TransportFault);
  }

  it('that is answered by something other than TLS sends nothing', async () => {
    const url = await serveRaw((socket) => socket.write('220 this is another service\r\n'));
    const failure = await failureOfWrite(url);
    expect(failure).toMatchObject({ name: 'Fatal', code: 'tls' });
    expect(failure.message).toMatch(/\((EPROTO|ERR_SSL_\w+)\)$/);
  });

  it('that the peer cuts sends nothing', async () => {
    const url = await serveRaw((socket) => socket.once('data', () => socket.destroy()));
    expect(await failureOfWrite(url)).toMatchObject({ name: 'Retriable', code: 'service_unreachable' });
  });

  it('that is never answered sends nothing', async () => {
    const url = await serveRaw(() => undefined);
    expect(await failureOfWrite(url, 300)).toMatchObject({ name: 'Retriable', code: 'service_unreachable' });
  });

  it('that cannot start sends nothing', async () => {
    const failure = await failureOfWrite('https://255.255.255.255');
    expect(failure).toMatchObject({ name: 'Retriable', code: 'service_unreachable' });
  });

  it('that presents an untrusted certificate sends nothing', async () => {
    const { port, accepted } = await serveTls(selfSigned(), () => undefined);
    const failure = await failureOfWrite(`https://127.0.0.1:${port}`);
    expect(failure).toMatchObject({ name: 'Fatal', code: 'tls' });
    expect(failure.message).toContain('(DEPTH_ZERO_SELF_SIGNED_CERT)');
    expect(accepted).toEqual([]);
  });
});
