import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A certificate and its key, PEM. */
export interface Pair {
  cert: string;
  key: string;
}

/** Answers the fingerprint with which `authentication.header.authority` names a certificate. */
export const fingerprintOf = (cert: string): string => new X509Certificate(cert).fingerprint256.replaceAll(":", "").toLowerCase();

export interface Authority extends Pair {
  /**
   * Issues a certificate of this authority: for a device by default; `server` is for 127.0.0.1 and localhost, `service` may call as well,
   * `authority` may issue others.
   */
  issue(name: string, kind?: "device" | "server" | "service" | "authority", validity?: { from: Date; to: Date }): Pair;
}

const config = (dir: string) => `
[req]
distinguished_name = dn
prompt = no
[dn]
CN = unnamed
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[device]
basicConstraints = CA:FALSE
extendedKeyUsage = clientAuth
[server]
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = IP:127.0.0.1, DNS:localhost
[service]
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth, clientAuth
subjectAltName = IP:127.0.0.1, DNS:localhost
[ca]
default_ca = one
[one]
database = ${join(dir, "index.txt")}
new_certs_dir = ${dir}
rand_serial = yes
default_md = sha256
unique_subject = no
policy = names
[names]
commonName = supplied
`;

const dayMs = 24 * 60 * 60 * 1_000;

/** Makes certificates like real authorities, by openssl. */
export class Authorities {
  readonly #dir = mkdtempSync(join(tmpdir(), "harrier-ca-"));
  #files = 0;

  constructor() {
    writeFileSync(this.#path("openssl.cnf"), config(this.#dir));
    writeFileSync(this.#path("index.txt"), "");
  }

  /** Makes a root authority. */
  root(name: string): Authority {
    return this.#authority(this.selfSigned(name, "authority"));
  }

  /** Makes an authority below another one. */
  below(parent: Authority, name: string): Authority {
    return this.#authority(parent.issue(name, "authority"));
  }

  selfSigned(name: string, kind: "device" | "authority" | "server" = "device"): Pair {
    const [key, cert] = [this.#file(), this.#file()];
    const made = ["-x509", "-days", "30", "-extensions", kind, "-out", cert];
    this.#openssl("req", ...this.#newKey(name, key), ...made);
    return this.#read(cert, key);
  }

  close(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #authority(pair: Pair): Authority {
    return { ...pair, issue: (name, kind = "device", validity) => this.#issue(pair, name, { kind, ...validity }) };
  }

  #issue(by: Pair, name: string, { kind, from = new Date(Date.now() - dayMs), to = new Date(Date.now() + 30 * dayMs) }: Issue): Pair {
    const [key, request, cert, caCert, caKey] = [this.#file(), this.#file(), this.#file(), this.#file(by.cert), this.#file(by.key)];
    this.#openssl("req", "-new", ...this.#newKey(name, key), "-out", request);
    const by_ = ["-cert", caCert, "-keyfile", caKey, "-extensions", kind];
    const when = ["-startdate", asn1Time(from), "-enddate", asn1Time(to)];
    this.#openssl("ca", "-batch", "-notext", "-config", this.#path("openssl.cnf"), ...by_, ...when, "-in", request, "-out", cert);
    return this.#read(cert, key);
  }

  #newKey(name: string, key: string): string[] {
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    return ["-config", this.#path("openssl.cnf"), "-subj", `/CN=${name}`, ...kind, "-keyout", key];
  }

  #read(cert: string, key: string): Pair {
    return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  }

  #file(text?: string): string {
    const path = this.#path(`${++this.#files}.pem`);
    if (text !== undefined) writeFileSync(path, text);
    return path;
  }

  #path(name: string): string {
    return join(this.#dir, name);
  }

  #openssl(...args: string[]): void {
    execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
  }
}

interface Issue {
  kind: "device" | "server" | "service" | "authority";
  from?: Date;
  to?: Date;
}

/** Formats a time as `20261121120000Z`. */
const asn1Time = (date: Date): string => `${date.toISOString().slice(0, 19).replaceAll(/[-T:]/g, "")}Z`;
