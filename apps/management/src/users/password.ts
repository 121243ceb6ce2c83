import { argon2, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { bcryptCost, isBcrypt, verifyBcrypt } from "./bcrypt.ts";

/**
 * The cost is 2^14 blocks of 8, five times: 16 MB and about a quarter of a second per attempt. Old hashes keep their own cost, which is
 * part of their text.
 */
const cost = { ln: 14, r: 8, p: 5 };
const keyBytes = 32;
const saltBytes = 16;

/** The maximum cost of one attempt: an imported hash must not be able to stop the service. */
const max = { scryptBytes: 128 * 1024 * 1024, scryptLanes: 8, argonKib: 64 * 1024, argonPasses: 10, argonLanes: 8 };
const lengths = { saltMin: 8, saltMax: 64, keyMin: 16, keyMax: 64 };

interface Scrypt {
  algorithm: "scrypt";
  ln: number;
  r: number;
  p: number;
}

interface Argon {
  algorithm: "argon2id";
  memory: number;
  passes: number;
  parallelism: number;
}

type Parsed = (Scrypt | Argon) & { salt: Buffer; key: Buffer };

/**
 * These are the minimum costs of OWASP's password storage sheet: work of scrypt for each of its pairs of cost and lanes, of argon2id, and
 * the cost of bcrypt.
 */
const least = { scryptWork: 2 ** 13 * 8 * 10, scryptLn: 13, argonWork: 7_168 * 5, bcryptCost: 10 };

/** This matches a PHC string of scrypt: `$scrypt$ln=14,r=8,p=5$salt$key`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const key = await derive(password, { algorithm: "scrypt", ...cost, salt, key: Buffer.alloc(keyBytes) });
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${unpadded(salt)}$${unpadded(key)}`;
}

/**
 * Says whether a password fits a hash. It takes the same time for a missing or unreadable hash as for a wrong password, so that a client
 * cannot find out which names exist.
 */
export async function verifyPassword(password: string, hash: string | null | undefined): Promise<boolean> {
  if (isBcrypt(hash ?? "")) return verifyBcrypt(password, hash as string);
  const stored = parse(hash ?? "");
  const expected: Parsed = stored ?? { algorithm: "scrypt", ...cost, salt: nobodySalt, key: nobodyKey };
  const key = await derive(password, expected);
  await spendRemainder(password, expected);
  return timingSafeEqual(key, expected.key) && stored !== undefined;
}

/**
 * Spends the time by which an attempt with an older hash is cheaper than one with a current hash: without it the duration would reveal that
 * the user exists.
 */
async function spendRemainder(password: string, tried: Parsed): Promise<void> {
  if (tried.algorithm !== "scrypt") return;
  const lane = 2 ** cost.ln * cost.r;
  const p = cost.p - Math.ceil((2 ** tried.ln * tried.r * tried.p) / lane);
  if (p > 0) await derive(password, { algorithm: "scrypt", ...cost, p, salt: nobodySalt, key: nobodyKey });
}

/** Says whether passwords can be verified with a hash here (contract extensions.md): PHC strings of scrypt and argon2id, and bcrypt's. */
export function isSupportedHash(hash: string): boolean {
  return isBcrypt(hash) || parse(hash) !== undefined;
}

/** Bcrypt uses so many bytes of a password. */
const bcryptBytes = 72;

/** Says whether a password that fits this hash should be hashed anew, because the hash costs less to try than a new one may. */
export function isWeakHash(hash: string, password: string): boolean {
  // Bcrypt has verified only a part of a longer password, so the rest of it may be wrong.
  if (isBcrypt(hash)) return bcryptCost(hash) < least.bcryptCost && Buffer.byteLength(password) <= bcryptBytes;
  const stored = parse(hash);
  if (stored === undefined) return false;
  if (stored.algorithm === "argon2id") return stored.memory * stored.passes < least.argonWork;
  return stored.ln < least.scryptLn || 2 ** stored.ln * stored.r * stored.p < least.scryptWork;
}

const nobodySalt = randomBytes(saltBytes);
const nobodyKey = randomBytes(keyBytes);

const scryptHash = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const argonHash = /^\$argon2id\$v=19\$m=(\d{1,6}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

function parse(hash: string): Parsed | undefined {
  const parsed = parseScrypt(hash) ?? parseArgon(hash);
  if (parsed === undefined) return undefined;
  const { salt, key } = parsed;
  const sized =
    salt.length >= lengths.saltMin && salt.length <= lengths.saltMax && key.length >= lengths.keyMin && key.length <= lengths.keyMax;
  return sized ? parsed : undefined;
}

function parseScrypt(hash: string): Parsed | undefined {
  const parts = scryptHash.exec(hash);
  if (parts === null) return undefined;
  const [ln, r, p] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  if (ln < 1 || r < 1 || p < 1 || p > max.scryptLanes || 128 * 2 ** ln * r > max.scryptBytes) return undefined;
  return { algorithm: "scrypt", ln, r, p, salt: bytes(parts[4]), key: bytes(parts[5]) };
}

function parseArgon(hash: string): Parsed | undefined {
  const parts = argonHash.exec(hash);
  if (parts === null) return undefined;
  const [memory, passes, parallelism] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  if (passes < 1 || passes > max.argonPasses || parallelism < 1 || parallelism > max.argonLanes) return undefined;
  // RFC 9106 §3.1 demands at least eight blocks per lane.
  if (memory < 8 * parallelism || memory > max.argonKib) return undefined;
  return { algorithm: "argon2id", memory, passes, parallelism, salt: bytes(parts[4]), key: bytes(parts[5]) };
}

function derive(password: string, stored: Parsed): Promise<Buffer> {
  return stored.algorithm === "scrypt" ? deriveScrypt(password, stored) : deriveArgon(password, stored);
}

function deriveScrypt(password: string, { ln, r, p, salt, key }: Parsed & Scrypt): Promise<Buffer> {
  const blocks = 2 ** ln;
  return new Promise((resolve, reject) => {
    // Node refuses more than 32 MB unless told otherwise; OpenSSL needs this much, and with few blocks the lanes are most of it.
    const maxmem = 128 * r * (blocks + p + 2) + 2 ** 20;
    scrypt(password, salt, key.length, { N: blocks, r, p, maxmem }, (error, derived) => (error ? reject(error) : resolve(derived)));
  });
}

function deriveArgon(password: string, { memory, passes, parallelism, salt, key }: Parsed & Argon): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    argon2("argon2id", { message: password, nonce: salt, memory, passes, parallelism, tagLength: key.length }, (error, derived) =>
      error ? reject(error) : resolve(derived),
    );
  });
}

const bytes = (text: string | undefined): Buffer => Buffer.from(text ?? "", "base64");
const unpadded = (raw: Buffer): string => raw.toString("base64").replace(/=+$/, "");
