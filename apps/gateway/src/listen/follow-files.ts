import type { Server } from "node:https";
import type { Log } from "@harrier/service";
import type { ClientCertificates } from "./client-certificates.ts";
import { secureContextOf, type TlsFiles } from "./listen.ts";

interface Options {
  readonly server: Pick<Server, "setSecureContext">;
  readonly certificates: Pick<ClientCertificates, "replaceAuthorities">;
  readonly files: TlsFiles;
  /** Reads them anew; throws where they cannot be read. */
  readonly read: () => TlsFiles;
  readonly log: Pick<Log, "info" | "warn">;
}

/** Small files, read while certificates are renewed by somebody else: what is renewed counts within this time. */
const everyMs = 5_000;

/** Takes changed certificates without a restart. What cannot be used leaves everything as it was. */
export function followFiles(options: Options): () => void {
  let current = options.files;
  const timer = setInterval(() => {
    current = takeChanges(options, current);
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

export function takeChanges({ server, certificates, read, log }: Omit<Options, "files">, current: TlsFiles): TlsFiles {
  try {
    const next = read();
    if (next.cert === current.cert && next.key === current.key && next.clientCa === current.clientCa) return current;
    server.setSecureContext(secureContextOf(next));
    if (next.clientCa !== current.clientCa) certificates.replaceAuthorities(next.clientCa ?? "");
    log.info("the certificates of the HTTPS port have changed");
    return next;
  } catch (err) {
    log.warn({ err }, "changed certificates of the HTTPS port cannot be used; the former ones stay");
    return current;
  }
}
