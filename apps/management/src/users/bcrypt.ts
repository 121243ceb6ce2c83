import { Worker } from "node:worker_threads";

/** What one try may cost: about a second of one processor. */
const mostLog = 13;

/** The last character of a salt holds two bits only: what no bcrypt has made is none. `2x` was made by a faulty one. */
const form = /^\$2[aby]\$(\d{2})\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{31}$/;

export interface BcryptTry {
  password: string;
  hash: string;
}

/** Whether a hash is one of bcrypt that costs no more than it may. */
export function isBcrypt(hash: string): boolean {
  const log = bcryptCost(hash);
  return log >= 4 && log <= mostLog;
}

/** Its cost as a power of two; 0 for what is no hash of bcrypt. */
export function bcryptCost(hash: string): number {
  return Number(form.exec(hash)?.[1] ?? 0);
}

/**
 * Whether a password fits a hash of bcrypt. In a thread of its own: node has no bcrypt, so it is JavaScript, and nobody else would be served as long as
 * it takes. Like every bcrypt it looks at 72 bytes of a password.
 */
export function verifyBcrypt(password: string, hash: string): Promise<boolean> {
  const file = new URL(`./bcrypt-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
  return new Promise((resolve, reject) => {
    const worker = new Worker(file, { workerData: { password, hash } satisfies BcryptTry });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}
