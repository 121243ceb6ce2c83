import { Worker } from "node:worker_threads";

/** This is the maximum cost of one attempt: about a second of one processor. */
const maxLog = 13;

/** The last character of a salt holds two bits only, so that other characters come from no bcrypt. `2x` was written by a faulty implementation. */
const form = /^\$2[aby]\$(\d{2})\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{31}$/;

export interface BcryptTry {
  password: string;
  hash: string;
}

/** Says whether a hash is one of bcrypt that does not cost too much. */
export function isBcrypt(hash: string): boolean {
  const log = bcryptCost(hash);
  return log >= 4 && log <= maxLog;
}

/** Returns the cost as a power of two; 0 stands for a text that is no hash of bcrypt. */
export function bcryptCost(hash: string): number {
  return Number(form.exec(hash)?.[1] ?? 0);
}

/**
 * Says whether a password fits a hash of bcrypt. It runs in a thread of its own: node has no bcrypt, so it is JavaScript and would block
 * all other requests. Like every bcrypt it uses 72 bytes of a password.
 */
export function verifyBcrypt(password: string, hash: string): Promise<boolean> {
  const file = new URL(`./bcrypt-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
  return new Promise((resolve, reject) => {
    const worker = new Worker(file, { workerData: { password, hash } satisfies BcryptTry });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}
