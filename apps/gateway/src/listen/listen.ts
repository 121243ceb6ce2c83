import { constants } from "node:crypto";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer, type Server as SecureServer } from "node:https";
import type { ClientCertificates } from "./client-certificates.ts";

/** PEM texts of the gateway's own TLS port. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** Authorities of devices' certificates; without them nobody is asked for one. */
  readonly clientCa: string | undefined;
}

const handshakeMs = 10_000;

/** Plain HTTP, as behind a proxy. */
export function createPlainServer(app: RequestListener): Server {
  return withTimeouts(createServer(app));
}

/**
 * TLS that ends here. A client may show a certificate or none: one that is wrong is no certificate, and its other credentials are tried (contract
 * device.md §9, "a failing one does not end the chain").
 */
export function createTlsServer(app: RequestListener, files: TlsFiles, certificates: ClientCertificates): SecureServer {
  const server = createSecureServer(
    {
      ...secureContextOf(files),
      requestCert: files.clientCa !== undefined,
      rejectUnauthorized: false,
      handshakeTimeout: handshakeMs,
    },
    app,
  );
  server.on("secureConnection", (socket) => certificates.connected(socket));
  return withTimeouts(server);
}

/** Sessions are not resumed: a resumed one does not say by whom its certificate was issued, and outlives what is believed of it. */
export function secureContextOf({ cert, key, clientCa }: TlsFiles) {
  return {
    cert,
    key,
    ...(clientCa === undefined ? {} : { ca: clientCa }),
    secureOptions: constants.SSL_OP_NO_TICKET,
    minVersion: "TLSv1.2",
  } as const;
}

function withTimeouts<S extends Server>(server: S): S {
  server.keepAliveTimeout = 75_000; // devices that poll every minute keep their connection
  server.headersTimeout = 30_000;
  server.requestTimeout = 0; // uploads over slow lines take as long as they move
  return server;
}

export async function listen(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
}

/** Running requests get a moment; then what is still open is cut, a device comes again. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), 3_000);
  await closed;
  clearTimeout(cut);
}
