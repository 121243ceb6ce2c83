import type { Server } from "node:https";
import type { Log } from "@harrier/service";
import type { ClientCertificates } from "./client-certificates.ts";
import { secureContextOf, type TlsFiles } from "./listen.ts";

interface Options {
  readonly server: Pick<Server, "setSecureContext">;
  readonly certificates: Pick<ClientCertificates, "replaceAuthorities">;
  readonly files: TlsFiles;
  /** Reads the files again; throws if they cannot be read. */
  readonly read: () => TlsFiles;
  readonly log: Pick<Log, "info" | "warn">;
}

/** Makes the job that loads changed certificates without a restart. Files that cannot be used change nothing. */
export function followFiles(options: Options): () => void {
  let current = options.files;
  return () => {
    current = takeChanges(options, current);
  };
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
