import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/** 2^14 blocks of 8: 16 MB and about 50 ms per try. Old hashes keep their own numbers, which stand in the text. */
const cost = { ln: 14, r: 8, p: 1 };
const keyBytes = 32;
const saltBytes = 16;

interface Parsed {
  ln: number;
  r: number;
  p: number;
  salt: Buffer;
  key: Buffer;
}

/** A PHC string of scrypt: `$scrypt$ln=14,r=8,p=1$salt$key`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const key = await derive(password, { ...cost, salt, key: Buffer.alloc(keyBytes) });
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${unpadded(salt)}$${unpadded(key)}`;
}

/**
 * Whether a password fits a hash. Takes the same time for a missing or unreadable hash as for a wrong password: who asks cannot
 * find out which names exist.
 */
export async function verifyPassword(password: string, hash: string | null | undefined): Promise<boolean> {
  const stored = parse(hash ?? "");
  const expected = stored ?? { ...cost, salt: nobodySalt, key: nobodyKey };
  const key = await derive(password, expected);
  return timingSafeEqual(key, expected.key) && stored !== undefined;
}

const nobodySalt = randomBytes(saltBytes);
const nobodyKey = randomBytes(keyBytes);

function parse(hash: string): Parsed | undefined {
  const parts = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(hash);
  if (!parts) return undefined;
  const [, ln, r, p, salt = "", key = ""] = parts;
  return { ln: Number(ln), r: Number(r), p: Number(p), salt: Buffer.from(salt, "base64"), key: Buffer.from(key, "base64") };
}

function derive(password: string, { ln, r, p, salt, key }: Parsed): Promise<Buffer> {
  const blocks = 2 ** ln;
  return new Promise((resolve, reject) => {
    // maxmem: node refuses above 32 MB unless told otherwise
    scrypt(password, salt, key.length, { N: blocks, r, p, maxmem: 256 * blocks * r }, (error, derived) =>
      error ? reject(error) : resolve(derived),
    );
  });
}

const unpadded = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "");
