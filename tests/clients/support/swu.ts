import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { installSwupdate } from "@harrier/testkit";

/** Signs images with a key of its own. */
export interface Signer {
  /** The path of the certificate that a device needs to trust the signer. */
  readonly certificate: string;
  sign(text: string): Buffer;
}

// SWUpdate demands these extensions of a signer's certificate; the machine's own settings are not used.
const request = `[req]
distinguished_name = name
x509_extensions = purpose
prompt = no
[name]
CN = the maker of the image
[purpose]
keyUsage = critical, digitalSignature
extendedKeyUsage = emailProtection
subjectKeyIdentifier = hash
`;

export async function createSigner(dir: string): Promise<Signer> {
  const { env } = await installSwupdate();
  const config = join(dir, "openssl.cnf");
  const key = join(dir, "key.pem");
  const certificate = join(dir, "certificate.pem");
  writeFileSync(config, request);
  const openssl = (...args: string[]) =>
    execFileSync("openssl", args, { env: { ...process.env, ...env, OPENSSL_CONF: config }, stdio: ["ignore", "pipe", "pipe"] });
  openssl("req", "-x509", "-config", config, "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate);
  return {
    certificate,
    sign(text) {
      const [plain, signed] = [join(dir, "signed-text"), join(dir, "signature")];
      writeFileSync(plain, text);
      const how = ["-outform", "DER", "-nosmimecap", "-binary"];
      openssl("cms", "-sign", "-in", plain, "-out", signed, "-signer", certificate, "-inkey", key, ...how);
      return readFileSync(signed);
    },
  };
}

export interface ImageOptions {
  /** The device writes the content to this path. */
  path: string;
  content: Buffer;
  /** The revision of the board that the image is for. */
  revision: string;
  /** A shell script that the device runs before (`preinst`) and after (`postinst`) the installation. */
  script?: string;
  /** `content` is the beginning of a zchunk file: the device builds it from what it has (`source`, a path) and from parts of the file at `url`. */
  delta?: { source: string; url: string };
}

/** Builds an update image as SWUpdate reads it: a cpio archive of a signed description and the files it names. */
export function swuImage(signer: Signer, { path, content, revision, script, delta }: ImageOptions): Buffer {
  const how = delta && `properties : { source = "${delta.source}"; url = "${delta.url}"; chain = "rawfile"; zckloglevel = "error"; };`;
  const type = delta === undefined ? "rawfile" : "delta";
  const file = `{ filename = "rootfs.img"; type = "${type}"; path = "${path}"; sha256 = "${sha256(content)}"; ${how ?? ""} }`;
  const scripts = script && `scripts : ( { filename = "script.sh"; type = "shellscript"; sha256 = "${sha256(script)}"; } );`;
  const description = `software = {
  version = "1.0";
  hardware-compatibility : [ "${revision}" ];
  files : ( ${file} );
  ${scripts ?? ""}
};
`;
  return cpio([
    ["sw-description", Buffer.from(description)],
    ["sw-description.sig", signer.sign(description)],
    ["rootfs.img", content],
    ...(script === undefined ? [] : [["script.sh", Buffer.from(script)] as const]),
  ]);
}

const sha256 = (data: Buffer | string): string => createHash("sha256").update(data).digest("hex");

/** Builds the "new ASCII format with checksum" of cpio, which is the one that SWUpdate accepts. */
function cpio(files: readonly (readonly [name: string, data: Buffer])[]): Buffer {
  const entries = [...files, ["TRAILER!!!", Buffer.alloc(0)] as const].flatMap(([name, data], inode) => {
    const checksum = data.reduce((sum, byte) => (sum + byte) >>> 0, 0);
    // These are inode, mode, uid, gid, links, time, size, four numbers of devices, length of the name, checksum.
    const numbers = [inode + 1, 0o100644, 0, 0, 1, 0, data.length, 0, 0, 0, 0, name.length + 1, checksum];
    const head = `070702${numbers.map((number) => number.toString(16).toUpperCase().padStart(8, "0")).join("")}${name}\0`;
    return [padded(Buffer.from(head)), padded(data)];
  });
  return Buffer.concat(entries);
}

const padded = (data: Buffer): Buffer => Buffer.concat([data, Buffer.alloc(-data.length & 3)]);
