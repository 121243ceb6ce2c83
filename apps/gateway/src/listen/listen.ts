import { constants } from "node:crypto";
import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { createServer as createSecureServer, type Server as SecureServer } from "node:https";
import { answerBrokenRequests } from "./broken-requests.ts";
import type { ClientCertificates } from "./client-certificates.ts";
import { holdExpectedBodies } from "./expected-bodies.ts";

/** The PEM texts of the gateway's own TLS port. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** The authorities of devices' certificates; without them no certificate is requested. */
  readonly clientCa: string | undefined;
}

const handshakeMs = 10_000;
const httpOptions: ServerOptions = { connectionsCheckingInterval: 5_000 };
/** It is valid for a year; browsers respect it if they trust the certificate. */
const onlyTls = "max-age=31536000";

/** Serves plain HTTP, as behind a proxy. */
export function createPlainServer(app: RequestListener): Server {
  return prepared(createServer(httpOptions, app), app);
}

/**
 * Serves TLS that ends here. A client may show a certificate or none: a wrong one counts as none, and its other credentials are tried (contract
 * device.md §9, "a failing one does not end the chain").
 */
export function createTlsServer(app: RequestListener, files: TlsFiles, certificates: ClientCertificates): SecureServer {
  const secured: RequestListener = (req, res) => {
    res.setHeader("strict-transport-security", onlyTls);
    app(req, res);
  };
  const server = createSecureServer(
    {
      ...httpOptions,
      ...secureContextOf(files),
      requestCert: files.clientCa !== undefined,
      rejectUnauthorized: false,
      handshakeTimeout: handshakeMs,
    },
    secured,
  );
  server.on("secureConnection", (socket) => certificates.connected(socket));
  return prepared(server, secured);
}

/**
 * Makes the context without session resumption: a resumed session does not say who issued its certificate, and outlives a change of the authorities.
 */
export function secureContextOf({ cert, key, clientCa }: TlsFiles) {
  return {
    cert,
    key,
    ...(clientCa === undefined ? {} : { ca: clientCa }),
    secureOptions: constants.SSL_OP_NO_TICKET,
    minVersion: "TLSv1.2",
  } as const;
}

function prepared<S extends Server>(server: S, app: RequestListener): S {
  server.keepAliveTimeout = 75_000; // devices that poll every minute keep their connection
  server.headersTimeout = 30_000; // it also applies to a connection without any bytes
  server.requestTimeout = 0; // uploads over slow lines may take any time while bytes arrive
  server.timeout = 120_000; // the time without a byte in either direction: longer than any answer may take, transfers included
  holdExpectedBodies(server, app);
  answerBrokenRequests(server);
  return server;
}

export async function listen(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
}

/** Accepts nothing new, lets running requests complete, and cuts those that have not after `endMs`; a device retries. */
export async function closeServer(server: Server, endMs = 3_000): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Keep-alive connections count as open, so each is closed as soon as it is idle.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), endMs);
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}
